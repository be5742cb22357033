package adapters_test

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/levelbloom/levelbloom"

// The top README's lines and programs work as they stand, in an empty directory.
func TestPaste(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	env := serve(t)
	for _, adapter := range []string{"goleveldb", "pebblev1", "pebblev2"} {
		t.Run(adapter, func(t *testing.T) { paste(t, env, adapter) })
	}
}

// paste does in an empty directory what the top README says for an adapter.
func paste(t *testing.T, env []string, adapter string) {
	use := between(read(t, "..", "README.md"), "\n## Use it\n", "\n## ")
	programs := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(use, -1)
	require.Len(t, programs, 2)
	program := programs[0][1] // goleveldb's
	if adapter != "goleveldb" {
		program = programs[1][1]
		require.Contains(t, use, "Run\n`go get` with `adapters/pebblev2`")
	}
	if adapter == "pebblev1" {
		require.Contains(t, strings.Join(strings.Fields(use), " "),
			"write `pebblev1` and `pebble` instead of `pebblev2` and `pebble/v2`")
		program = strings.NewReplacer("pebblev2", "pebblev1", "pebble/v2", "pebble").Replace(program)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))

	commands := regexp.MustCompile("(?m)^    (.*)$").FindAllStringSubmatch(use, -1)
	require.Len(t, commands, 4)
	for _, c := range commands {
		words := strings.Fields(strings.ReplaceAll(c[1], "adapters/goleveldb", "adapters/"+adapter))
		require.Equal(t, "go", words[0])
		run(t, dir, env, words[1:]...)
	}
}

// serve offers this module, with its changes since the last commit, to the go command as if a
// version of it were released. It returns the environment in which the go command finds it. The
// other modules come from the user's module cache, as far as they are there, and all of them go to
// a cache that the test removes. Without -modcacherw it could not, and without -trimpath each run
// would compile all packages anew, because their directories are new.
func serve(t *testing.T) (env []string) {
	const version = "v0.0.1"
	proxy := t.TempDir()
	versions := filepath.Join(proxy, module, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o700))
	for name, text := range map[string]string{
		"list": version, version + ".info": fmt.Sprintf(`{"Version": %q}`, version),
		version + ".mod": read(t, "..", "go.mod"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600))
	}
	archive(t, filepath.Join(versions, version+".zip"), module+"@"+version)
	downloads := filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")
	return append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOMODCACHE="+t.TempDir(),
		"GOFLAGS=-modcacherw -trimpath",
		"GOPROXY=file://"+proxy+",file://"+downloads+","+goEnv(t, "GOPROXY"))
}

// archive writes this module's files to a zip file, in a folder.
func archive(t *testing.T, path, folder string) {
	file, err := os.Create(path)
	require.NoError(t, err)
	w := zip.NewWriter(file)
	root := os.DirFS("..")
	require.NoError(t, fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."): // .git among them
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		entry, err := w.Create(folder + "/" + path)
		if err != nil {
			return err
		}
		_, err = entry.Write(text)
		return err
	}))
	require.NoError(t, w.Close())
	require.NoError(t, file.Close())
}

// goEnv returns a setting of the go command.
func goEnv(t *testing.T, name string) string {
	return strings.TrimSpace(string(run(t, ".", nil, "env", name)))
}

// run runs the go command in a directory.
func run(t *testing.T, dir string, env []string, args ...string) []byte {
	c := exec.Command("go", args...)
	c.Dir, c.Env, c.Stderr = dir, env, &strings.Builder{}
	out, err := c.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), c.Stderr)
	return out
}
