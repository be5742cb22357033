// Command proxy writes the modules of this tree, as they are on disk, to a directory that the go
// command takes as a module proxy: as if the version that go.work names were released. So a module
// can be built and imported as its users get it, before anything is published.
//
//	GOWORK=off go run -C .ci/versions/proxy . DIRECTORY
//
// Use it with GOSUMDB=off and a GOMODCACHE that is thrown away: tomorrow the same version has other
// bytes.
package main

import (
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// top is the top of the repository, from the directory of this program.
const top = "../../.."

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 || !filepath.IsAbs(os.Args[1]) {
		log.Fatal("pass the absolute path of a directory")
	}
	workspace, err := os.ReadFile(filepath.Join(top, "go.work"))
	if err != nil {
		log.Fatal("run it in its own directory: ", err)
	}
	version := regexp.MustCompile(`levelbloom (v\S+) => [.]\n`).FindSubmatch(workspace)
	if version == nil {
		log.Fatal("go.work replaces no version of the root module")
	}
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	list.Dir = top
	list.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=") // all modules, whoever asks
	list.Stderr = os.Stderr
	modules, err := list.Output()
	if err != nil {
		log.Fatal("go list -m: ", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(modules)), "\n") {
		path, dir, _ := strings.Cut(line, " ")
		m := module.Version{Path: path, Version: string(version[1])}
		if err := publish(m, dir, os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
}

// publish writes the files that the go command asks a proxy for, of the module in a directory.
func publish(m module.Version, dir, proxy string) error {
	versions := filepath.Join(proxy, m.Path, "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	requirements, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":              m.Version + "\n",
		m.Version + ".info": `{"Version": "` + m.Version + `"}`,
		m.Version + ".mod":  string(requirements),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(versions, m.Version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(zip.CreateFromDir(file, m, dir), file.Close())
}
