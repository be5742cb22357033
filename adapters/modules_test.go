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

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

const module = "github.com/levelbloom/levelbloom"

// The top README's lines and programs work as they stand, in an empty directory: with a release,
// and beside a clone.
func TestPaste(t *testing.T) {
	testkit.Large(t)
	env := serve(t)
	for _, adapter := range []string{"goleveldb", "pebblev1", "pebblev2"} {
		for _, clone := range []bool{false, true} {
			t.Run(fmt.Sprint(adapter, ", clone ", clone), func(t *testing.T) {
				paste(t, env, adapter, clone)
			})
		}
	}
}

// paste does in an empty directory what the top README says for an adapter.
func paste(t *testing.T, env []string, adapter string, clone bool) {
	use := between(read(t, "..", "README.md"), "\n## Use it\n", "\n## ")
	dir := t.TempDir()
	program := programFor(t, use, adapter)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))

	commands := regexp.MustCompile("(?m)^    (.*)$").FindAllStringSubmatch(use, -1)
	require.Len(t, commands, 3)
	for _, c := range commands {
		command := c[1]
		if clone && strings.HasPrefix(command, "go get ") {
			root, err := filepath.Abs("..")
			require.NoError(t, err)
			command = strings.ReplaceAll(between(use, "\n```sh\n", "\n```\n"), "../levelbloom", root)
		}
		command = strings.ReplaceAll(command, "adapters/goleveldb", "adapters/"+adapter)
		shell := exec.Command("sh", "-ec", command)
		shell.Dir, shell.Env = dir, env
		out, err := shell.CombinedOutput()
		require.NoError(t, err, "%s: %s", command, out)
	}
}

// programFor returns the README's program for an adapter.
func programFor(t *testing.T, use, adapter string) string {
	programs := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(use, -1)
	require.Len(t, programs, 2)
	if adapter == "goleveldb" {
		return programs[0][1]
	}
	program := programs[1][1]
	if adapter == "pebblev1" {
		const format = "o.FormatMajorVersion = pebble.FormatRangeKeys"
		require.Contains(t, strings.Join(strings.Fields(use), " "), "write `pebblev1` and `pebble` "+
			"instead of `pebblev2` and `pebble/v2`, and set `"+format+"`")
		program = strings.NewReplacer("pebblev2", "pebblev1", "pebble/v2", "pebble",
			"\tdefer o.", "\t"+format+"\n\tdefer o.").Replace(program)
	}
	return program
}

// The programs run by one command in an empty directory.
func TestRunAnywhere(t *testing.T) {
	testkit.Large(t)
	env := serve(t)
	for _, program := range []string{"bench", "sstable/filterdump"} {
		out := run(t, t.TempDir(), env, "run", module+"/"+program+"@latest", "--version")
		require.Regexp(t, `^v\d+\.\d+\.\d+\n$`, string(out), program)
	}
}

// A program that has an engine keeps its go line and the versions of all of its requirements when
// it takes the adapter, and builds.
func TestVersionsAreKept(t *testing.T) {
	testkit.Large(t)
	env := serve(t)
	geth := requirement{"github.com/ethereum/go-ethereum", "", "/ethdb/leveldb"}
	gethPebble := requirement{geth.module, "", "/ethdb/pebble"}
	cosmos := requirement{"github.com/cosmos/cosmos-db", "", ""}
	// Dragonboat, a Raft library, stays with a Pebble that lacks what pebblev1 needs.
	old := requirement{"github.com/cockroachdb/pebble", "v0.0.0-20221207173255-0f086d933dac", ""}
	for _, c := range []struct {
		program requirement
		adapter string
	}{
		{geth, "goleveldb"}, {gethPebble, "pebblev1"}, {gethPebble, "pebblev2"},
		{cosmos, "goleveldb"}, {cosmos, "pebblev1"},
		{requirement{"github.com/ipfs/go-ds-leveldb", "", ""}, "goleveldb"},
		{requirement{"github.com/ipfs/go-ds-pebble", "", ""}, "pebblev2"},
		{old, "goleveldb"}, {old, "pebblev2"},
	} {
		name := path.Base(c.program.module)
		if c.program.version == "" {
			row := regexp.MustCompile(`(?m)^\| ` + name + ` (v\S+) `)
			c.program.version = row.FindStringSubmatch(read(t, "README.md"))[1]
		}
		t.Run(name+" "+c.adapter, func(t *testing.T) { requireKept(t, env, c.program, c.adapter) })
	}
}

// A requirement is of a module, of which a program imports the package in a folder.
type requirement struct{ module, version, folder string }

// engines are what the adapters require.
var engines = map[string]requirement{
	"goleveldb": {"github.com/syndtr/goleveldb", "v1.0.1-0.20210819022825-2ae1ddf74ef7",
		"/leveldb"},
	"pebblev1": {"github.com/cockroachdb/pebble", "v1.1.0", ""},
	"pebblev2": {"github.com/cockroachdb/pebble/v2", "v2.1.0", ""},
}

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
		all := strings.Split(string(run(t, dir, env, "list", "-m", "all")), "\n")
		return append(all, regexp.MustCompile(`\ngo .*`).FindString(read(t, dir, "go.mod")))
	}
	before := versions(program.module+program.folder, engine.module+engine.folder)
	after := versions(program.module+program.folder, engine.module+engine.folder,
		module+"/adapters/"+adapter)
	require.Contains(t, after, program.module+" "+program.version)
	mayRise := "^(github.com/stretchr/testify|gopkg.in/yaml.v3) " // which only tests use
	if adapter == "pebblev2" {
		// With the swiss that Pebble v2.1.0 requires, nothing builds with Go 1.26.
		mayRise += "|^github.com/cockroachdb/swiss "
	}
	var raised []string
	for _, version := range before {
		if !slices.Contains(after, version) && !regexp.MustCompile(mayRise).MatchString(version) {
			raised = append(raised, version)
		}
	}
	require.Empty(t, raised)
	run(t, dir, env, "build", ".")
}

// served is a directory with a proxy of the modules here and a module cache, for all tests.
var served string

func TestMain(m *testing.M) {
	status := m.Run()
	if served != "" {
		os.RemoveAll(served)
	}
	os.Exit(status)
}

// serve offers the modules here, with their changes since the last commit, to the go command as if
// a version of them were released. It returns the environment in which the go command finds them.
// The other modules come from the user's module cache, as far as they are there, and all of them go
// to a cache that TestMain removes. Without -modcacherw it could not, and without -trimpath each
// run would compile all packages anew, because their directories are new.
func serve(t *testing.T) (env []string) {
	if served == "" {
		var err error
		served, err = os.MkdirTemp("", "levelbloom-")
		require.NoError(t, err)
		run(t, "../.ci/versions/proxy", append(os.Environ(), "GOWORK=off"), "run", ".",
			filepath.Join(served, "proxy"))
	}
	downloads := filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")
	return append(os.Environ(), "GOWORK=off", "GOSUMDB=off",
		"GOMODCACHE="+filepath.Join(served, "modules"), "GOFLAGS=-modcacherw -trimpath",
		"GOPROXY=file://"+served+"/proxy,file://"+downloads+","+goEnv(t, "GOPROXY"))
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
