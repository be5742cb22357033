package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

// The tests' program is the nodes' too.
func TestMain(m *testing.M) {
	variants = append(variants, faulty...)
	if len(os.Args) > 1 && os.Args[1] == "node" {
		main()
		return
	}
	m.Run()
}

// faulty are variants that lose keys, or put some of them twice.
var faulty = []variant{
	{"says that keys are present", noFilters, answer(true)},
	{"says that keys are absent", noFilters, answer(false)},
}

func answer(found bool) hasAll {
	return func(r pebble.Reader, keys [][]byte) ([]bool, error) {
		all, err := pebblev2.HasMany(r, keys)
		for i, key := range keys {
			if err == nil && key[0] < 8 {
				all[i] = found
			}
		}
		return all, err
	}
}

// The nodes keep equal data and every acknowledged key, with each kind of lookup, and the faults
// that are planted are seen.
func TestVariants(t *testing.T) {
	results := make([]result, len(variants))
	t.Run("Run", func(t *testing.T) {
		for v := range variants {
			t.Run(variants[v].name, func(t *testing.T) {
				t.Parallel()
				var err error
				results[v], err = run(context.Background(), v, 5000)
				isFaulty := v >= len(variants)-len(faulty)
				if !isFaulty && err != nil {
					t.Fatal(err)
				}
				if isFaulty && (err == nil || !strings.Contains(err.Error(), "acknowledged keys")) {
					t.Fatalf("a fault was not seen: %v", err)
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	t.Log(results)
	for i, none := range results[0].absent {
		if own := results[1].absent[i]; own < 0.9*none {
			t.Errorf("node %d: %s: %v, without filters %v", i+1, variants[1].name, own, none)
		}
		for v := 2; v < rewriting; v++ {
			if has := results[v].absent[i]; has > 0.1*none {
				t.Errorf("node %d: %s: %v, without filters %v", i+1, variants[v].name, has, none)
			}
		}
	}
}

// An entry that is no row of whole keys and values changes nothing and ends no node, neither when it
// is committed nor when the node starts again. Who proposed it gets an error.
func TestShortEntries(t *testing.T) {
	c := &cluster{ctx: context.Background(), dir: t.TempDir()}
	c.start(0)
	record := bytes.Repeat([]byte{1}, keySize+valueSize)
	c.leader("Node.Propose", record)
	others := bytes.Repeat([]byte{2}, 2*len(record)+1)
	for _, n := range []int{1, keySize - 1, keySize, keySize + 1, len(record) - 1, len(record) + 1,
		len(others)} {
		if c.err != nil {
			break
		}
		err := c.nodes[0].Call("Node.Propose", others[:n], new(uint64))
		if err == nil || !strings.Contains(err.Error(), "is not a row of keys with their values") {
			t.Errorf("an entry of %d bytes: %v", n, err)
		}
	}
	c.kill(0)
	c.start(0)
	call[int](c, "Store.Wait", c.leader("Node.Propose", []byte(nil)))
	found := c.find([][]byte{record[:keySize], others[:keySize]})
	if err := c.stop(0); c.err != nil || err != nil || found[0] != 1 {
		t.Errorf("%v, %v: %d keys", c.err, err, found[0])
	}
}

// A second process in the directory of a node that runs ends with an error, and leaves the node's
// files alone.
func TestStartedTwice(t *testing.T) {
	c := &cluster{ctx: context.Background(), dir: t.TempDir()}
	c.start(0)
	record := bytes.Repeat([]byte{1}, keySize+valueSize)
	call[int](c, "Store.Wait", c.leader("Node.Propose", record))

	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	second := exec.Command(program, "node", "0", "1", filepath.Join(c.dir, "1"))
	if out, err := second.CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "another process may have open") {
		t.Errorf("%v: %s", err, out)
	}

	call[int](c, "Store.Compact", 0) // writes a table beside the node's other files
	found := c.find([][]byte{record[:keySize]})
	if err := c.stop(0); c.err != nil || err != nil || found[0] != 1 {
		t.Errorf("%v, %v: %d of 1 keys", c.err, err, found[0])
	}
}
