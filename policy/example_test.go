package policy_test

import (
	"encoding/binary"
	"errors"
	"expvar"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"

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

// Filters with fewer false positives, for keys of any shape. All policies of this package read
// them, and no other reader.
func ExampleNewRibbon() {
	ribbon, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	filter := ribbon.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})

	fmt.Println(policy.MayContain(filter, []byte("hello")),
		policy.MayContain(filter, []byte("absent")))
	fmt.Printf("%.2f %% of absent keys, instead of %.2f %%\n", 100*ribbon.FPP(100_000), 1.45)
	// Output:
	// true false
	// 0.11 % of absent keys, instead of 1.45 %
}

// A filter in a file, followed by its checksum, without which a reader may take a file that was cut
// off for another filter.
func Example_file() {
	ribbon, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	filter := ribbon.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	data := binary.LittleEndian.AppendUint32(filter, crc32.Checksum(filter, castagnoli))

	dir, err := os.MkdirTemp("", "levelbloom-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "filter")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		log.Fatal(err)
	}

	read := func() ([]byte, error) {
		data, err := os.ReadFile(path) // or map the file
		if err != nil {
			return nil, err
		}
		n := len(data) - crc32.Size
		if n <= 0 || crc32.Checksum(data[:n], castagnoli) != binary.LittleEndian.Uint32(data[n:]) {
			return nil, errors.New("the file is damaged: look the keys up without it")
		}
		return data[:n], nil
	}
	if filter, err = read(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(policy.MayContain(filter, []byte("hello")),
		policy.MayContain(filter, []byte("absent")))

	if err := os.Truncate(path, int64(len(data)-1)); err != nil {
		log.Fatal(err)
	}
	_, err = read()
	fmt.Println(err)
	// Output:
	// true false
	// the file is damaged: look the keys up without it
}

// A filter for each shard, here a day: a lookup reads only the shards whose filter may contain the
// key.
func Example_shards() {
	ribbon, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	days := []string{"monday", "tuesday", "wednesday"}
	users := map[string][]string{
		"monday":    {"ann", "bob"},
		"tuesday":   {"bob", "eve"},
		"wednesday": {"joe"},
	}
	filters := map[string][]byte{}
	for day, names := range users {
		builder := ribbon.NewBuilder()
		for _, name := range names {
			builder.Add([]byte(name))
		}
		filters[day] = builder.Finish(nil)
	}

	for _, name := range []string{"bob", "tim"} {
		for _, day := range days {
			if policy.MayContain(filters[day], []byte(name)) {
				fmt.Println("read", day, "for", name)
			}
		}
	}
	// Output:
	// read monday for bob
	// read tuesday for bob
}

// A flag or a configuration file chooses the policy.
func ExampleFromString() {
	for _, text := range []string{"ribbon:10", "bloom:10,tuned", "cuckoo:10"} {
		p, err := policy.FromString(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(p) // String gives the text back
	}
	// Output:
	// ribbon:10
	// bloom:10,tuned
	// policy: "cuckoo" is not a kind of filter: write one of bloom, ribbon, a colon, and the bits per key, such as ribbon:10
}

// The least memory with which at most one of a thousand absent keys is a false positive.
func ExampleBitsFor() {
	const keys, perFilter = 10_000_000, 100_000
	bits, err := policy.BitsFor("ribbon", perFilter, 0.001)
	if err != nil {
		log.Fatal(err)
	}
	ribbon, err := policy.NewRibbon(bits)
	if err != nil {
		log.Fatal(err)
	}
	bytes := keys / perFilter * ribbon.FilterSize(perFilter)
	fmt.Printf("%v bits per key, %.1f MB\n", bits, float64(bytes)/1e6)
	// Output: 10.2 bits per key, 12.8 MB
}

// What an engine does with a policy, counted.
func ExampleWithCounters() {
	p, err := policy.NewRibbon(10, policy.WithCounters())
	if err != nil {
		log.Fatal(err)
	}
	expvar.Publish("filters", expvar.Func(func() any { return p.Counters() }))

	// What an engine does:
	builder := p.NewBuilder()
	builder.Add([]byte("hello"))
	filter := builder.Finish(nil)
	p.MayContain(filter, []byte("hello"))
	p.MayContain(filter, []byte("absent"))

	fmt.Println(expvar.Get("filters"))
	// Output: {"absent":1,"may_contain":1,"filters":1,"keys":1,"bytes":14,"replaced":0}
}

// What is in a filter.
func ExampleParse() {
	filter := []byte{0x01, 0x40, 0x00, 0x01, 0x04, 0x10, 0x40, 0x00, 0x06}
	info, err := policy.Parse(filter)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, k = %d\n", info.Encoding, info.K)
	// Output: LevelDB Bloom, k = 6
}
