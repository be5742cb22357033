package pebblev2_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/remote"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var lookups = flag.Int("lookups", 100_000,
	"how many lookups TestGetRandomly compares with those of Reader.Get")

// Get, Has, HasMany and MayContain answer what Reader.Get does, on every kind of reader, after
// every kind of write, from tables with the mark, without, and with other properties. Rewrite
// changes nothing for any reader.
func TestGetRandomly(t *testing.T) {
	rng := testkit.Rand(t, enginetest.Seed())
	lookups := *lookups / len(formats) / len(getComparers)
	if testing.Short() {
		lookups /= 10
	}
	// Of all runs: in a short one all of L6 may happen to be without filters.
	var compared, found int
	var avoided uint64
	for _, format := range formats {
		for _, comparer := range getComparers {
			t.Run(fmt.Sprintf("%s/%s", format, comparer.Name), func(t *testing.T) {
				if testkit.Race && comparer.Name == "levelbloom.test.versions" {
					t.Skip("Pebble's own checks take equal keys for equal bytes")
				}
				l6 := bloom(t, 5, policy.WithName("l6"), policy.WithCounters())
				d := &differ{
					t: t, rng: rng, fs: vfs.NewMem(), format: format, comparer: comparer,
					remote: remote.NewInMem(), l6: l6,
				}
				d.open()
				for range 2000 {
					d.write()
				}
				require.NoError(t, compactAll(d.db)) // L6 has tables, with filters
				for d.compared < lookups {
					d.write()
					d.compare()
				}
				d.close()
				t.Logf("%d lookups, %d found, %d errors; %d rewritten, %d refused",
					d.compared, d.found, d.errors, d.rewritten, d.refused)
				compared, found = compared+d.compared, found+d.found
				avoided += l6.Counters().Absent
			})
		}
	}
	require.Greater(t, found, compared/10)
	require.Less(t, found, compared*9/10)
	require.Greater(t, avoided, uint64(compared/100))
}

// differ is a database that is written to at random, and its readers.
type differ struct {
	t        testing.TB
	rng      *rand.Rand
	fs       *vfs.MemFS
	format   pebble.FormatMajorVersion
	comparer *pebble.Comparer
	remote   remote.Storage
	l6       *policy.Policy // the policy of L6

	options   *pebble.Options
	db        *pebble.DB
	batches   []*pebble.Batch // indexed and not yet committed
	snapshots []closableReader
	tables    int // written for ingestion
	once      int // keys that were set once

	compared, found, errors int
	rewritten, refused      int // parts, calls of Rewrite
}

type closableReader interface {
	pebble.Reader
	io.Closer
}

// open opens the database with other options than before, and lets more or fewer lookups read.
func (d *differ) open() {
	pebblev2.SetReadPrice(d.t, []int{0, 1, 512}[d.rng.Intn(3)])
	bits := func() float64 { return []float64{1, 10}[d.rng.Intn(2)] }
	o := &pebble.Options{
		FS:                    d.fs,
		FormatMajorVersion:    d.format,
		Comparer:              d.comparer,
		MemTableSize:          64 << 10,
		LBaseMaxBytes:         32 << 10,
		L0CompactionThreshold: 2,
		Logger:                quiet{},
	}
	if d.rng.Intn(2) == 0 {
		o.Cache = pebble.NewCache(int64(128<<10 + d.rng.Intn(256<<10))) // and two memtables
		d.t.Cleanup(o.Cache.Unref)
	}
	o.Experimental.RemoteStorage = remote.MakeSimpleFactory(
		map[remote.Locator]remote.Storage{"": d.remote})
	if d.format == pebble.FormatNewest && d.rng.Intn(2) == 0 {
		o.Experimental.CreateOnShared = remote.CreateOnSharedAll
	}
	smallBlocks(o)
	flat(o, 16<<10)
	if d.rng.Intn(2) == 0 {
		keepApart(o)
	}
	var l6 []pebblev2.Option
	if d.compared == 0 || d.rng.Intn(2) == 0 {
		l6 = append(l6, pebblev2.WithLevel(6, d.l6))
	}
	name := fmt.Sprint("name", d.rng.Intn(3)) // so that Rewrite finds old tables
	configured(d.t, o, bloom(d.t, bits(), policy.WithName(name)), l6...)
	o.Filters[d.l6.Name()] = pebblev2.New(d.l6)
	d.changeCollectors(o)
	d.options, d.comparer = o, o.Comparer // in v1, Configure gives that a Split
	d.db = open(d.t, "db", o)
	require.NoError(d.t, d.db.SetCreatorID(1))
}

// changeCollectors leaves the mark alone, or takes it away, puts it after one of the user's, or
// gives blocks a property under the mark's name.
func (d *differ) changeCollectors(o *pebble.Options) {
	if len(o.BlockPropertyCollectors) == 0 {
		return // the format has none
	}
	mark := o.BlockPropertyCollectors[0]
	named := func(name string) func() pebble.BlockPropertyCollector {
		return func() pebble.BlockPropertyCollector { return &busy{mark(), name, 0} }
	}
	o.BlockPropertyCollectors = [][]func() pebble.BlockPropertyCollector{
		{mark}, {mark}, nil, {named("users"), mark}, {mark, named("users")}, {named(mark().Name())},
	}[d.rng.Intn(6)]
}

