package policy

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// C++ LevelDB's KeyMayMatch answers for tuned filters exactly as MayContain, and finds every key.
func TestTuningIsReadByCpp(t *testing.T) {
	program := buildGenerate(t)
	type probe struct {
		Key   hexText `json:"key"`
		Match *bool   `json:"match,omitempty"`
	}
	type match struct {
		Name   string  `json:"name"`
		Filter hexText `json:"filter"`
		Probes []probe `json:"probes"`
	}
	rng := policytest.Rand(t, 87)
	plain := policytest.Must(NewBloom(10))
	tuned := policytest.Must(NewBloom(10, WithTuning(0.05)))
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	var asked []match
	presents, differ := []int{}, 0
	for _, shape := range tuningShapes {
		for _, n := range []int{1, 20, 36, 51, 100, 500} {
			present, between, beyond := shape.keys(rng, n, 0.63)
			filter := tuned.AppendFilter(nil, present)
			if !bytes.Equal(filter, plain.AppendFilter(nil, present)) {
				differ++
			}
			m := match{Name: shape.name, Filter: filter}
			for _, keys := range [][][]byte{present, between, beyond[:100]} {
				for _, key := range keys {
					m.Probes = append(m.Probes, probe{Key: key})
				}
			}
			require.NoError(t, encoder.Encode(m))
			asked = append(asked, m)
			presents = append(presents, n)
		}
	}
	require.Greater(t, differ, len(asked)/4, "few filters are not LevelDB's own")

	cmd := exec.Command(program, "match")
	var fault bytes.Buffer
	cmd.Stdin, cmd.Stderr = &lines, &fault
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &fault)
	decoder := json.NewDecoder(bytes.NewReader(out))
	absent, absentFound := 0, 0
	for i, m := range asked {
		var answered match
		require.NoError(t, decoder.Decode(&answered))
		require.Equal(t, m.Filter, answered.Filter)
		require.Len(t, answered.Probes, len(m.Probes))
		for j, p := range answered.Probes {
			require.Equal(t, m.Probes[j].Key, p.Key)
			require.Equal(t, MayContain(m.Filter, p.Key), *p.Match, "%s, key %x", m.Name, p.Key)
			if j < presents[i] {
				require.True(t, *p.Match, "%s: a lost key: %x", m.Name, p.Key)
			} else {
				absent++
				if *p.Match {
					absentFound++
				}
			}
		}
	}
	require.Less(t, absentFound, absent/10)
	require.Positive(t, absentFound)
}

// hexText is bytes that JSON has in hexadecimal, in both directions.
type hexText []byte

func (h hexText) MarshalText() ([]byte, error) {
	return hex.AppendEncode(nil, h), nil
}

func (h *hexText) UnmarshalText(text []byte) error { return (*hexBytes)(h).UnmarshalText(text) }

// buildGenerate builds the program that asks C++ LevelDB, or skips the test where that is not
// possible, which LEVELBLOOM_REQUIRE_CPP=1 forbids.
func buildGenerate(t *testing.T) string {
	dir := t.TempDir()
	program := filepath.Join(dir, "generate")
	build := exec.Command("make", "-C", "../testdata/leveldb", "CXX=g++", "BUILD="+dir, program)
	out, err := build.CombinedOutput()
	if err != nil {
		message := "on Debian, apt-get install " +
			"g++ make libleveldb-dev libssl-dev nlohmann-json3-dev, to compare with C++ LevelDB"
		if os.Getenv("LEVELBLOOM_REQUIRE_CPP") == "1" {
			t.Fatalf("%s: %s", message, out)
		}
		t.Skip(message)
	}
	return program
}
