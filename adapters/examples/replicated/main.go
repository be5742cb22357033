// Command replicated shows what filters save on replicated nodes, and how a service of one's own
// uses adapters/pebblev2. In a clone:
//
//	go run ./adapters/examples/replicated
//
// Three processes on 127.0.0.1 are the nodes of a Raft cluster (github.com/hashicorp/raft). Each
// has a Pebble database that takes each key once, as in a service that must not do a request twice.
// It looks up every key before it puts it, and most are absent. Midway, node 1 is killed, which is
// the leader unless another one was elected, and started again later, so that it needs a snapshot.
// In the end all data is in L6, and each node looks up keys that nobody has. The command does this
// with every variant of store.go, and prints how often table data was read, by node 1 since its
// last start. In the last variant there are no filters, until node 1 is started once more and
// rewrites its tables. The command fails if a node lacks a key that was acknowledged, or has other
// data than it should.
//
// store.go is the part to copy: open sets the options, and putIfAbsent looks keys up. A service
// does this differently:
//
//   - It has one variant. For batches of mostly absent keys, that is the last one.
//   - It authenticates its nodes. Here Raft's port, on 127.0.0.1, has no authentication, so any local
//     process can append to the log or replace the database by a snapshot. A service passes
//     raft.NewNetworkTransport a raft.StreamLayer of TLS connections, in which both sides must show
//     a certificate.
//   - It has a larger cache, and logs what Check says. It leaves compactions and snapshots to
//     Pebble and Raft; here they come when asked for, so that runs are alike.
//   - It guards the database with a lock if it reads it while Raft may call Restore.
//   - It may keep its database when it starts (raft.Config.NoSnapshotRestoreOnStart). Then Restore
//     must sync the files and the directory before it returns, and the batch must store the entry's
//     index. Here NoSync is enough, because each start begins with Raft's snapshot.
//   - It does not count reads: FS, count and reads are for the figures alone.
//   - It closes all that it has opened, and keeps Raft's log messages.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) > 1 && os.Args[1] == "node" {
		v, err := strconv.Atoi(os.Args[2])
		if err == nil {
			err = serve(os.Args[3], os.Args[4], variants[v])
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	keys := flag.Int("keys", 150_000, "keys to propose, rounded down to 500s; at least 2,000")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	const row = "%-36s  %-24s  %-24s  %s\n"
	fmt.Printf(row, "reads of table data by nodes 1, 2, 3", "per 1,000 absent keys",
		"in the whole run", "digest of all nodes")
	for v := range variants {
		r, err := run(ctx, v, max(*keys, 2000))
		if err != nil {
			log.Fatalf("%s: %v", variants[v].name, err)
		}
		fmt.Printf(row, variants[v].name, fmt.Sprintf("%.1f", r.absent),
			fmt.Sprint(r.reads), r.digest)
	}
}

// A result is what a variant cost.
type result struct {
	absent [3]float64 // reads by node, for 1,000 absent keys
	reads  [3]int64   // of the whole run; those of node 1 since its last start
	digest string     // of all keys and values, on every node
}

// perEntry is how many keys an entry of the log proposes, and how many a node looks up at once.
const perEntry = 500

func run(ctx context.Context, v, keys int) (r result, err error) {
	dir, err := os.MkdirTemp("", "replicated-")
	if err != nil {
		return r, err
	}
	c := &cluster{ctx: ctx, variant: v, dir: dir}
	for i := range c.nodes {
		c.start(i)
	}
	taken, index := propose(c, keys)
	call[int](c, "Store.Wait", index)
	call[int](c, "Store.Compact", 0)
	if n := call[int64](c, "Store.Restored", 0)[0]; c.err == nil && n < 2 {
		c.err = errors.New("node 1 restored its own snapshot and not the leader's")
	}

	var absent [][]byte
	for i := range keys / 5 {
		absent = append(absent, hash("absent", i))
	}
	if v == rewriting {
		rewrite(c, taken)
	}
	before := call[int64](c, "Store.Reads", 0)
	c.find(absent)
	r.reads = call[int64](c, "Store.Reads", 0)
	for i := range r.absent {
		r.absent[i] = float64(r.reads[i]-before[i]) / float64(len(absent)) * 1000
	}
	r.digest = check(c, taken)

	for i := range c.nodes {
		c.err = errors.Join(c.err, c.stop(i))
	}
	c.err = errors.Join(c.err, os.RemoveAll(dir))
	if ctx.Err() != nil {
		c.err = context.Cause(ctx) // and not that it killed the nodes
	}
	return r, c.err
}

// propose proposes keys, a tenth of them twice. It returns what the cluster should have then, and
// the last index. Midway, node 1 is killed. When it is started again, the others no longer have the
// entries that it missed.
func propose(c *cluster, keys int) (taken map[string][]byte, index uint64) {
	taken = map[string][]byte{}
	entries := keys / perEntry
	for e := range entries {
		switch e {
		case entries / 4:
			call[int](c, "Store.Wait", index)
			call[int](c, "Node.Snapshot", 0)
		case entries / 2:
			c.kill(0)
		case entries * 3 / 4:
			call[int](c, "Store.Wait", index)
			call[int](c, "Node.Snapshot", 0)
			c.start(0)
		}
		var entry []byte
		for i := e * perEntry; i < (e+1)*perEntry; i++ {
			key, value := hash("key", i), make([]byte, valueSize)
			if i%10 == 9 {
				key = hash("key", i/10*5) // again
			}
			rand.NewChaCha8([32]byte(hash("value", i))).Read(value)
			entry = append(append(entry, key...), value...)
			if taken[string(key)] == nil {
				taken[string(key)] = value
			}
		}
		index = c.leader("Node.Propose", entry)
	}
	return taken, index
}

// rewrite starts node 1 again with filters, but with tables of a snapshot that has none. They get
// some while the nodes are checked.
func rewrite(c *cluster, taken map[string][]byte) {
	call[int](c, "Node.Snapshot", 0)
	c.kill(0)
	c.variant--
	c.start(0)
	call[int](c, "Store.Wait", c.leader("Node.Propose", []byte(nil))) // until it has the snapshot
	if c.err == nil {
		done := c.nodes[0].Go("Store.Rewrite", 0, new(int), nil).Done
		check(c, taken)
		c.err = errors.Join(c.err, (<-done).Error)
		call[int](c, "Store.Compact", 0)
	}
}

// check fails if a node does not find a key that was taken, or has other keys or values.
func check(c *cluster, taken map[string][]byte) (digest string) {
	var keys [][]byte
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(taken)) {
		keys = append(keys, []byte(key))
		h.Write([]byte(key))
		h.Write(taken[key])
	}
	digest = fmt.Sprintf("%x", h.Sum(nil)[:8])
	found, digests := c.find(keys), call[string](c, "Store.Digest", 0)
	for i := range c.nodes {
		if c.err == nil && (found[i] != len(keys) || digests[i] != digest) {
			c.err = fmt.Errorf("node %d finds %d of %d acknowledged keys; digest %s instead of %s",
				i+1, found[i], len(keys), digests[i], digest)
		}
	}
	return digest
}

// hash returns the key, or the seed of the value, that has a number.
func hash(of string, i int) []byte {
	h := sha256.Sum256(fmt.Appendf(nil, "%s %d", of, i))
	return h[:]
}
