package policy_test

import (
	"encoding/binary"
	"errors"
	"expvar"
	"fmt"
	"hash/crc32"
	"log"

	"github.com/levelbloom/levelbloom/policy"
)

func Example() {
	p, err := policy.NewRibbon(10) // bits per key
	if err != nil {
		log.Fatal(err)
	}
	filter := p.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})

	fmt.Println(policy.MayContain(filter, []byte("hello")),
		policy.MayContain(filter, []byte("absent")))
	fmt.Printf("%.2f %% of absent keys are false positives in filters of 100,000\n",
		100*p.FPP(100_000))
	// Output:
	// true false
	// 0.11 % of absent keys are false positives in filters of 100,000
}

// A filter in a file, followed by its checksum, without which a reader may take a file that was cut
// off for another filter.
func Example_file() {
	p, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	filter := p.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	file := binary.LittleEndian.AppendUint32(filter, crc32.Checksum(filter, castagnoli))

	check := func(file []byte) ([]byte, error) { // read or mapped
		n := len(file) - crc32.Size
		if n <= 0 || crc32.Checksum(file[:n], castagnoli) != binary.LittleEndian.Uint32(file[n:]) {
			return nil, errors.New("the file is damaged: look the keys up without it")
		}
		return file[:n], nil
	}
	if filter, err = check(file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(policy.MayContain(filter, []byte("hello")),
		policy.MayContain(filter, []byte("absent")))
	_, err = check(file[:len(file)-1]) // cut off
	fmt.Println(err)
	// Output:
	// true false
	// the file is damaged: look the keys up without it
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
