package tables_test

import (
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	v2 "github.com/cockroachdb/pebble/v2"
	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// smallTables returns a small table of each kind of block, index and compression.
func smallTables(t testing.TB) map[string]string {
	var points []pebblePoint
	for i := range 10 {
		for v := range 1 + i%3 {
			points = append(points, pebblePoint{
				key: fmt.Sprintf("key%02d@%d", i, v), seq: uint64(9 - v),
				kind:  v2.InternalKeyKindSet,
				value: []byte("value value value value"[:2*i]),
			})
		}
	}
	spec := pebbleSpec{points: points, bits: 10, blockSize: 150}
	paths := map[string]string{}
	for _, w := range pebbleWriters() {
		s := spec
		// then keys are in both columns
		s.comparer = map[bool]string{true: "test.split"}[w.columnar()]
		s.blobs = w.table == v2sst.TableFormatPebblev7
		s.compression = v2sst.NoCompression
		paths[w.name] = w.newTable(t, s)
		if w.table == v2sst.TableFormatMax {
			s.compression, s.blockSize = v2sst.ZstdCompression, 0
			paths[w.name+" zstd"] = w.newTable(t, s)
			s.compression = v2sst.MinLZCompression
			paths[w.name+" MinLZ"] = w.newTable(t, s)
			s.compression, s.xxHash = v2sst.SnappyCompression, true
			paths[w.name+" snappy"] = w.newTable(t, s)
		}
	}
	return paths
}

// A content is what a table has to tell.
type content struct {
	Policy string
	Filter []byte
	Keys   []string
}

// mostContent is more than the keys of all small tables take.
const mostContent = 1 << 16

var (
	errEndless      = errors.New("more than a small table has")
	errUndocumented = errors.New("an error of an undocumented type")
)

// contentOf opens and reads a table. A panic is an error, as the process that reads a table makes it
// one by its end.
func contentOf(path string) (c content, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &sstable.CorruptionError{
				File:   path,
				Offset: -1,
				Cause:  fmt.Errorf("panic: %v", p),
			}
		}
	}()
	table, err := tables.Open(path, tables.Options{})
	if err == nil {
		defer table.Close()
		if f := table.Info().Filters; f != nil {
			c.Policy, c.Filter = f.Policy, f.Each[0]
		}
		size := 0
		err = table.Keys(func(_ int, key []byte) error {
			if size += len(key) + 1; size > mostContent { // a wrong block can be read in circles
				return &sstable.CorruptionError{File: path, Offset: -1, Cause: errEndless}
			}
			c.Keys = append(c.Keys, string(key))
			return nil
		})
	}
	return c, err
}

// Damaged tables are read in another process, since Pebble's reader may corrupt its memory.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == readerArgument {
		requests, answers := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
		var path string
		for requests.Decode(&path) == nil {
			var a answer
			var err error
			if a.Content, err = contentOf(path); err != nil {
				a.Err = err.Error()
				a.Corrupt = errors.As(err, new(*sstable.CorruptionError))
				a.Unsupported = errors.As(err, new(*tables.UnsupportedError))
			}
			if answers.Encode(a) != nil {
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const readerArgument = "read-tables"

type answer struct {
	Content              content
	Err                  string
	Corrupt, Unsupported bool
}

// A reader reads tables in another process.
type reader struct {
	t        testing.TB
	process  *exec.Cmd
	requests *gob.Encoder
	answers  *gob.Decoder
	crashes  int
}

func newReader(t testing.TB) *reader {
	r := &reader{t: t}
	t.Cleanup(func() {
		r.end()
		t.Logf("%d crashes", r.crashes)
	})
	return r
}

func (r *reader) start() {
	self, err := os.Executable()
	require.NoError(r.t, err)
	r.process = exec.Command(self, readerArgument)
	stdin, err := r.process.StdinPipe()
	require.NoError(r.t, err)
	stdout, err := r.process.StdoutPipe()
	require.NoError(r.t, err)
	require.NoError(r.t, r.process.Start())
	r.requests, r.answers = gob.NewEncoder(stdin), gob.NewDecoder(stdout)
}

func (r *reader) end() {
	if r.process != nil {
		_ = r.process.Process.Kill() // it may have ended
		_ = r.process.Wait()
		r.process = nil
	}
}

// read is contentOf. A crash is an error, and so is no answer for a long time. An error of an
// undocumented type must not come from a new process, whose memory nothing has corrupted yet.
func (r *reader) read(path string) (content, error) {
	c, err := r.ask(path)
	if errors.Is(err, errUndocumented) {
		r.crashes++
		r.end()
		c, err = r.ask(path)
		require.NotErrorIs(r.t, err, errUndocumented)
	}
	return c, err
}

func (r *reader) ask(path string) (content, error) {
	if r.process == nil {
		r.start()
	}
	process := r.process.Process
	late := time.AfterFunc(10*time.Second, func() { _ = process.Kill() })
	defer late.Stop()
	var a answer
	err := r.requests.Encode(path)
	if err == nil {
		err = r.answers.Decode(&a)
	}
	if err != nil {
		r.crashes++
		r.end()
		a = answer{Err: fmt.Sprintf("crashed: %v", err), Corrupt: true}
	}
	switch {
	case a.Err == "":
		return a.Content, nil
	case a.Corrupt:
		cause := errors.New(a.Err)
		return a.Content, &sstable.CorruptionError{File: path, Offset: -1, Cause: cause}
	case a.Unsupported:
		return a.Content, &tables.UnsupportedError{Path: path, Cause: a.Err}
	}
	return a.Content, fmt.Errorf("%w: %s", errUndocumented, a.Err)
}

// A damage makes something else of a table's content, at one of many places. It may do so in the
// content's memory.
type damage func(table []byte, place int) []byte

// eachDamaged calls f with a file for each place from begin to end, some steps apart.
func eachDamaged(
	t *testing.T,
	table []byte,
	begin, end, step int,
	d damage,
	f func(path string, place int),
) {
	path := filepath.Join(t.TempDir(), "000001.sst")
	file,
		// opened once: some file systems write a file to disk that was truncated to 0
		err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	buf := make([]byte, len(table))
	for place := begin; place < end; place += step {
		copy(buf, table)
		damaged := d(buf, place)
		require.NoError(t, file.Truncate(int64(len(damaged))))
		_, err := file.WriteAt(damaged, 0)
		require.NoError(t, err)
		f(path, place)
	}
}

// sparse returns how many places apart damages are that differ little: more where the same was done
// in another format.
func sparse(name string) int {
	switch full := slices.Contains([]string{"v1 (Pebble,v4)", "v2 (Pebble,v1)", "v2 (Pebble,v5)",
		"v2 (Pebble,v7)"}, name); {
	case testing.Short():
		return 61
	case full:
		return 1
	default:
		return 11
	}
}

func flipBit(table []byte, bit int) []byte {
	table[bit/8] ^= 1 << (bit % 8)
	return table
}

func TestPebbleFlippedBits(t *testing.T) {
	for name, original := range smallTables(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := newReader(t)
			want, err := reader.read(original)
			require.NoError(t, err)
			table := readFile(t, original)
			footer := len(table) - pebbleFooterSize(t, original)
			// A checksum protects the blocks: 9 bits apart, every byte has its turn, and every bit
			// of some.
			tried, errs := 0, 0
			check := func(path string, bit int) {
				tried++
				got, err := reader.read(path)
				if err != nil {
					errs++
					return
				}
				require.Equal(t, want, got, "bit %d of byte %d", bit%8, bit/8)
			}
			eachDamaged(t, table, 0, 8*footer, 9*sparse(name), flipBit, check)
			require.Greater(t, errs, 8*tried/10, "value blocks and ranges are not looked at")
			eachDamaged(t, table, 8*footer, 8*len(table), 1, flipBit, check)
		})
	}
}

