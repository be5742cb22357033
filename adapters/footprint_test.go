package adapters_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program is a program that opens a database. The lines that end in "// ours" are left out where
// the engine is alone.
const program = `package main

import (
	"log"

	ENGINE
	OPTIONS

	"github.com/levelbloom/levelbloom/adapters/ADAPTER" // ours
	"github.com/levelbloom/levelbloom/policy" // ours
)

func main() {
	o := &NEW{}
	p, err := policy.NewBloom(10) // ours
	if err != nil { log.Fatal(err) } // ours
	if err := ADAPTER.Configure(o, p); err != nil { log.Fatal(err) } // ours
	db, err := OPEN("db", o)
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
}
`

// engines are what replaces the words in program, by adapter.
var engines = map[string]*strings.Replacer{
	"goleveldb": strings.NewReplacer("ADAPTER", "goleveldb",
		"ENGINE", `"github.com/syndtr/goleveldb/leveldb"`,
		"OPTIONS", `"github.com/syndtr/goleveldb/leveldb/opt"`,
		"NEW", "opt.Options", "OPEN", "leveldb.OpenFile"),
	"pebblev1": strings.NewReplacer("ADAPTER", "pebblev1",
		"ENGINE", `"github.com/cockroachdb/pebble"`, "OPTIONS", "",
		"NEW", "pebble.Options", "OPEN", "pebble.Open"),
	"pebblev2": strings.NewReplacer("ADAPTER", "pebblev2",
		"ENGINE", `"github.com/cockroachdb/pebble/v2"`, "OPTIONS", "",
		"NEW", "pebble.Options", "OPEN", "pebble.Open"),
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

// run runs the go command in a directory.
func run(t *testing.T, dir string, args ...string) []byte {
	c := exec.Command("go", args...)
	c.Dir, c.Stderr = dir, &strings.Builder{}
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := c.Output()
	require.NoError(t, err, "go %s: %s", args, c.Stderr)
	return out
}

// list returns the packages that a go list -json with these arguments lists.
func list(t *testing.T, dir string, args ...string) (all []listed) {
	out := json.NewDecoder(strings.NewReader(string(run(t, dir, append([]string{"list", "-json"},
		args...)...))))
	for out.More() {
		var p listed
		require.NoError(t, out.Decode(&p))
		all = append(all, p)
	}
	return all
}

// build builds the program of an engine, with our adapter or without.
func build(t *testing.T, adapter string, ours bool) (b built) {
	b.dir = t.TempDir()
	source := engines[adapter].Replace(program)
	repository, err := filepath.Abs("..")
	require.NoError(t, err)
	goMod := "module footprint\n\ngo 1.23.0\n"
	required := regexp.MustCompile(
		`(?m)^\t(github.com/(?:cockroachdb/pebble|cockroachdb/pebble/v2|syndtr/goleveldb|` +
			`cockroachdb/swiss)) .*$`)
	for _, r := range required.FindAllString(read(t, "..", "go.mod"), -1) {
		goMod += "require " + strings.TrimSpace(r) + "\n"
	}
	if ours {
		goMod += "require github.com/levelbloom/levelbloom v0.0.0\n" +
			"replace github.com/levelbloom/levelbloom => " + repository + "\n"
	} else {
		source = regexp.MustCompile(`(?m)^.*// ours\n`).ReplaceAllString(source, "")
	}
	for name, text := range map[string]string{
		"main.go": source, "go.mod": goMod, "go.sum": read(t, "..", "go.sum"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
	}
	run(t, b.dir, "mod", "tidy")
	run(t, b.dir, "build", "-o", "program.exe", ".")
	b.goMod = strings.Count(read(t, b.dir, "go.mod"), "\n")
	b.goSum = strings.Count(read(t, b.dir, "go.sum"), "\n")
	b.packages = list(t, b.dir, "-deps", ".")
	info, err := os.Stat(filepath.Join(b.dir, "program.exe"))
	require.NoError(t, err)
	b.binary = info.Size()
	return b
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

// The top README says what a program gains that uses an adapter.
func TestFootprint(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the README has the figures of linux/amd64")
	}
	row := regexp.MustCompile(
		`(?m)^\| (\w+) \| (\d+) of (\d+) \| (\d+) of (\d+) \| (\d+) of (\d+) \| (\d+) KiB of (\d+) \|$`)
	rows := row.FindAllStringSubmatch(read(t, "..", "README.md"), -1)
	require.Len(t, rows, len(engines))
	for _, r := range rows {
		t.Run(r[1], func(t *testing.T) {
			alone, ours := build(t, r[1], false), build(t, r[1], true)
			gained := ours.gained(alone)
			got := fmt.Sprintf("| %s | %d of %d | %d of %d | %d of %d | %d KiB of %d |", r[1],
				ours.goMod-alone.goMod-1, ours.goMod-1, // without the replace directive
				ours.goSum-alone.goSum, ours.goSum,
				len(gained), len(ours.packages),
				(ours.binary-alone.binary)>>10, ours.binary>>10)
			t.Log(got)
			binary := regexp.MustCompile(`\d+ KiB of \d+`) // varies with the release of Go
			require.Equal(t, binary.ReplaceAllString(r[0], ""), binary.ReplaceAllString(got, ""))
			sizes := binary.FindString(got)
			for i, size := range strings.Split(sizes, " KiB of ") {
				want, err := strconv.ParseFloat(r[8+i], 64)
				require.NoError(t, err)
				n, err := strconv.ParseFloat(size, 64)
				require.NoError(t, err)
				require.InEpsilon(t, want, n, 0.1, got)
			}
			for _, p := range gained {
				if !p.Standard {
					require.Empty(t, p.CgoFiles, p.ImportPath)
				}
			}
			require.Less(t, ours.initialized(t), 4<<10)
		})
	}
}

// The packages that programs import start no goroutine and have no init function. The top README
// lists the files that use unsafe or are in assembly.
func TestUnsafeAndGoroutines(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the README has the files of amd64")
	}
	all := special(t)
	pure := special(t, "-tags", "purego")
	readme := strings.Join(strings.Fields(read(t, "..", "README.md")), " ")
	require.Contains(t, readme, fmt.Sprintf(
		"Unsafe code and assembly of this module are in %s; with `-tags purego`, in %s.",
		strings.Join(all, ", "), strings.Join(pure, ", ")))
}

// special returns the files that use unsafe or are in assembly, of the packages that programs
// import.
func special(t *testing.T, flags ...string) (files []string) {
	packages := []string{"../policy/...", "./goleveldb", "./pebblev1", "./pebblev2"}
	for _, p := range list(t, ".", append(flags, packages...)...) {
		for _, name := range p.SFiles {
			files = append(files, "`"+name+"`")
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
					files = append(files, "`"+name+"`")
				}
			}
		}
	}
	slices.Sort(files)
	return files
}
