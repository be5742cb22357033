package adapters_test

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The top README's lines and programs work as they stand, in an empty directory.
func TestPaste(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	env := serve(t)
	for adapter := range engines {
		t.Run(adapter, func(t *testing.T) {
			dir := paste(t, env, adapter)
			if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" { // README.md has its figures
				requireFootprint(t, env, adapter, dir)
			}
		})
	}
}

// paste does in an empty directory what the top README says for an adapter, and returns the
// directory.
func paste(t *testing.T, env []string, adapter string) (dir string) {
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
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))

	commands := regexp.MustCompile("(?m)^    (.*)$").FindAllStringSubmatch(use, -1)
	require.Len(t, commands, 4)
	for _, c := range commands {
		words := strings.Fields(strings.ReplaceAll(c[1], "adapters/goleveldb", "adapters/"+adapter))
		require.Equal(t, "go", words[0])
		run(t, dir, env, words[1:]...)
	}
	return dir
}

// serve offers this module, with its changes since the last commit, to the go command as if a
// version of it were released, and returns the environment in which the go command finds it.
func serve(t *testing.T) (env []string) {
	const module = "github.com/levelbloom/levelbloom"
	// The module cache keeps what it has seen of a version, so each run has one of its own.
	version := fmt.Sprintf("v0.0.%d", time.Now().UnixNano())
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

	env = append(os.Environ(), "GOFLAGS=", "GOWORK=off",
		"GOPROXY=file://"+proxy+","+goEnv(t, "GOPROXY"),
		"GONOSUMDB="+module+","+goEnv(t, "GONOSUMDB"))
	// Without this flag the cache's files could not be removed.
	run(t, t.TempDir(), env, "mod", "download", "-modcacherw", module+"@"+version)
	t.Cleanup(func() {
		cache := goEnv(t, "GOMODCACHE")
		files := filepath.Join(cache, "cache", "download", module, "@v", version+".*")
		cached, err := filepath.Glob(files)
		require.NoError(t, err)
		require.NotEmpty(t, cached, files)
		for _, path := range append(cached, filepath.Join(cache, module+"@"+version)) {
			require.NoError(t, os.RemoveAll(path))
		}
	})
	return env
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
