package sstable_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// A table writer, here goleveldb's, builds the filters; OpenTable reads them again.
func ExampleOpenTable() {
	p, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer // an *os.File does as well
	w := table.NewWriter(&file, &opt.Options{Filter: goleveldb.New(p)}, nil, 0)
	for _, key := range []string{"apple", "banana", "cherry"} {
		if err := w.Append([]byte(key), []byte("a fruit")); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	t, err := sstable.OpenTable(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range t.Filters() {
		fmt.Printf("%s: %d bytes\n", f.Policy, f.Handle.Length)
		filter, err := t.OpenFilter(f, policy.MayContain)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("apple:", filter.MayContain([]byte("apple")))
		fmt.Println("avocado:", filter.MayContain([]byte("avocado")))
	}
	for e, err := range t.Entries() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s is %s\n", e.Key, e.Value)
	}
	// Output:
	// leveldb.BuiltinBloomFilter2: 18 bytes
	// apple: true
	// avocado: false
	// apple is a fruit
	// banana is a fruit
	// cherry is a fruit
}

// An engine of your own builds the filter block while it writes data blocks, and looks keys up in
// it before it reads one.
func ExampleFilterBlockBuilder() {
	p, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	b, err := sstable.NewFilterBlockBuilder(p.NewBuilder)
	if err != nil {
		log.Fatal(err)
	}
	b.StartBlock(0) // the file offset of a data block
	b.AddKey([]byte("apple"))
	b.AddKey([]byte("banana"))
	b.StartBlock(4096)
	b.AddKey([]byte("cherry"))
	b.StartBlock(5000) // the end of the last data block
	block := b.Finish()

	r, err := sstable.NewFilterBlockReader(policy.MayContain, block)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("apple in the block at 0:", r.MayContain(0, []byte("apple")))
	fmt.Println("apple in the block at 4096:", r.MayContain(4096, []byte("apple")))

	// Damaged bytes cost reads, and never a key.
	r, err = sstable.NewFilterBlockReader(policy.MayContain, block[1:])
	if err != nil {
		log.Fatal(err)
	}
	var corrupt *sstable.CorruptionError
	fmt.Println("corrupt:", errors.As(r.Validate(), &corrupt))
	fmt.Println("apple in the block at 4096:", r.MayContain(4096, []byte("apple")))
	// Output:
	// apple in the block at 0: true
	// apple in the block at 4096: false
	// corrupt: true
	// apple in the block at 4096: true
}
