package policy_test

import (
	"fmt"
	"log"

	"github.com/levelbloom/levelbloom/policy"
)

func Example() {
	bloom, err := policy.NewBloom(10) // bits per key
	if err != nil {
		log.Fatal(err)
	}
	filter := bloom.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})
	fmt.Println(policy.MayContain(filter, []byte("hello")))
	fmt.Println(policy.MayContain(filter, []byte("foo")))
	// Output:
	// true
	// false
}

func ExampleBloom_NewBuilder() {
	bloom, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	builder := bloom.NewBuilder()
	builder.Add([]byte("hello"))
	filter := builder.Finish(nil) // and the builder is ready for another filter
	fmt.Printf("% x\n", filter)
	// Output:
	// 01 40 00 01 04 10 40 00 06
}

func ExampleBloom_AppendFilter() {
	bloom, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	filter := bloom.AppendFilter(nil, [][]byte{[]byte("hello")})
	fmt.Printf("% x\n", filter)
	// Output:
	// 01 40 00 01 04 10 40 00 06
}

func ExampleWithName() {
	// goleveldb stores the same bytes under another name than C++ LevelDB.
	bloom, err := policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bloom.Name())

	_, err = policy.NewBloom(10, policy.WithName("none"))
	fmt.Println(err)
	// Output:
	// leveldb.BuiltinBloomFilter
	// policy: the name "none" means "no filter" in Pebble's options files: pass another
}

// Many keys against one filter: a multi-get asks each table's filter which of its keys to look up
// there.
func ExampleMayContainMany() {
	bloom, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	filter := bloom.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})

	keys := [][]byte{[]byte("hello"), []byte("absent"), []byte("world")}
	may := make([]bool, len(keys))
	policy.MayContainMany(filter, keys, may)
	fmt.Println(may)
	// Output: [true false true]
}

// Filters that keep their false-positive rate for all keys. All policies of this package read them,
// and no other's.
func ExampleNewRibbon() {
	ribbon, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	filter := ribbon.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})

	fmt.Println(policy.MayContain(filter, []byte("hello")),
		policy.MayContain(filter, []byte("absent")))
	// Output: true false
}
