package adapters_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The packages that programs import start no goroutine, have no init function, and use no cgo.
// README.md lists the files that use unsafe or are in assembly.
func TestUnsafeAndGoroutines(t *testing.T) {
	readme := strings.Join(strings.Fields(read(t, "README.md")), " ")
	require.Contains(t, readme, "They have no assembly, and unsafe code only in "+
		strings.Join(special(t), ", ")+".")
}

// No program gets code that is for tests alone.
func TestNoTestCode(t *testing.T) {
	out := string(run(t, ".", append(os.Environ(), "GOWORK=", "GOFLAGS="), "list", "-deps",
		"../policy/...", "../sstable/filterdump", "../bench", "./goleveldb", "./pebblev1",
		"./pebblev2"))
	require.Contains(t, out, module+"/sstable\n")
	require.NotContains(t, out, module+"/testdata/")
	require.NotContains(t, out, module+"/adapters/internal/")
}

// special returns the files that use unsafe or are in assembly, of the packages that programs
// import.
func special(t *testing.T) (files []string) {
	env := append(os.Environ(), "GOWORK=", "GOFLAGS=") // with all modules
	out := run(t, ".", env, "list", "-json", "../policy/...", "./goleveldb", "./pebblev1",
		"./pebblev2")
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath, Dir           string
			GoFiles, SFiles, CgoFiles []string
		}
		require.NoError(t, d.Decode(&p))
		require.Empty(t, p.CgoFiles)
		path := func(name string) string {
			return "`" + strings.TrimPrefix(p.ImportPath, module+"/") + "/" + name + "`"
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
