package policy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// FromString reverses String, and String says what FromString read.
func TestStrings(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"bloom:10", ""}, {"bloom:9.5", ""}, {"bloom:1", ""}, {"bloom:1000", ""},
		{"bloom:10,tuned", ""},
		{"ribbon:7", ""}, {"ribbon:9.87", ""},
		{"ribbon:10,name=mine", ""}, {"bloom:10,name=a;b=c:d", ""},
		{"bloom:9.5,tuned,name=leveldb.BuiltinBloomFilter", ""},
		{"bloom:10,tuned,tuned", "bloom:10,tuned"},
		{"bloom:10,name=" + NameLevelDB, "bloom:10"},
	} {
		p, err := FromString(c.text)
		require.NoError(t, err, c.text)
		if c.want == "" {
			c.want = c.text
		}
		require.Equal(t, c.want, fmt.Sprint(p))
		again, err := FromString(c.want)
		require.NoError(t, err)
		require.Equal(t, p, again)
	}
	// The same settings as from the constructors.
	for text, want := range map[string]*Policy{
		"bloom:9.5,tuned,name=a=b": testkit.Must(
			NewBloom(9.5, WithTuning(), WithName("a=b"))),
		"ribbon:7": testkit.Must(NewRibbon(7)),
	} {
		p, err := FromString(text)
		require.NoError(t, err)
		require.Equal(t, want, p)
		require.Equal(t, text, fmt.Sprint(want))
	}
	// The names are part of the format: engines look for them.
	require.Equal(t, "leveldb.BuiltinBloomFilter2", testkit.Must(NewBloom(10)).Name())
	require.Equal(t, "leveldb.BuiltinBloomFilter", NameGoLevelDB)
	// Options of the call come after those of the string.
	p, err := FromString("ribbon:7,name=a", WithName("b"))
	require.NoError(t, err)
	require.Equal(t, "ribbon:7,name=b", fmt.Sprint(p))
	require.Equal(t, "b", p.Name())
}

// Wrong strings are refused with what to write.
func TestFromStringRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `"" is not a kind of filter: write one of bloom, ribbon, a colon`,
		"exact:10":               `"exact" is not a kind of filter: write one of bloom, ribbon`,
		"Bloom:10":               `"Bloom" is not a kind of filter: write one of`,
		"tuned:10":               `tuned is an option: write bloom:10,tuned`,
		"tuned:9,name=a":         `tuned is an option: write bloom:9,tuned,name=a`,
		"tuned":                  `tuned is an option: write bloom:10,tuned`,
		"bloom:10,name=x,tuned":  `the name "x,tuned" has a comma`,
		"bloom:10,name=a,name=b": `the name "a,name=b" has a comma`,
		"bloom":                  `"" is not bits per key: write a number after the colon, such as`,
		"bloom:":                 `such as bloom:10`,
		"bloom:tuned":            `"tuned" is not bits per key`,
		"ribbon:ten":             `"ten" is not bits per key`,
		"bloom:10 ":              `"10 " is not bits per key`,
		"bloom:0.01":             "for a rate of false positives, BitsFor returns one",
		"bloom:NaN":              "pass a number from 1 to 1000",
		"ribbon:1":               "pass a number from 2 to 40",
		"ribbon:10,tuned":        "ribbon filters need no tuning: leave it out",
		"bloom:10,":              `"" is not an option: write tuned, and last name=NAME`,
		"bloom:10,fast":          `"fast" is not an option: write tuned, and last name=NAME`,
		"bloom:10,tuned,,tuned":  `"" is not an option`,
		"bloom:10,tuned=1":       `"tuned=1" is not an option`,
		"bloom:10,name=none":     `the name "none" means "no filter"`,
		"bloom:10,name=":         "the name is empty",
	} {
		p, err := FromString(text)
		require.ErrorContains(t, err, want, text)
		require.Nil(t, p, text)
	}
	_, err := FromString("bloom:10", Option{})
	require.EqualError(t, err, "policy: an option is a zero value: leave it out")
}
