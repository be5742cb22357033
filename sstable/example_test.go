package sstable_test

import (
	"fmt"
	"log"
	"os"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// A table that C++ LevelDB wrote, with its filter and its entries.
func ExampleOpenTable() {
	file, err := os.Open("../testdata/leveldb/tables/one_key/000005.ldb")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	t, err := sstable.OpenTable(file, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range t.Filters() {
		fmt.Printf("%s: %d bytes\n", f.Policy, f.Handle.Length)
		filter, err := t.OpenFilter(f)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("user2827300002838:", filter.MayContain([]byte("user2827300002838")))
		fmt.Println("apple:", filter.MayContain([]byte("apple")))
	}
	for e, err := range t.Entries() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", e.Key)
	}
	// Output:
	// leveldb.BuiltinBloomFilter2: 18 bytes
	// user2827300002838: true
	// apple: false
	// user2827300002838
}

// An engine of your own builds the filter block while it writes data blocks, and looks keys up in
// it before it reads one.
func ExampleFilterBlockBuilder() {
	p, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	b, err := sstable.NewFilterBlockBuilder(p.NewBuilder, sstable.DefaultBaseLg)
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
	// Output:
	// apple in the block at 0: true
	// apple in the block at 4096: false
}
