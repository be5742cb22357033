package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	mathbits "math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	v1 "github.com/cockroachdb/pebble"
	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/zeebo/xxh3"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

const (
	exactName   = "LevelDB Bloom"
	blockedName = "blocked Bloom, version 1"
	fuseName    = "binary fuse, version 1"
)

// A kindsDocument is what the JSON says about encodings.
type kindsDocument struct {
	Paths []struct {
		Encodings map[string]int `json:"encodings"`
	} `json:"paths"`
	Tables []struct {
		Path      string         `json:"path"`
		Status    string         `json:"status"`
		Reason    string         `json:"reason"`
		Filters   int            `json:"filters"`
		Encoding  string         `json:"encoding"`
		Encodings map[string]int `json:"encodings"`
		Probes    []int          `json:"probes"`
		Fill      float64        `json:"fill"`
		Distinct  float64        `json:"distinct_keys_estimated"`
		FPP       float64        `json:"fpp_estimated"`
		Cells     int64          `json:"cells"`
		Widths    []int          `json:"fingerprint_bits"`
		Fuse      *struct {
			Segment int64  `json:"cells_per_segment"`
			Seed    string `json:"seed"`
		} `json:"binary_fuse"`
	} `json:"tables"`
}

func kindsJSON(t *testing.T, args ...string) (status int, d kindsDocument) {
	status, out, stderr := filterdump(t, append([]string{"-json", "-absent", "1000"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &d), stderr)
	return status, d
}

// A writer opens a database in dir with a policy, puts keys from one number to another, and closes it, so that they lie in a
// table; or makes all filters anew, if there are none.
type writer func(t *testing.T, dir string, p policy.Policy, from, to int)

const inWindows = "goleveldb" // whose filters are small

var writers = map[string]writer{
	inWindows:                  goleveldbWriter(),
	"goleveldb, large windows": goleveldbWriter(goleveldb.WithFilterBaseLg(20)),
	"Pebble v1": func(t *testing.T, dir string, p policy.Policy, from, to int) {
		o := &v1.Options{L0CompactionThreshold: 12}
		require.NoError(t, pebblev1.Configure(o, p, pebblev1.WithL6()))
		db, err := v1.Open(dir, o)
		require.NoError(t, err)
		for i := from; i < to; i++ {
			require.NoError(t, db.Set(kindsKey(i), make([]byte, 100), v1.NoSync))
		}
		if from == to {
			_, err = pebblev1.Rewrite(context.Background(), db, nil)
			require.NoError(t, err)
		}
		require.NoError(t, db.Flush())
		require.NoError(t, db.Close())
	},
	"Pebble v2": func(t *testing.T, dir string, p policy.Policy, from, to int) {
		o := &v2.Options{L0CompactionThreshold: 12}
		require.NoError(t, pebblev2.Configure(o, p, pebblev2.WithL6()))
		db, err := v2.Open(dir, o)
		require.NoError(t, err)
		for i := from; i < to; i++ {
			require.NoError(t, db.Set(kindsKey(i), make([]byte, 100), v2.NoSync))
		}
		if from == to {
			_, err = pebblev2.Rewrite(context.Background(), db, nil)
			require.NoError(t, err)
		}
		require.NoError(t, db.Flush())
		require.NoError(t, db.Close())
	},
}

// goleveldbWriter writes with goleveldb.
func goleveldbWriter(opts ...goleveldb.Option) writer {
	return func(t *testing.T, dir string, p policy.Policy, from, to int) {
		o := &opt.Options{CompactionL0Trigger: 100}
		require.NoError(t, goleveldb.Configure(o, p, opts...))
		db, err := leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		for i := from; i < to; i++ {
			require.NoError(t, db.Put(kindsKey(i), make([]byte, 100), nil))
		}
		if from == to {
			require.NoError(t, goleveldb.Rewrite(context.Background(), db, nil))
		}
		require.NoError(t, db.Close())
		db, err = leveldb.OpenFile(dir, o) // it makes a table of the log
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}

func kindsKey(i int) []byte { return []byte(fmt.Sprintf("user%012d", 3*i)) }

// A database that changes its setting has tables of all encodings until all are written anew.
func TestMixedDatabases(t *testing.T) {
	exact := mustExact(t)
	blocked, err := policy.NewBlockedBloom(16)
	require.NoError(t, err)
	fuse := mustFuse(t)
	probes := map[string][]int{exactName: {6}, blockedName: {9}}
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, exact, 1, 1000)
			write(t, dir, exact, 1000, 2000)
			write(t, dir, blocked, 2000, 5000)
			last, lastName := policy.Policy(blocked), blockedName
			if name != inWindows {
				last, lastName = fuse, fuseName
				write(t, dir, fuse, 5000, 8000)
			}
			status, d := kindsJSON(t, "-verify", dir)
			require.Equal(t, exitSound, status)
			total, found := map[string]int{}, map[string]int{}
			for _, table := range d.Tables {
				require.Equal(t, "sound", table.Status, table.Reason)
				require.Equal(t, map[string]int{table.Encoding: table.Filters}, table.Encodings)
				require.Equal(t, probes[table.Encoding], table.Probes)
				total[table.Encoding] += table.Filters
				found[table.Encoding]++
				if table.Encoding == fuseName {
					requireFuse(t, table.Path, d)
				} else {
					require.Positive(t, table.Fill)
					require.Zero(t, table.Cells)
					require.Empty(t, table.Widths)
					require.Nil(t, table.Fuse)
				}
			}
			for _, name := range []string{exactName, blockedName, lastName} {
				require.Positive(t, found[name], name)
			}
			require.Equal(t, total, d.Paths[0].Encodings)

			_, long, _ := filterdump(t, "-absent", "1000", "-long", dir)
			_, short, _ := filterdump(t, "-absent", "1000", dir, dir, dir, dir) // a line for each table
			for name, n := range total {
				require.Contains(t, long, policy.Name+", "+name+"\n")
				require.Regexp(t, `\.(ldb|sst) +│ `+name+` +│`, short)
				require.Contains(t, short, fmt.Sprintf("  %s of %s\n", count(n, "filter"), name))
			}

			write(t, dir, last, 0, 0)
			status, d = kindsJSON(t, "-verify", dir)
			require.Equal(t, exitSound, status)
			require.NotEmpty(t, d.Tables)
			for _, table := range d.Tables {
				require.Equal(t, lastName, table.Encoding, table.Path)
			}
		})
	}
}

