package adapters_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path ...string) string {
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}

// examples/recipes/run.sh compiles every recipe in README.md into its program: it adds the lines to
// the program's source, or the program beside it has them. Examples of the adapters run the lines.
func TestRecipesAreCompiled(t *testing.T) {
	programs := map[string]string{"go-ds-leveldb": "go-ds", "go-ds-pebble": "go-ds"}
	readme, script := read(t, "README.md"), read(t, "examples", "recipes", "run.sh")
	recipe := regexp.MustCompile("(?s)```go\n(\tfilterPolicy.*?)```\n").FindStringSubmatch(readme)
	require.NotNil(t, recipe)
	lines := func(adapter, options string) string {
		call := "if err := " + adapter + ".Configure(" + options
		if adapter == "goleveldb" {
			require.Contains(t, readme, "put `opt.DisableSeeksCompaction = true` before `if err :=")
			call = options + ".DisableSeeksCompaction = true\n\t" + call
		}
		return strings.ReplaceAll(recipe[1], "if err := pebblev2.Configure(opt", call)
	}
	row := regexp.MustCompile("(?m)^\\| (\\S+) .*\\| `(\\w+)` \\| `(\\w+)` \\|$")
	recipes := row.FindAllStringSubmatch(readme, -1)
	require.Greater(t, len(recipes), 5)
	for _, r := range recipes {
		if program := programs[r[1]]; program != "" {
			require.Contains(t, read(t, "examples", "recipes", program, "main.go"),
				lines(r[2], r[3]), r[0])
		} else {
			require.Contains(t, between(script, "\n"+r[1]+"() {\n", "\n}\n"),
				"\n  patch "+r[2]+"\n")
		}
	}
	for adapter, options := range map[string]string{
		"goleveldb": "o", "pebblev1": "opt", "pebblev2": "opt",
	} {
		example := between(read(t, adapter, "example_test.go"),
			"\nfunc ExampleConfigure() {\n", "\n}\n")
		require.Contains(t, strings.ReplaceAll(example, "log.Fatal(err)\n", "return nil, err\n"),
			lines(adapter, options))
	}
}

// between returns what is in text after start and before the next end.
func between(text, start, end string) string {
	_, text, _ = strings.Cut(text, start)
	text, _, _ = strings.Cut(text, end)
	return text
}

// Documents and comments name tests and fuzz targets that exist.
func TestNamedTestsExist(t *testing.T) {
	// Three dots stand for the rest of a name. Names with an underscore are the engines' own.
	name := regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z][A-Za-z]*(?:\.{3}|\b)`)
	var tests string
	named := map[string]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".go", ".md":
			text := read(t, path)
			tests += text
			for _, n := range name.FindAllString(text, -1) {
				named[n] = path
			}
		}
		return err
	}))
	require.Greater(t, len(named), 100)
	for name, path := range named {
		start, isPart := strings.CutSuffix(name, "...")
		if !isPart {
			start += "("
		}
		require.Contains(t, tests, "\nfunc "+start, "%s names %s", path, name)
	}
}