func TestPebbleTruncated(t *testing.T) {
	for name, original := range smallTables(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := readFile(t, original)
			footer := len(table) - pebbleFooterSize(t, original)
			reader := newReader(t)
			check := func(path string, place int) {
				_, err := reader.read(path)
				require.Error(t, err, "%d", place)
			}
			eachDamaged(t, table, 0, len(table), sparse(name), func(table []byte, n int) []byte {
				return table[:n]
			}, check)
			// The end of a table alone.
			eachDamaged(t, table, 0, 100, 1, func(table []byte, n int) []byte {
				return table[len(table)-n:]
			}, check)
			// Some bytes before the footer are missing, or one.
			eachDamaged(t, table, 0, footer, 3*sparse(name), func(table []byte, n int) []byte {
				return slices.Delete(table, n, footer)
			}, check)
			eachDamaged(t, table, 0, footer, 3*sparse(name), func(table []byte, at int) []byte {
				return slices.Delete(table, at, at+1)
			}, check)
		})
	}
}

// Wrong bytes under a right checksum are an error, or read as something else. Pebble's reader would
// follow them anywhere.
func TestPebbleFlippedBitsWithChecksums(t *testing.T) {
	for name, original := range smallTables(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := readFile(t, original)
			blocks, checksum := pebbleLayout(t, original)
			tried, errs := 0, 0
			reader := newReader(t)
			for _, h := range blocks {
				begin, end := int(h.Offset),
					int(h.Offset+h.Length)+1 // with the byte for the compression
				eachDamaged(
					t,
					table,
					8*begin,
					8*end,
					3*sparse(name),
					func(table []byte, bit int) []byte {
						flipBit(table, bit)
						sign(table, h, checksum)
						return table
					},
					func(path string, bit int) {
						tried++
						if _, err := reader.read(path); err != nil {
							errs++
						}
					},
				)
			}
			require.Greater(t, errs, tried/50)
		})
	}
}

// sign writes the checksum of a block behind it.
func sign(table []byte, h block.Handle, kind block.ChecksumType) {
	var sums block.Checksummer
	sums.Init(kind)
	trailer := table[h.Offset+h.Length:]
	binary.LittleEndian.PutUint32(trailer[1:],
		sums.Checksum(table[h.Offset:h.Offset+h.Length], trailer[0]))
}

// pebbleLayout returns the blocks that are read for the keys and the filter, and the kind of
// checksums.
func pebbleLayout(t testing.TB, path string) (blocks []block.Handle, checksum block.ChecksumType) {
	r := pebbleReader(t, path)
	layout, err := r.Layout()
	require.NoError(t, err)
	for _, h := range layout.Data {
		blocks = append(blocks, h.Handle)
	}
	blocks = append(blocks, layout.Index...)
	blocks = append(blocks, layout.Properties, layout.MetaIndex)
	if layout.TopIndex.Length > 0 {
		blocks = append(blocks, layout.TopIndex)
	}
	for _, h := range layout.Filter {
		blocks = append(blocks, h.Handle)
	}
	return blocks, r.BlockReader().ChecksumType()
}

func pebbleFooterSize(t testing.TB, path string) int {
	format, err := pebbleReader(t, path).TableFormat()
	require.NoError(t, err)
	return format.FooterSize()
}