// requireFuse demands that all that is said about a table whose only filter is binary fuse is what its bytes are: nothing about
// bits that are set, and no number of keys.
func requireFuse(t *testing.T, path string, d kindsDocument) {
	opened, err := tables.Open(path, tables.Options{})
	require.NoError(t, err)
	defer opened.Close()
	filter := opened.Info().Filters.Each[0]
	trailer := filter[len(filter)-16:]
	cells := (int64(binary.LittleEndian.Uint32(trailer[8:])) + 2) << trailer[12]
	require.EqualValues(t, cells, len(filter)-16, "8 bits each")
	seed := fmt.Sprintf("0x%016x", binary.LittleEndian.Uint64(trailer))
	for _, table := range d.Tables {
		if table.Path == path {
			require.Zero(t, table.Fill)
			require.Zero(t, table.Distinct)
			require.Equal(t, 1.0/256, table.FPP)
			require.Equal(t, cells, table.Cells)
			require.Equal(t, []int{8}, table.Widths)
			require.EqualValues(t, 1<<trailer[12], table.Fuse.Segment)
			require.Equal(t, seed, table.Fuse.Seed)
		}
	}
	_, out, _ := filterdump(t, "-absent", "1000", path)
	require.Regexp(t, fmt.Sprintf("\n  cells +[0-9]+\\.[0-9]{2} bits per key; %s of 8 bits, %d in a segment; seed %s\n", thousands(cells), 1<<trailer[12], seed), out)
	require.Contains(t, out, "\n  FPP            0.39 %, that of fingerprints of 8 bits\n")
	require.NotContains(t, out, " set")
	require.NotContains(t, out, "\n  bits")
	require.Contains(t, out, "\n  FPR ")
	_, out, _ = filterdump(t, "-absent", "1000", path, path, path, path)
	line := regexp.MustCompile(fuseName + `[^\n]*`).FindString(out)
	columns := strings.Split(strings.ReplaceAll(line, " ", ""), "│")
	require.Equal(t, []string{"", "", "0.39"}, columns[5:8], "no k, no bits set, but the FPP: %q", columns)
}