// busy is a collector that gives every third block a property.
type busy struct {
	pebble.BlockPropertyCollector
	name   string
	blocks int
}

func (b *busy) Name() string { return b.name }

func (b *busy) FinishDataBlock(buf []byte) ([]byte, error) {
	if b.blocks++; b.blocks%3 == 0 {
		buf = append(buf, 'x')
	}
	return buf, nil
}

func (d *differ) close() {
	for _, b := range d.batches {
		require.NoError(d.t, b.Close())
	}
	for _, s := range d.snapshots {
		require.NoError(d.t, s.Close())
	}
	d.batches, d.snapshots = nil, nil
	require.NoError(d.t, d.db.Close())
}

// closeSnapshots closes the snapshots that would lose the keys of an excised range, at some later
// time. An EventuallyFileOnlySnapshot keeps them, or returns an error.
func (d *differ) closeSnapshots() {
	d.snapshots = slices.DeleteFunc(d.snapshots, func(s closableReader) bool {
		_, loses := s.(*pebble.Snapshot)
		if loses {
			require.NoError(d.t, s.Close())
		}
		return loses
	})
}

const prefixes = 120

// prefix returns one of few prefixes. Some are longer than blocks.
func (d *differ) prefix() []byte {
	i := 1 + d.rng.Intn(prefixes-1)
	prefix := fmt.Appendf(nil, "k%03d", i)
	if i%40 == 39 {
		prefix = append(prefix, bytes.Repeat([]byte{'x'}, 3000)...)
	}
	return prefix
}

// key returns a prefix, mostly with a version, which may have zeros in front.
func (d *differ) key() []byte {
	key := d.prefix()
	if v := d.rng.Intn(6); v > 0 {
		key = fmt.Appendf(append(key, '@'), "%0*d", 1+d.rng.Intn(6)/5, v)
	}
	return key
}

// span returns two different prefixes in order, mostly near each other.
func (d *differ) span() (start, end []byte) {
	i := 1 + d.rng.Intn(prefixes-1)
	n := 1 + d.rng.Intn(3)
	if d.rng.Intn(50) == 0 {
		n = 1 + d.rng.Intn(prefixes-i)
	}
	return fmt.Appendf(nil, "k%03d", i), fmt.Appendf(nil, "k%03d", i+n)
}

// value is empty, short, or long enough to be stored apart from its key.
func (d *differ) value() []byte {
	return bytes.Repeat([]byte{byte('a' + d.rng.Intn(20))}, []int{0, 1, 10, 200}[d.rng.Intn(4)])
}

// write changes the database or its readers.
func (d *differ) write() {
	var err error
	switch n := d.rng.Intn(1000); {
	case n < 700:
		err = d.change()
	case n < 730:
		start, end := d.span()
		err = d.ingest(start, end)
	case n < 740:
		err = d.db.Flush()
	case n < 742:
		err = compactAll(d.db)
	case n < 744:
		err = download(d.db, d.rng.Intn(2) == 0)
	case n < 749:
		err = d.rewrite()
	case n < 754:
		d.close()
		d.open()
	case n < 820:
		d.batches = append(d.batches, d.db.NewIndexedBatch())
	case n < 870:
		d.snapshots = append(d.snapshots, d.db.NewSnapshot())
	case n < 890:
		d.snapshots = append(d.snapshots, d.db.NewEventuallyFileOnlySnapshot(
			[]pebble.KeyRange{{Start: []byte("a"), End: []byte("z")}}))
	case n < 940 && len(d.batches) > 0:
		i := d.rng.Intn(len(d.batches))
		if d.rng.Intn(3) > 0 {
			err = d.batches[i].Commit(pebble.NoSync)
		}
		require.NoError(d.t, d.batches[i].Close())
		d.batches = slices.Delete(d.batches, i, i+1)
	case len(d.snapshots) > 0:
		i := d.rng.Intn(len(d.snapshots))
		err = d.snapshots[i].Close()
		d.snapshots = slices.Delete(d.snapshots, i, i+1)
	}
	require.NoError(d.t, err)
}

// rewrite calls Rewrite, often after new options made tables old. It changes nothing that iterators
// show. It refuses old formats and range keys without suffix, if there is an old table.
func (d *differ) rewrite() error {
	if d.rng.Intn(2) == 0 {
		d.close()
		d.open()
	}
	takes := rewrites(d.db.FormatMajorVersion()) // or it has no range keys
	var all []string
	for i, r := range append([]closableReader{d.db}, d.snapshots...) {
		if _, mayFail := r.(*pebble.EventuallyFileOnlySnapshot); mayFail || !takes {
			continue
		}
		before := rangesAndKeys(d.t, r)
		defer func() { require.Equal(d.t, before, rangesAndKeys(d.t, r)) }()
		if i == 0 {
			all = before
		}
	}
	err := pebblev2.Rewrite(context.Background(), d.options, d.db, func(_, _ int64) { d.rewritten++ })
	refused := !takes || slices.ContainsFunc(all, func(entry string) bool {
		return strings.Contains(entry, plainRangeKey)
	})
	if err != nil && refused {
		d.refused++
		return nil
	}
	return err
}

