package goleveldb_test

import (
	"fmt"
	"log"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// openDB opens a goleveldb database with LevelDB's Bloom policy.
func openDB(dir string) (*leveldb.DB, error) {
	p, err := policy.NewBloom(10)
	if err != nil {
		return nil, err
	}
	o := &opt.Options{}
	if err := goleveldb.Configure(o, p); err != nil {
		return nil, err
	}
	return leveldb.OpenFile(dir, o)
}

func Example() {
	dir, err := os.MkdirTemp("", "levelbloom-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := openDB(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	if err := db.Put([]byte("hello"), []byte("world"), nil); err != nil {
		log.Fatal(err)
	}
	value, err := db.Get([]byte("hello"), nil)
	fmt.Printf("%s %v\n", value, err)
	_, err = db.Get([]byte("good night"), nil)
	fmt.Println(err)
	// Output:
	// world <nil>
	// leveldb: not found
}
