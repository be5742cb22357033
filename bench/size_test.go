package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func runSize(args ...string) (string, error) {
	var b bytes.Buffer
	err := run(context.Background(), append([]string{"size"}, args...), &b)
	return b.String(), err
}

func TestSizeRefuses(t *testing.T) {
	for want, args := range map[string]string{
		`--n: "0": pass a`:                 "-n 0",
		`--num: "1.5": pass a`:             "--num 1.5",
		`--num: "7%": pass a`:              "--num 7%",
		"a target FPP of 1: pass a":        "--fpp 1",
		"a target FPP of 2: pass a":        "--fpp 200%",
		`--fpp: "NaN": pass a number`:      "--fpp NaN",
		"--bits and --fpp give each other": "--bits 10 --fpp 1%",
		`"goleveldb" is no kind`:           "--filters goleveldb --bits 10",
	} {
		_, err := runSize(strings.Fields(args)...)
		require.ErrorContains(t, err, want, args)
	}
}

// sizes returns the records that `bench size` writes, by kind of filter.
func sizes(t *testing.T, args string) map[string]sizeRecord {
	file := filepath.Join(t.TempDir(), "size.json")
	_, err := runSize(append(strings.Fields(args), "--json", file)...)
	require.NoError(t, err, args)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var written struct{ Records []sizeRecord }
	require.NoError(t, json.Unmarshal(data, &written))
	byKind := map[string]sizeRecord{}
	for _, r := range written.Records {
		byKind[r.Filter] = r
	}
	return byKind
}

// In whichever direction it computes, the answers fit together.
func TestSizeEveryDirection(t *testing.T) {
	// 10 bits per key for 36 keys: 45 bytes and the byte for k.
	why := sizes(t, "-n 36 --bits 10")
	require.Equal(t, sizeRecord{"bloom", 36, 36, 10, why["bloom"].FPP, 46}, why["bloom"])
	require.InDelta(t, 0.012, why["bloom"].FPP, 0.0005)
	require.Less(t, why["ribbon"].FPP, 0.00102, "what ribbon promises")

	for kind, r := range sizes(t, "--filters ribbon --num 10M -n 500 --fpp 0.1%") {
		require.LessOrEqual(t, r.FPP, 0.001)
		require.Greater(t, r.FPP, 0.0009)
		require.Equal(t, []int{10_000_000, 500}, []int{r.Num, r.PerFilter})
		bits := sizes(t, fmt.Sprintf("--num 10M -n 500 --bits %v", r.Bits))[kind]
		require.Equal(t, r, bits)
	}
	// 1 % by default. (Other kinds take long.)
	require.Equal(t, sizes(t, "--filters ribbon --fpp 0.01"), sizes(t, "--filters ribbon"))
}