// change writes to the database or to a batch.
func (d *differ) change() error {
	var w pebble.Writer = d.db
	if i := d.rng.Intn(len(d.batches) + 2); i < len(d.batches) {
		w = d.batches[i]
	}
	switch n := d.rng.Intn(100); {
	case n < 50:
		return w.Set(d.key(), d.value(), pebble.NoSync)
	case n < 70:
		return w.Merge(d.key(), d.value(), pebble.NoSync)
	case n < 80:
		return w.Delete(d.key(), pebble.NoSync)
	case n < 85 && d.format == pebble.FormatNewest:
		return w.DeleteSized(d.key(), uint32(d.rng.Intn(300)), pebble.NoSync)
	case n < 87:
		start, end := d.span()
		return w.DeleteRange(start, end, pebble.NoSync)
	case n < 93 && d.format == pebble.FormatNewest:
		return d.changeRangeKeys(w)
	default:
		return d.setOnce()
	}
}

// changeRangeKeys sets, removes or deletes range keys, a few of them without suffix.
func (d *differ) changeRangeKeys(w pebble.Writer) error {
	start, end := d.span()
	suffix := []byte("@3")
	if d.rng.Intn(15) == 0 {
		suffix = nil
	}
	switch n := d.rng.Intn(10); {
	case n == 0:
		return w.RangeKeyDelete([]byte("k"), []byte("l"), pebble.NoSync)
	case n < 3:
		return w.RangeKeyUnset(start, end, suffix, pebble.NoSync)
	}
	return w.RangeKeySet(start, end, suffix, d.value(), pebble.NoSync)
}

// setOnce sets a key that nothing else writes, and deletes an older one with SingleDelete. In old
// formats that allows a key to be set only once: what lies below could come back.
func (d *differ) setOnce() error {
	d.once++
	if d.once > 20 {
		if err := d.db.SingleDelete(onceKey(d.once-20), pebble.NoSync); err != nil {
			return err
		}
	}
	return d.db.Set(onceKey(d.once), d.value(), pebble.NoSync)
}

func onceKey(i int) []byte { return fmt.Appendf(nil, "once%d", i) }

// ingest adds a table, in one of several ways, with a key or none for each prefix from start to
// before end.
func (d *differ) ingest(start, end []byte) error {
	var changes []enginetest.Change
	number := func(prefix []byte) int { i, _ := strconv.Atoi(string(prefix[1:])); return i }
	for i := number(start); i < number(end); i++ {
		if d.rng.Intn(2) == 0 || len(changes) == 0 {
			key := fmt.Appendf(nil, "k%03d@%d", i, 1+d.rng.Intn(5))
			changes = append(changes, enginetest.Change{Key: key, Value: d.value()})
		}
	}
	d.tables++
	path := fmt.Sprintf("table-%d", d.tables)
	if d.format == pebble.FormatNewest {
		switch d.rng.Intn(3) {
		case 0:
			d.closeSnapshots()
			require.NoError(d.t, writeTableFor(d.db, d.options, path, changes))
			return ingestAndExcise(d.db, path, start, end)
		case 1:
			var suffix []byte
			if d.comparer.Name != pebble.DefaultComparer.Name && d.rng.Intn(2) == 0 {
				suffix = []byte("@6")
			}
			return ingestExternal(d.db, d.options, d.remote, path, changes,
				pebble.KeyRange{Start: start, End: end}, suffix)
		}
	}
	require.NoError(d.t, writeTableFor(d.db, d.options, path, changes))
	return ingest(d.db, path)
}

// compare looks keys up on some reader: each alone, and then all of them, sorted or not.
func (d *differ) compare() {
	r := pebble.Reader(d.db)
	switch n := d.rng.Intn(len(d.batches) + len(d.snapshots) + 2); {
	case n < len(d.batches):
		r = d.batches[n]
	case n < len(d.batches)+len(d.snapshots):
		r = d.snapshots[n-len(d.batches)]
	}
	key := d.key
	switch d.rng.Intn(20) {
	case 0:
		key = func() []byte { return onceKey(d.once - d.rng.Intn(40)) }
	case 1, 2: // a prefix that nothing has, between two others
		key = func() []byte { return fmt.Appendf(nil, "k%03dx", 1+d.rng.Intn(prefixes-1)) }
	}
	keys := make([][]byte, d.rng.Intn(12))
	for i := range keys {
		keys[i] = key()
	}
	if d.rng.Intn(3) > 0 {
		slices.SortFunc(keys, d.comparer.Compare)
	}
	found := make([]bool, len(keys))
	var err error
	for i, key := range keys {
		want := requireSameAnswer(d.t, r, key)
		d.compared++
		found[i] = want.found
		switch {
		case want.found:
			d.found++
		case want.err != pebble.ErrNotFound:
			d.errors++
			err = want.err
		}
	}
	requireAllFound(d.t, r, keys, found, err)
}
