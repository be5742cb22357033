package adapters_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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

// The programs run by one command in an empty directory.
func TestRunAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	env := serve(t)
	for _, program := range []string{"bench", "sstable/filterdump"} {
		out := run(t, t.TempDir(), env, "run", module+"/"+program+"@latest", "--version")
		require.Regexp(t, `^v\d+\.\d+\.\d+\n$`, string(out), program)
	}
}

// A program that has an engine keeps the versions of all of its requirements when it takes the
// adapter, and builds. Among the programs are those with a Raft library that stays with a Pebble of
// 2022, which lacks what pebblev1 needs.
func TestVersionsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the requirements of large programs")
	}
	env := serve(t)
	for _, c := range [][]string{ // a program, or what it requires, and adapters
		{"github.com/ethereum/go-ethereum", "goleveldb", "pebblev1", "pebblev2"},
		{"github.com/cosmos/cosmos-db", "goleveldb", "pebblev1"},
		{"github.com/ipfs/go-ds-leveldb", "goleveldb"},
		{"github.com/ipfs/go-ds-pebble", "pebblev2"},
		{"github.com/cockroachdb/pebble", "goleveldb", "pebblev2"},
	} {
		program := requirement{c[0], "v0.0.0-20221207173255-0f086d933dac", c[0]}
		row := regexp.MustCompile(`(?m)^\| ` + path.Base(c[0]) + ` (v\S+) `)
		if named := row.FindStringSubmatch(read(t, "README.md")); named != nil {
			program.version = named[1]
		}
		for _, adapter := range c[1:] {
			t.Run(path.Base(c[0])+" "+adapter, func(t *testing.T) {
				requireKept(t, env, program, adapter)
			})
		}
	}
}

// A requirement has a package that a program imports.
type requirement struct{ module, version, imported string }

// engines are what the adapters require.
var engines = map[string]requirement{
	"goleveldb": {"github.com/syndtr/goleveldb", "v1.0.1-0.20210819022825-2ae1ddf74ef7",
		"github.com/syndtr/goleveldb/leveldb"},
	"pebblev1": {"github.com/cockroachdb/pebble", "v1.1.0", "github.com/cockroachdb/pebble"},
	"pebblev2": {"github.com/cockroachdb/pebble/v2", "v2.1.0", "github.com/cockroachdb/pebble/v2"},
}

// mayRise matches swiss, of which Pebble v2.1.0's does not build with Go 1.26, and what tests alone
// use.
var mayRise = regexp.MustCompile(`^(github.com/cockroachdb/swiss|github.com/stretchr/testify|gopkg.in/yaml.v3) `)

// requireKept makes a program that imports another one and an engine, adds the engine's adapter,
// and requires that all versions in its module graph are as before, and that it builds.
func requireKept(t *testing.T, env []string, program requirement, adapter string) {
	engine := engines[adapter]
	require.Contains(t, read(t, adapter, "go.mod"), "\t"+engine.module+" "+engine.version)
	env = append(env, "GOFLAGS=-modcacherw -trimpath -mod=mod")
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("go.mod", fmt.Sprintf("module example\n\ngo 1.23.0\n\nrequire %s %s\nrequire %s %s\n",
		program.module, program.version, engine.module, engine.version))
	versions := func(imported ...string) []string {
		write("main.go", "package main\n\nimport (\n\t_ \""+
			strings.Join(imported, "\"\n\t_ \"")+"\"\n)\n\nfunc main() {}\n")
		run(t, dir, env, "mod", "tidy")
		return strings.Split(string(run(t, dir, env, "list", "-m", "all")), "\n")
	}
	before := versions(program.imported, engine.imported)
	after := versions(program.imported, engine.imported, module+"/adapters/"+adapter)
	require.Contains(t, after, program.module+" "+program.version)
	var raised []string
	for _, version := range before {
		if !slices.Contains(after, version) && !mayRise.MatchString(version) {
			raised = append(raised, version)
		}
	}
	require.Empty(t, raised)
	run(t, dir, env, "build", ".")
}

// serve offers the modules here, with their changes since the last commit, to the go command as if
// a version of them were released. It returns the environment in which the go command finds them.
// The other modules come from the user's module cache, as far as they are there, and all of them go
// to a cache that the test removes. Without -modcacherw it could not, and without -trimpath each
// run would compile all packages anew, because their directories are new.
func serve(t *testing.T) (env []string) {
	proxy := t.TempDir()
	run(t, "..", nil, "run", "./testdata/versions/proxy", proxy)
	downloads := filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")
	return append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOMODCACHE="+t.TempDir(),
		"GOFLAGS=-modcacherw -trimpath",
		"GOPROXY=file://"+proxy+",file://"+downloads+","+goEnv(t, "GOPROXY"))
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
