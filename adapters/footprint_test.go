package adapters_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plain is a program that opens a database without this module.
const plain = `package main

import (
	"log"

	ENGINE
)

func main() {
	db, err := OPEN
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	LOOKUP
}
`

// An engine has what replaces the words in plain, and the modules of go.mod that such a program
// requires.
type engine struct {
	words   *strings.Replacer
	modules string
}

var engines = map[string]engine{
	"goleveldb": {strings.NewReplacer("ENGINE", `"github.com/syndtr/goleveldb/leveldb"`,
		"OPEN", `leveldb.OpenFile("db", nil)`, "LOOKUP", ""),
		`github.com/syndtr/goleveldb`},
	"pebblev1": {strings.NewReplacer("ENGINE", `"github.com/cockroachdb/pebble"`,
		"OPEN", `pebble.Open("db", nil)`, "LOOKUP", `log.Println(db.Get([]byte("key")))`),
		`github.com/cockroachdb/pebble`},
	// Pebble v2.1.0 asks for a version of swiss that does not build with Go 1.26.
	"pebblev2": {strings.NewReplacer("ENGINE", `"github.com/cockroachdb/pebble/v2"`,
		"OPEN", `pebble.Open("db", nil)`, "LOOKUP", `log.Println(db.Get([]byte("key")))`),
		`github.com/cockroachdb/(?:pebble/v2|swiss)`},
}

// built is a program with its module.
type built struct {
	dir          string
	goMod, goSum int // lines
	packages     []listed
	binary       int64 // bytes
}

// listed is what go list -json says of a package.
type listed struct {
	ImportPath, Dir           string
	Imports                   []string
	GoFiles, SFiles, CgoFiles []string
	Standard                  bool
}

// list returns the packages that a go list -json with these arguments lists.
func list(t *testing.T, dir string, env []string, args ...string) (all []listed) {
	out := run(t, dir, env, append([]string{"list", "-json"}, args...)...)
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		require.NoError(t, d.Decode(&p))
		all = append(all, p)
	}
	return all
}

// alone makes a program of an engine without this module, and returns its directory. The engine has
// the version in go.mod, and what it requires has the versions that the engine asks for.
func alone(t *testing.T, env []string, adapter string) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"),
		[]byte(engines[adapter].words.Replace(plain)), 0o600))
	run(t, dir, env, "mod", "init", "example")
	required := regexp.MustCompile(`(?m)^\t(` + engines[adapter].modules + `) (v\S+)`)
	for _, r := range required.FindAllStringSubmatch(read(t, "..", "go.mod"), -1) {
		run(t, dir, env, "mod", "edit", "-require", r[1]+"@"+r[2])
	}
	run(t, dir, env, "mod", "tidy")
	return dir
}

// build builds a program.
func build(t *testing.T, env []string, dir string) built {
	run(t, dir, env, "build", "-o", "program.exe", ".")
	info, err := os.Stat(filepath.Join(dir, "program.exe"))
	require.NoError(t, err)
	return built{
		dir:      dir,
		goMod:    strings.Count(read(t, dir, "go.mod"), "\n"),
		goSum:    strings.Count(read(t, dir, "go.sum"), "\n"),
		packages: list(t, dir, env, "-deps", "."),
		binary:   info.Size(),
	}
}

// gained returns the packages that only b has.
func (b built) gained(alone built) []listed {
	return slices.DeleteFunc(slices.Clone(b.packages), func(p listed) bool {
		return slices.ContainsFunc(alone.packages, func(q listed) bool {
			return p.ImportPath == q.ImportPath
		})
	})
}

// initialized returns how many bytes the packages that are not the engine's allocate before main.
func (b built) initialized(t *testing.T) (bytes int) {
	c := exec.Command(filepath.Join(b.dir, "program.exe"))
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	line := regexp.MustCompile(`init \S+/(?:levelbloom|zeebo|klauspost/cpuid)/.* (\d+) bytes`)
	lines := line.FindAllStringSubmatch(string(out), -1)
	require.NotEmpty(t, lines, "%s", out)
	for _, l := range lines {
		n, err := strconv.Atoi(l[1])
		require.NoError(t, err)
		bytes += n
	}
	return bytes
}

func number(t *testing.T, digits string) float64 {
	n, err := strconv.ParseFloat(digits, 64)
	require.NoError(t, err)
	return n
}

// README.md says what the programs of the top README have beyond programs of the engines alone.
func requireFootprint(t *testing.T, env []string, adapter, dir string) {
	plain, ours := build(t, env, alone(t, env, adapter)), build(t, env, dir)
	got := fmt.Sprintf("| %s | %d to %d | %d to %d | %d to %d | %d to %d |", adapter,
		plain.goMod, ours.goMod, plain.goSum, ours.goSum,
		len(plain.packages), len(ours.packages), plain.binary>>10, ours.binary>>10)
	t.Log(got)
	row := regexp.MustCompile(`(?m)^(\| ` + adapter + ` \|.*\|) (\d+) to (\d+) \|$`)
	want, have := row.FindStringSubmatch(read(t, "README.md")), row.FindStringSubmatch(got)
	require.NotNil(t, want, "README.md has no row for %s", adapter)
	require.Equal(t, want[1], have[1])
	require.InEpsilon(t, number(t, want[3]), number(t, have[3]), 0.1, got) // varies with Go's release
	grown := number(t, have[3]) - number(t, have[2])
	require.InEpsilon(t, number(t, want[3])-number(t, want[2]), grown, 0.2, got)
	for _, p := range ours.gained(plain) {
		require.True(t, p.Standard || len(p.CgoFiles) == 0, p.ImportPath)
	}
	require.Less(t, ours.initialized(t), 4<<10)
}

// The packages that programs import start no goroutine and have no init function. README.md
// lists the files that use unsafe or are in assembly.
func TestUnsafeAndGoroutines(t *testing.T) {
	readme := strings.Join(strings.Fields(read(t, "README.md")), " ")
	require.Contains(t, readme, "They have no assembly, and unsafe code only in "+
		strings.Join(special(t), ", ")+".")
}

// special returns the files that use unsafe or are in assembly, of the packages that programs
// import.
func special(t *testing.T) (files []string) {
	for _, p := range list(t, ".", nil, "../policy/...", "./goleveldb", "./pebblev1", "./pebblev2") {
		path := func(name string) string {
			return "`" + strings.TrimPrefix(p.ImportPath, "github.com/levelbloom/levelbloom/") + "/" + name + "`"
		}
		for _, name := range p.SFiles {
			files = append(files, path(name))
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				f, isFunc := n.(*ast.FuncDecl)
				require.False(t, isFunc && f.Recv == nil && f.Name.Name == "init", name)
				_, isGo := n.(*ast.GoStmt)
				require.False(t, isGo, name)
				return true
			})
			for _, imported := range file.Imports {
				if imported.Path.Value == `"unsafe"` {
					files = append(files, path(name))
				}
			}
		}
	}
	slices.Sort(files)
	return files
}
