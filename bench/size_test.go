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
		"--fpp: \"1\": pass a rate":        "--fpp 1",
		"--fpp: \"200%\": pass a rate":     "--fpp 200%",
		"--fpp: \"NaN\": pass a rate":      "--fpp NaN",
		`--memory: "16": pass a size`:      "--num 1k --memory 16",
		`--memory: "NaNMiB": pass a size`:  "--num 1k --memory NaNMiB",
		"--bits and --fpp give each other": "--bits 10 --fpp 1%",
		"--memory: pass --num as well":     "--memory 1MiB",
		"leave out --bits and --fpp":       "--memory 1MiB --num 10k --fpp 0.1",
		"0 bits per key":                   "--memory 0.001KiB --num 10M",
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
	require.Len(t, byKind, 2)
	return byKind
}

// In whichever direction it computes, the answers fit together.
func TestSizeEveryDirection(t *testing.T) {
	// 10 bits per key: k = floor(6.9), 45 bytes and the byte for k; for 36 keys.
	why := sizes(t, "-n 36 --bits 10")
	require.Equal(t, sizeRecord{"bloom", 36, 36, 10, 6, why["bloom"].FPP, 46}, why["bloom"])
	require.InDelta(t, 0.012, why["bloom"].FPP, 0.0005)
	require.Less(t, why["ribbon"].FPP, 0.00102, "what ribbon promises")

	for kind, r := range sizes(t, "--num 10M --fpp 0.1%") {
		require.LessOrEqual(t, r.FPP, 0.001)
		require.Greater(t, r.FPP, 0.0009)
		require.Equal(t, []int{10_000_000, 100_000}, []int{r.Num, r.PerFilter})
		bits := sizes(t, fmt.Sprintf("--num 10M --bits %v", r.Bits))[kind]
		require.Equal(t, r, bits)
		memory := fmt.Sprintf("%.9fMiB", float64(r.Bytes)/(1<<20))
		keys := sizes(t, fmt.Sprintf("--memory %s --fpp 0.001", memory))[kind]
		require.InEpsilon(t, r.Num, keys.Num, 1e-6)
		room := sizes(t, fmt.Sprintf("--memory %s --num 10M", memory))[kind]
		require.InDelta(t, r.Bits, room.Bits, 0.11, "tenths, with the trailers")
	}
	require.Equal(t, sizes(t, "--fpp 0.01"), sizes(t, ""), "1 % of one table's keys by default")
}
