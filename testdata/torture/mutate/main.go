// Command mutate breaks a package in one place at a time, runs tests, and prints what came of it.
// A change "survived" if no test noticed it. It changes no file: the go command takes the broken
// one from an overlay.
//
//	go run ./testdata/torture/mutate -n 50 ./policy
//	go run ./testdata/torture/mutate -tests ./adapters/pebblev2 ./policy
//	go run ./testdata/torture/mutate ./sstable -skip TestFlips
//	go run ./testdata/torture/mutate -match table.go:91 ./sstable -short=false
//
// What follows the package goes to go test. Give survivors of the quick tests a second trial.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant replaces source[from:to] of a file.
type mutant struct {
	file     string
	from, to token.Position
	with     string
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 0, "how many mutants, drawn at random; 0 is all")
	seed := flag.Int64("seed", 1, "seed of the draw")
	tests := flag.String("tests", "", "package with the tests; the default is the one that is broken")
	match := flag.String("match", "", "only mutants whose line of output contains this")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("pass a package, as a directory, and flags of go test")
	}
	if *tests == "" {
		*tests = flag.Arg(0)
	}
	all, err := mutants(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	if *n > 0 && *n < len(all) {
		rand.New(rand.NewSource(*seed)).Shuffle(len(all), func(i, j int) {
			all[i], all[j] = all[j], all[i]
		})
		all = all[:*n]
	}
	counts := map[string]int{}
	for _, m := range all {
		if !strings.Contains(m.String(), *match) {
			continue
		}
		result, err := m.try(*tests, flag.Args()[1:])
		if err != nil {
			log.Fatal(err)
		}
		counts[result]++
		fmt.Printf("%s %s\n", result, m)
	}
	fmt.Println(counts)
}

// mutants returns all mutants of the package in a directory.
func mutants(dir string) (all []mutant, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range paths {
		if err != nil || strings.HasSuffix(path, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		var file *ast.File
		if file, err = parser.ParseFile(files, path, nil, 0); err != nil {
			return nil, err
		}
		change := func(from, to token.Pos, with string) {
			all = append(all, mutant{path, files.Position(from), files.Position(to), with})
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.BranchStmt:
				change(n.Pos(), n.End(), "")
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					change(n.Pos(), n.End(), "")
				}
			case *ast.IfStmt:
				change(n.Cond.Pos(), n.Cond.Pos(), "!(")
				all[len(all)-1].with += text(path, n.Cond, files) + ")"
				all[len(all)-1].to = files.Position(n.Cond.End())
			case *ast.BinaryExpr:
				if other := others[n.Op]; other != "" {
					change(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
				}
			}
			return true
		})
	}
	return all, err
}

var others = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.ADD: "-",
	token.SUB: "+", token.MUL: "+", token.LAND: "||", token.LOR: "&&",
}

func text(path string, n ast.Node, files *token.FileSet) string {
	source, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	return string(source[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset])
}

func (m mutant) String() string {
	source, _ := os.ReadFile(m.file)
	return fmt.Sprintf("%s:%d: %q becomes %q", m.file, m.from.Line,
		source[m.from.Offset:m.to.Offset], m.with)
}

// try runs the tests with the mutant.
func (m mutant) try(tests string, flags []string) (result string, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	broken := append(bytes.Clone(source[:m.from.Offset]), m.with...)
	broken = append(broken, source[m.to.Offset:]...)
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{path: filepath.Join(dir, "broken.go")},
	})
	if err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{"broken.go": broken, "overlay.json": overlay} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return "", err
		}
	}
	// A loop that a mutant never ends may append: without a limit it would take all memory.
	args := slices.Concat([]string{"-c", `ulimit -v 8000000; exec go test "$@"`, "go test",
		"-overlay", filepath.Join(dir, "overlay.json"), "-short", "-failfast", "-vet=off",
		"-ldflags=-s -w", "-timeout=5m"}, flags, []string{tests})
	out, err := exec.Command("sh", args...).CombinedOutput()
	switch {
	case err == nil:
		return "survived", nil
	case bytes.Contains(out, []byte("[build failed]")):
		return "did not compile", nil
	}
	return "killed", nil
}
