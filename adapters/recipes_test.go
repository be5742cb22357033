package adapters_test

import (
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

// README.md refers to the top README, which quotes example_open_test.go: one adapter's function,
// and the calls that differ in the other's. Examples run this code.
func TestExamplesAreCompiled(t *testing.T) {
	require.Contains(t, read(t, "README.md"), "](../README.md#use-it)")
	readme := read(t, "..", "README.md")
	require.Contains(t, readme, "\n## Use it\n")
	_, open, _ := strings.Cut(read(t, "goleveldb", "example_open_test.go"), "\n)\n\n")
	require.Contains(t, open, "func openDB(")
	require.Contains(t, readme, "```go\n"+open+"```\n")
	open = read(t, "pebblev2", "example_open_test.go")
	for _, call := range []string{"o := &pebble.Options{Cache: pebble.NewCache(64 << 20)}",
		"err := pebblev2.Configure(o, p, pebblev2.WithL6(p))", "pebblev2.Has(db, key)"} {
		require.Contains(t, open, call)
		require.Contains(t, readme, call)
	}
	for _, adapter := range []string{"goleveldb", "pebblev2"} {
		require.Contains(t, read(t, adapter, "example_test.go"), "openDB(dir)")
	}
	get := regexp.MustCompile(`go get github.com/levelbloom/levelbloom/adapters/(\w+)\n`)
	require.DirExists(t, get.FindStringSubmatch(readme)[1])
}

// testdata/recipes/run.sh compiles every recipe in README.md into its program: it adds the lines to
// the program's source, or the program beside it has them. Examples of the adapters run the lines.
func TestRecipesAreCompiled(t *testing.T) {
	programs := map[string]string{
		"cometbft-db": "cometbft-db", "go-ds-leveldb": "go-ds", "go-ds-pebble": "go-ds"}
	readme, script := read(t, "README.md"), read(t, "..", "testdata", "recipes", "run.sh")
	blocks := regexp.MustCompile("(?s)```go\n(\tbloomPolicy.*?)```\n").
		FindAllStringSubmatch(readme, -1)
	require.Len(t, blocks, 2)
	lines := func(adapter, options string) string {
		code := blocks[0][1]
		if adapter == "goleveldb" {
			_, rest, _ := strings.Cut(code, "\n")
			code = blocks[1][1] + rest
		}
		return strings.ReplaceAll(code, "pebblev2.Configure(opt,", adapter+".Configure("+options+",")
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
		"goleveldb": "options", "pebblev1": "opt", "pebblev2": "opt",
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
	raised := regexp.MustCompile(`(?m)^  (\S+) \S+ to (\S+)$`).FindAllStringSubmatch(readme, -1)
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