// The probes that -key shows are those of the format's text, in a filter of many lines and in one of a single line.
func TestKeyOfBlockedFilters(t *testing.T) {
	p, err := policy.NewBlockedBloom(10)
	require.NoError(t, err)
	for name, write := range writers {
		dir := t.TempDir()
		write(t, dir, p, 1, 3000)
		paths, err := filepath.Glob(filepath.Join(dir, "*.[ls][ds][bt]"))
		require.NoError(t, err)
		require.Len(t, paths, 1, name)
		table, err := tables.Open(paths[0], tables.Options{})
		require.NoError(t, err)
		defer table.Close()
		for _, number := range []int{3, 4, 4500, 4501} {
			key := []byte(fmt.Sprintf("user%012d", number))
			filter := table.Info().Filters.Each[table.Locate(key)]
			h := xxh3.Hash(key)
			payload, single := len(filter)-3, name == inWindows
			require.Equal(t, single, payload <= 1280)
			line, lineBits := 0, 8*payload
			words := fmt.Sprintf("hash 0x%016x, the bits are one line of %d\n", h, lineBits)
			if !single {
				lineBits = 512
				line = int(h >> 32 * uint64(payload/64) >> 32)
				words = fmt.Sprintf("hash 0x%016x, all probes lie in line %d of %d, which has 512 bits\n", h, line, payload/64)
			}
			status, out, stderr := filterdump(t, "-key", string(key), paths[0])
			require.Zero(t, status, stderr)
			require.Contains(t, out, words)
			may := true
			for j, x := 0, uint32(h); j < 6; j, x = j+1, x*0x9e3779b9 {
				within := int(uint64(x) * uint64(lineBits) >> 32)
				bit := line*lineBits + within
				set := filter[bit/8]&(1<<(bit%8)) != 0
				may = may && set
				inLine := ""
				if !single {
					inLine = fmt.Sprintf(` += bit +%d of the line`, within)
				}
				require.Regexp(t, fmt.Sprintf(`probe +%d  bit +%d%s  = bit %d of byte +%d  %v`, j+1, bit, inLine, bit%8, bit/8, map[bool]string{true: "set", false: "clear"}[set]), out)
			}
			require.NotContains(t, out, "probe  7")
			require.True(t, may || number%3 > 0)
			require.Contains(t, out, ", "+blockedName+map[bool]string{true: ": may contain; ", false: ": absent; "}[may])
		}
	}
}

