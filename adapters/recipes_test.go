package adapters_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path ...string) string {
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}

// testdata/recipes/run.sh compiles every recipe in README.md into its program: it adds the lines to
// the program's source, or the program beside it has them. Examples of the adapters run the lines.
func TestRecipesAreCompiled(t *testing.T) {
	programs := map[string]string{
		"cometbft-db": "cometbft-db", "go-ds-leveldb": "go-ds", "go-ds-pebble": "go-ds"}
	readme, script := read(t, "README.md"), read(t, "..", "testdata", "recipes", "run.sh")
	recipe := regexp.MustCompile("(?s)```go\n(\tfilterPolicy.*?)```\n").FindStringSubmatch(readme)
	require.NotNil(t, recipe)
	lines := func(adapter, options string) string {
		call := adapter + ".Configure(" + options + ", filterPolicy"
		if adapter == "goleveldb" {
			require.Contains(t, readme, "`goleveldb.WithoutSeekCompactions()`, as the last argument")
			call += ", goleveldb.WithoutSeekCompactions()"
		}
		return strings.ReplaceAll(recipe[1], "pebblev2.Configure(opt, filterPolicy", call)
	}
	row := regexp.MustCompile("(?m)^\\| (\\S+) .*\\| `(\\w+)` \\| `(\\w+)` \\|$")
	recipes := row.FindAllStringSubmatch(readme, -1)
	require.Greater(t, len(recipes), 5)
	for _, r := range recipes {
		if program := programs[r[1]]; program != "" {
			require.Contains(t, read(t, "..", "testdata", "recipes", program, "main.go"),
				lines(r[2], r[3]), r[0])
		} else {
			require.Contains(t, between(script, "\n"+r[1]+"() {\n", "\n}\n"),
				"\n  patch "+r[2]+" recipe\n")
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

// README.md names the versions that go.mod has, also in its list of what rises.
func TestReadmeNamesTheVersions(t *testing.T) {
	readme, goMod := read(t, "README.md"), read(t, "..", "go.mod")
	required := regexp.MustCompile(
		`(?m)^\t?(go |github.com/cockroachdb/pebble |github.com/cockroachdb/pebble/v2 |` +
			`github.com/syndtr/goleveldb ).*$`)
	lines := required.FindAllString(goMod, -1)
	require.Len(t, lines, 4)
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "//") // go.mod may say why
		require.Contains(t, readme, "`"+strings.TrimSpace(line)+"`")
	}
	raised := regexp.MustCompile(`(?m)^  (\S+) \S+ to (v?\d\S*)$`).FindAllStringSubmatch(readme, -1)
	require.NotEmpty(t, raised)
	for _, r := range raised {
		require.Regexp(t, `(?m)\b`+regexp.QuoteMeta(r[1]+" "+r[2])+`( |$)`, goMod)
	}
}

// README.md names the size of the block cache that Pebble v1 makes if the options have none.
func TestReadmeNamesTheBlockCache(t *testing.T) {
	require.Contains(t, read(t, "README.md"), "Pebble's default, 8 MiB")
	require.Contains(t, (&pebble.Options{}).EnsureDefaults().String(), "  cache_size=8388608\n")
}

// TESTING.md names fuzz targets that exist.
func TestNamedFuzzTargetsExist(t *testing.T) {
	var targets string
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "_test.go") {
			targets += read(t, path)
		}
		return err
	}))
	named := regexp.MustCompile(`\bFuzz\w+`).FindAllString(read(t, "TESTING.md"), -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		require.Contains(t, targets, "\nfunc "+name+"(", "TESTING.md names %s", name)
	}
}
