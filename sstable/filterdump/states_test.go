package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A written part of a database: its keys, and the filters that its tables got.
type part struct {
	keys   [][]byte
	p      *policy.Policy // nil for none
	merged bool           // into the last level
}

// What a verdict promises of ribbon filters is what lookups read once the verdict is followed: once
// Rewrite gave them to all tables. That is so in each state of a database, in all engines. (What is
// counted is what engines read: TestCountedReads.)
func TestVerdictComesTrue(t *testing.T) {
	all := testkit.Keys(testkit.Rand(t, 70), 12_000)
	ordered := slices.SortedFunc(slices.Values(all), bytes.Compare)
	most := len(all) * 97 / 100 // then few tables overlap: Rewrite merges them
	var numbers [][]byte        // with few absent keys between them
	for i := range 10_000 {
		numbers = append(numbers, fmt.Appendf(nil, "y%09d", i+i/100))
	}
	ribbon, bloom := testkit.Must(policy.NewRibbon(10)), testkit.Must(policy.NewBloom(10))
	for state, parts := range map[string][]part{
		"without filters":                   {{all[:most], nil, true}, {all[most:], nil, false}},
		"without filters in the last level": {{all, nil, true}},
		"Bloom filters":                     {{all[:most], bloom, true}, {all[most:], bloom, false}},
		"half rewritten":                    {{ordered, nil, true}, {ordered[:len(all)/2], ribbon, true}},
		"half rewritten, few absent keys":   {{numbers, nil, true}, {ordered[:4000], ribbon, false}},
	} {
		for engine, open := range openers {
			t.Run(state+", "+engine, func(t *testing.T) {
				if engine == "pebblev1" { // its adapter is a copy, and TestSuite/States tests that
					testkit.Large(t)
				}
				dir, rng := t.TempDir(), rand.New(rand.NewSource(71))
				for _, part := range parts {
					s, err := open(dir, part.p, busy)
					require.NoError(t, err)
					value := make([]byte, 300)
					for _, key := range part.keys {
						rng.Read(value) // does not compress
						require.NoError(t, s.put(key, value))
					}
					require.NoError(t, s.flush())
					if part.merged {
						require.NoError(t, s.compact())
					}
					require.NoError(t, s.close())
				}
				quiet := census.Options{Progress: func(string, ...any) {}}
				before := census.Read(dir, quiet)
				require.NotNil(t, before.Figures, before.Note)
				todo := "Use ribbon filters"
				if strings.HasPrefix(state, "half") {
					todo = "Call " + engine + ".Rewrite"
				}
				require.Contains(t, before.Verdict.Sentence, todo)

				s, err := open(dir, ribbon, still)
				require.NoError(t, err)
				require.NoError(t, s.rewrite(context.Background()))
				require.NoError(t, s.close())
				after := census.Read(dir, quiet)
				t.Logf("Get reads %.1f, Has %.1f; ribbon filters promise %.1f; then Has reads %.1f",
					before.Get, before.Has, before.Ribbon, after.Has)
				require.Zero(t, after.Old)
				require.Contains(t, after.Verdict.Sentence, "All tables have ribbon filters: ")
				require.LessOrEqual(t, after.Has, max(1.5*before.Ribbon, before.Ribbon+3))
				require.LessOrEqual(t, before.Ribbon, max(1.5*after.Has, after.Has+3))
			})
		}
	}
}