// The cells that -key shows are those of the format's text, for keys that are there and keys that are not, and fingerprints of
// all lengths.
func TestKeyOfFuseFilters(t *testing.T) {
	for width, bitsPerKey := range map[int]float64{8: 12, 12: 18, 16: 24} {
		p, err := policy.NewBinaryFuse(bitsPerKey)
		require.NoError(t, err)
		dir := t.TempDir()
		writers["Pebble v2"](t, dir, p, 1, 3000)
		paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
		require.NoError(t, err)
		require.Len(t, paths, 1)
		table, err := tables.Open(paths[0], tables.Options{})
		require.NoError(t, err)
		defer table.Close()
		filter := table.Info().Filters.Each[0]
		trailer := filter[len(filter)-16:]
		seed, segments, log := binary.LittleEndian.Uint64(trailer), uint64(binary.LittleEndian.Uint32(trailer[8:])), trailer[12]
		segment := uint64(1) << log
		for _, number := range []int{3, 4, 4500, 4501} {
			key := []byte(fmt.Sprintf("user%012d", number))
			x := xxh3.Hash(key) + seed
			x = (x ^ x>>33) * 0xff51afd7ed558ccd
			x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
			x ^= x >> 33
			status, out, stderr := filterdump(t, "-key", string(key), paths[0])
			require.Zero(t, status, stderr)
			require.Contains(t, out, fmt.Sprintf("\n  hash 0x%016x, with the seed 0x%016x it is 0x%016x; %d cells of %d bits, %d in a segment\n",
				xxh3.Hash(key), seed, x, (segments+2)*segment, width, segment))
			c0, _ := mathbits.Mul64(x, segments*segment)
			sum := uint64(0)
			for j, cell := range []uint64{c0, (c0 + segment) ^ x>>18%segment, (c0 + 2*segment) ^ x%segment} {
				bit := cell * uint64(width)
				three := append(bytes.Clone(filter[bit/8:]), 0, 0)[:3]
				contents := (uint64(three[0]) | uint64(three[1])<<8 | uint64(three[2])<<16) >> (bit % 8) & (1<<width - 1)
				sum ^= contents
				require.Regexp(t, fmt.Sprintf(`probe +%d  cell +%d  = cell +%d of segment +%d  = %d bits from bit %d of byte +%d  0x%0*x\n`,
					j+1, cell, cell%segment, cell/segment, width, bit%8, bit/8, width/4, contents), out)
			}
			fingerprint := (x ^ x>>32) & (1<<width - 1)
			require.True(t, sum == fingerprint || number%3 > 0)
			if sum == fingerprint {
				require.Contains(t, out, fmt.Sprintf("\n  exclusive or: 0x%0*x is the key's fingerprint\n", width/4, sum))
				require.Contains(t, out, ", "+fuseName+": may contain; ")
			} else {
				require.Contains(t, out, fmt.Sprintf("\n  exclusive or: 0x%0*x is not the key's fingerprint, 0x%0*x: the key was not added\n", width/4, sum, width/4, fingerprint))
				require.Contains(t, out, ", "+fuseName+": absent; ")
			}
		}
	}
}

// A part of the map is whole lines, and what lies behind the bits is no part.
func TestMapOfLines(t *testing.T) {
	p, err := policy.NewBlockedBloom(10)
	require.NoError(t, err)
	dir := t.TempDir()
	writers["Pebble v2"](t, dir, p, 1, 3000)
	status, out, stderr := filterdump(t, "-map", dir)
	require.Zero(t, status, stderr)
	require.Contains(t, out, "; a cell is 1 line of 64 bytes\n")
	cells := func(out string) string {
		_, drawn, _ := strings.Cut(out, "a cell is")
		return regexp.MustCompile(`[▁▂▃▄▅▆▇█·○]+`).FindString(drawn)
	}
	lines := (2999*10/8 + 63) / 64
	require.Equal(t, lines, utf8.RuneCountInString(cells(out)))

	dir = t.TempDir()
	writers[inWindows](t, dir, p, 1, 3000)
	_, out, _ = filterdump(t, "-map", dir)
	require.Contains(t, out, "a cell is 1 filter, for windows of 2,048 bytes\n")
	require.Regexp(t, `^[▃▄▅·]{10,64}$`, cells(out))

	// What is behind the bits of a small filter would make it look dense, or not so.
	var b strings.Builder
	each := [][]byte{{0, 6, 1, 0x42}, {0xff, 6, 1, 0x42}, {0, 6}, {0, 6, 1, 0x51}}
	drawFilters(&b, &tables.Filters{Encoding: encoding.LevelDB, PerWindow: true, BaseLg: 11, Each: each})
	require.Equal(t, "▁█▁▂", cells(b.String()))

	// Binary fuse is nowhere dense.
	b.Reset()
	small := append(bytes.Repeat([]byte{0xff}, 12), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 8, 1, 0x46)
	drawFilters(&b, &tables.Filters{Encoding: encoding.LevelDB, PerWindow: true, BaseLg: 11, Each: [][]byte{small, nil, small[1:], each[1]}})
	require.Equal(t, "○·○█", cells(b.String()))
	b.Reset()
	drawFilters(&b, &tables.Filters{Policy: "p", Encoding: encoding.LevelDB, Each: [][]byte{small}})
	require.Equal(t, "  p; binary fuse, version 1 has no dense parts, whatever its keys are\n", b.String())
	b.Reset()
	many := append(bytes.Repeat([]byte{0xff}, 12), small[12:]...)
	mixed := make([][]byte, 2*mapWidth*mapLines) // two filters in a cell: the one with bits decides
	for i := range mixed {
		mixed[i] = [][]byte{many, each[0]}[i%2]
	}
	drawFilters(&b, &tables.Filters{Encoding: encoding.LevelDB, PerWindow: true, BaseLg: 11, Each: mixed})
	require.Equal(t, strings.Repeat("▁", mapWidth), cells(b.String()))

	// A large filter has several lines in a cell.
	b.Reset()
	keys := make([][]byte, 100_000)
	for i := range keys {
		keys[i] = kindsKey(i)
	}
	filter := p.AppendFilter(nil, keys)
	drawFilters(&b, &tables.Filters{Encoding: encoding.LevelDB, Each: [][]byte{filter}})
	require.Contains(t, b.String(), "a cell is 2 lines of 64 bytes\n")
	require.Equal(t, (len(filter)/64+1)/2, strings.Count(b.String(), "▄")+strings.Count(b.String(), "▅")+strings.Count(b.String(), "▃"))
}

