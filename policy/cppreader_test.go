package policy

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// The C++ reader of testdata/cppreader, which was written from FORMAT.md alone, answers as ours.
func TestCppReader(t *testing.T) {
	reader := buildCppReader(t)
	reader.testVectors(t)
}

// cppReader is the program that answers questions with the C++ reader. The compiler's sanitizers
// end it if it reads outside of a filter or a key.
type cppReader string

// buildCppReader skips the test where that is not possible, unless LEVELBLOOM_REQUIRE_CPP=1.
func buildCppReader(t *testing.T) cppReader {
	if testing.Short() {
		t.Skip("compiles C++")
	}
	include := exec.Command("g++", "-fsyntax-only", "-x", "c++", "-")
	include.Stdin = strings.NewReader("#include <xxhash.h>\n")
	if err := include.Run(); err != nil {
		const message = "there is no g++ that finds xxhash.h: " +
			"to compare with the C++ reader, install g++ libxxhash-dev (on Debian)"
		if os.Getenv("LEVELBLOOM_REQUIRE_CPP") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	program := filepath.Join(t.TempDir(), "answer")
	out, err := exec.Command("g++", "-std=c++17", "-O1", "-g",
		"-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror",
		"-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		"-o", program, filepath.Join("..", "testdata", "cppreader", "answer.cc"), "-lxxhash",
	).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return cppReader(program)
}

// A question is which of the keys a filter may contain.
type question struct {
	about  string
	filter []byte
	keys   [][]byte
}

// append appends the question as the program reads it.
func (q question) append(dst []byte) []byte {
	u32 := binary.LittleEndian.AppendUint32
	dst = u32(u32(dst, uint32(len(q.filter))), uint32(len(q.keys)))
	dst = append(dst, q.filter...)
	for _, key := range q.keys {
		dst = append(u32(dst, uint32(len(key))), key...)
	}
	return dst
}

// requireGoAnswers asks the C++ reader all questions, and requires the answers of MayContain. It
// returns for each question how many of its keys the filter may contain.
func (r cppReader) requireGoAnswers(t *testing.T, questions []question) (contained []int) {
	var in, out, fault bytes.Buffer
	for _, q := range questions {
		in.Write(q.append(in.AvailableBuffer()))
	}
	cmd := exec.Command(string(r))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &fault
	ended := cmd.Run()
	for i, q := range questions {
		answers := out.Next(len(q.keys))
		require.Len(t, answers, len(q.keys),
			"question %d, %s, ended the program: keys %x, filter %.300x\n%v\n%s",
			i, q.about, q.keys, q.filter, ended, &fault)
		may := 0
		for j, key := range q.keys {
			if MayContain(q.filter, key) != (answers[j] == 1) {
				require.Fail(t, "Go and C++ differ", "question %d, %s: C++ %d, key %x, filter %.300x",
					i, q.about, answers[j], key, q.filter)
			}
			may += int(answers[j])
		}
		contained = append(contained, may)
	}
	require.NoError(t, ended, "%s", &fault)
	require.Zero(t, out.Len(), "answers without a question")
	return contained
}

// All stored filters: those of C++ LevelDB, and those that were computed from FORMAT.md, sound and
// damaged. Other tests compare our answers with the stored ones.
func (r cppReader) testVectors(t *testing.T) {
	var questions []question
	for _, file := range []string{"vectors.jsonl", "match.jsonl"} {
		readGolden(t, file, func(c struct {
			Name   string
			Keys   []hexBytes
			Filter hexBytes
			Probes []goldenProbe
		}) {
			q := question{c.Name, c.Filter, plain(c.Keys)}
			for _, p := range c.Probes {
				q.keys = append(q.keys, p.Key)
			}
			questions = append(questions, q)
		})
	}
	// Keys of all lengths: a wrong hash loses each of them, but for 1 in a million.
	hashed := question{about: "hash.jsonl"}
	readGolden(t, "../encodings/hash.jsonl", func(c encodingCase) {
		hashed.keys = append(hashed.keys, c.recipeKey(c.Number))
	})
	hashed.filter = testkit.Must(NewRibbon(20)).AppendFilter(nil, hashed.keys)
	questions = append(questions, hashed)

	readGolden(t, "../encodings/ribbon.jsonl", func(c encodingCase) {
		q := question{c.Name, c.Filter, c.keysAndProbes()}
		if c.Kind == "digest" {
			keys := c.recipeKeys(c.Start, c.N)
			q.filter = testkit.Must(NewRibbon(c.BitsPerKey)).AppendFilter(nil, keys)
			q.keys = append(keys, c.recipeKeys(c.AbsentStart, c.AbsentCount)...)
		}
		questions = append(questions, q)
	})
	require.Greater(t, len(questions), 3000)

	rng := testkit.Rand(t, 41)
	for _, q := range questions { // each again with a damaged filter
		damaged := bytes.Clone(q.filter[rng.Intn(1+len(q.filter)/4):])
		if n := len(damaged); n > 0 {
			at := max(0, n-1-rng.Intn(1+rng.Intn(n))) // mostly near the end
			damaged[at] ^= byte(1 + rng.Intn(255))
		}
		if rng.Intn(4) > 0 {
			correct(damaged)
		}
		q.about, q.filter, q.keys = q.about+", damaged", damaged, q.keys[:min(20, len(q.keys))]
		questions = append(questions, q)
	}
	r.requireGoAnswers(t, questions)
}

// keysAndProbes returns the keys that the file has for a case.
func (c encodingCase) keysAndProbes() [][]byte {
	keys := plain(c.Keys)
	for _, p := range c.Probes {
		keys = append(keys, p.Key)
	}
	return keys
}

func plain(keys []hexBytes) (plain [][]byte) {
	for _, key := range keys {
		plain = append(plain, key)
	}
	return plain
}
