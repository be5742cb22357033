package goleveldb_test

import (
	"fmt"
	"log"
	"os"
)

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