// A filter that another version of this program may know is not verified by this one.
func TestUnknownEncoding(t *testing.T) {
	intact, blocks := smallTable(t, mustExact(t))
	opened, err := sstable.OpenTable(bytes.NewReader(intact), int64(len(intact)))
	require.NoError(t, err)
	handle := opened.Filters()[0].Handle
	first, err := opened.OpenFilter(opened.Filters()[0], mustExact(t))
	require.NoError(t, err)
	size := uint64(len(first.Windows().Filter(0)))
	for _, c := range []struct {
		end  string // of the first filter
		name string
	}{{"\x01\x51", "unknown encoding 0x51"}, {"\x02\x42", "blocked Bloom of unknown version 2"}, {"\x02\x46", "binary fuse of unknown version 2"}} {
		file := bytes.Clone(intact)
		copy(file[handle.Offset+size-2:], c.end)
		blocks := append(blocks, handle)
		mendChecksum(file, blocks, handle.Offset)
		path := filepath.Join(t.TempDir(), "000001.ldb")
		require.NoError(t, os.WriteFile(path, file, 0o600))

		status, d := kindsJSON(t, "-verify", path)
		require.Equal(t, exitCannotRun, status)
		require.Equal(t, "unverified", d.Tables[0].Status)
		require.Equal(t, c.name+" in 1 of 4 filters: every key may be contained", d.Tables[0].Reason)
		require.Equal(t, map[string]int{c.name: 1, exactName: 3}, d.Tables[0].Encodings)

		status, out, _ := filterdump(t, path)
		require.Zero(t, status)
		require.True(t, strings.HasPrefix(out, "1 table unverified\n"), out)
		out = strings.Join(strings.Fields(out), " ")
		require.Contains(t, out, c.name+" in 1 of 4 filters: every key may be contained")
		require.Contains(t, out, "3 filters of LevelDB Bloom")
		require.Contains(t, out, "1 filter of "+c.name)

		status, out, _ = filterdump(t, "-key", "key00000", path)
		require.Zero(t, status)
		require.Contains(t, out, "filter 1 of 4, "+c.name+": may contain; it is in the table\n  "+c.name+": every key may be contained\n")
		require.NotContains(t, out, "hash")
	}
}

func mustFuse(t *testing.T) *policy.BinaryFuse {
	p, err := policy.NewBinaryFuse(12)
	require.NoError(t, err)
	return p
}

func mustExact(t *testing.T) *policy.Bloom {
	p, err := policy.NewBloom(10)
	require.NoError(t, err)
	return p
}
