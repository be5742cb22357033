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

// recipe is a section of RECIPES.md: its heading, the imports and the code.
var recipe = regexp.MustCompile(
	"(?s)\n## ([^\n]*)\n\nWhere: [^#]*?\n```diff\n@@ imports @@\n(.*?)@@[^\n]* @@\n(.*?)```\n")

// Every recipe in RECIPES.md is an example that is compiled and run, and the other way round.
func TestRecipesAreExamples(t *testing.T) {
	names := map[string]string{"go-ethereum": "goEthereum", "cosmos-db": "cosmosDB", "A service on Pebble v2": "service"}
	var recipes, examples []string
	for _, section := range recipe.FindAllStringSubmatch(read(t, "RECIPES.md"), -1) {
		program, _, _ := strings.Cut(section[1], ", ")
		imports, code := added(t, section[2]), added(t, section[3])
		adapter := regexp.MustCompile(`\t"github.com/levelbloom/levelbloom/adapters/(\w+)"\n`).FindStringSubmatch(imports)
		require.NotNil(t, adapter, imports)
		file := read(t, adapter[1], "recipes_test.go")
		require.Contains(t, file, imports)
		_, example, _ := strings.Cut(file, "\nfunc ExampleConfigure_"+names[program]+"() {\n")
		example, _, _ = strings.Cut(example, "\n}\n")
		require.Contains(t, example, strings.ReplaceAll(code, "return nil, err\n", "log.Fatal(err)\n"), section[1])
		recipes = append(recipes, adapter[1]+" "+names[program])
	}
	for _, adapter := range []string{"goleveldb", "pebblev1", "pebblev2"} {
		file := read(t, adapter, "recipes_test.go")
		for _, f := range regexp.MustCompile(`\nfunc ExampleConfigure_(\w+)`).FindAllStringSubmatch(file, -1) {
			examples = append(examples, adapter+" "+f[1])
		}
	}
	require.NotEmpty(t, examples)
	require.ElementsMatch(t, examples, recipes)
}

// added returns the lines of a diff that has only lines to add.
func added(t *testing.T, diff string) (lines string) {
	for _, line := range strings.SplitAfter(strings.TrimSuffix(diff, "\n"), "\n") {
		require.Equal(t, "+", line[:1], diff)
		lines += line[1:]
	}
	return lines + "\n"
}

// What RECIPES.md says of versions is what go.mod says.
func TestRecipesNameTheVersions(t *testing.T) {
	recipes := read(t, "RECIPES.md")
	required := regexp.MustCompile(`(?m)^\t?(go |github.com/cockroachdb/pebble/v2 |github.com/syndtr/goleveldb ).*$`)
	lines := required.FindAllString(read(t, "..", "go.mod"), -1)
	require.Len(t, lines, 3)
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "//") // go.mod may say why
		line = "`" + strings.TrimSpace(line) + "`"
		require.True(t, strings.Contains(recipes, line), "RECIPES.md should name %s, as go.mod does", line)
	}
}

// RECIPES.md names the size of the block cache that Pebble v1 makes if the options have none.
func TestRecipesNameTheBlockCache(t *testing.T) {
	require.Contains(t, read(t, "RECIPES.md"), "Pebble's default of 8 MiB")
	require.Contains(t, (&pebble.Options{}).EnsureDefaults().String(), "  cache_size=8388608\n")
}
