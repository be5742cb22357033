// Command proxy writes the modules of this tree, as they are on disk, to a directory that the go
// command takes as a module proxy: as if the version that go.work names were released. So a module
// can be built and imported as its users get it, before anything is published.
//
//	go run ./.ci/versions/proxy DIRECTORY
//
// Use it with GOSUMDB=off and a GOMODCACHE that is thrown away: tomorrow the same version has other
// bytes.
package main

import (
	"archive/zip"
	"errors"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./.ci/versions/proxy DIRECTORY")
	}
	workspace, err := os.ReadFile("go.work")
	if err != nil {
		log.Fatal("run it at the top of the repository: ", err)
	}
	version := regexp.MustCompile(`levelbloom (v\S+) => [.]\n`).FindSubmatch(workspace)
	if version == nil {
		log.Fatal("go.work replaces no version of the root module")
	}
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	list.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=") // all modules, whoever asks
	list.Stderr = os.Stderr
	modules, err := list.Output()
	if err != nil {
		log.Fatal("go list -m: ", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(modules)), "\n") {
		module, dir, _ := strings.Cut(line, " ")
		if err := publish(module, dir, string(version[1]), os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
}

// publish writes the files that the go command asks a proxy for, of the module in a directory.
func publish(module, dir, version, proxy string) error {
	versions := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	requirements, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": `{"Version": "` + version + `"}`,
		version + ".mod":  string(requirements),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(archive(file, dir, module+"@"+version), file.Close())
}

// archive writes a module's files to a zip file, in a folder. Directories with a go.mod of their
// own are other modules.
func archive(file *os.File, dir, folder string) error {
	w := zip.NewWriter(file)
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." {
			_, err := fs.Stat(files, path+"/go.mod")
			if err == nil || strings.HasPrefix(d.Name(), ".") { // .git among them
				return fs.SkipDir
			}
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		entry, err := w.Create(folder + "/" + path)
		if err != nil {
			return err
		}
		_, err = entry.Write(text)
		return err
	})
	return errors.Join(err, w.Close())
}
