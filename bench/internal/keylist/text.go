package keylist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// maxLine bounds a line. A longer one is hardly a key.
const maxLine = 1 << 20

// readText reads a file of lines. If its keys are too many, it reads the file a second time, and
// takes all keys in some ranges, which it finds by a random sample of the first time.
func readText(path string, limit int) (keys.List, bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	all := collector{limit: limit}
	sample := make([][]byte, 0, 1<<14)
	rng := rand.New(rand.NewPCG(1, 2))
	var lines, size int64
	full := false
	err = eachLine(file, path, func(key []byte) bool {
		lines++
		size += sliceBytes + int64(len(key))
		if !full && !all.add(key) {
			full, all.keys = true, nil
		}
		if len(sample) < cap(sample) {
			sample = append(sample, bytes.Clone(key))
		} else if i := rng.Int64N(lines); i < int64(len(sample)) {
			sample[i] = bytes.Clone(key)
		}
		return true
	})
	if err != nil || !full {
		return all.sorted(), false, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, false, fmt.Errorf("%s has more than %d MiB of keys, and cannot be read twice: "+
			"pass a file that can: %w", path, limit>>20, err)
	}
	slices.SortFunc(sample, bytes.Compare)
	sample = slices.CompactFunc(sample, bytes.Equal)
	chosen := &collector{limit: limit}
	in := newRanges(sample, float64(limit)/2/float64(size))
	err = eachLine(file, path, func(key []byte) bool {
		return !in.has(key) || chosen.add(key)
	})
	return chosen.sorted(), true, err
}

// ranges of keys, each from low up to high without it.
type ranges []struct{ low, high []byte }

// newRanges returns ranges, spread evenly over a sorted sample, with that part of all keys.
func newRanges(sample [][]byte, part float64) (all ranges) {
	const most = 8
	points := max(1, int(part*float64(len(sample)))) // of the sample in all ranges
	n := min(most, points)
	for i := range n {
		at := i * len(sample) / n
		end := min(at+points/n, len(sample)-1)
		all = append(all, struct{ low, high []byte }{sample[at], sample[end]})
	}
	return all
}

func (all ranges) has(key []byte) bool {
	return slices.ContainsFunc(all, func(r struct{ low, high []byte }) bool {
		return bytes.Compare(r.low, key) <= 0 && bytes.Compare(key, r.high) < 0
	})
}

// eachLine calls f for each line that is not empty, until it returns false.
func eachLine(r io.Reader, path string, f func(key []byte) bool) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if len(lines.Bytes()) > 0 && !f(lines.Bytes()) {
			return nil
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s: a line of more than %d bytes: pass a file with one key per line, "+
			"or a database's directory", path, maxLine)
	}
	return lines.Err()
}
