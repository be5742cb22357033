package goleveldb

import (
	"bytes"
	"encoding/binary"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"
)

const sampleSize = 2 << 20 // bytes of tables

// estimate returns the bytes of all filters, and of all indexes, in memory, of a database whose
// tables have size bytes. It measures a sample, a table in memory, and scales that up.
func estimate(o *opt.Options, db *leveldb.DB, size int64) (filters, indexes uint64, err error) {
	if size == 0 {
		return 0, 0, nil
	}
	inTable := TableOptions(o)
	var file bytes.Buffer
	s := &sampler{
		db: db, order: o.GetComparer(), table: table.NewWriter(&file, inTable, nil, 0),
		entries: db.NewIterator(nil, &opt.ReadOptions{DontFillCache: true}),
		stretch: size / 64,
		part:    min(1, sampleSize/float64(size)),
	}
	defer s.entries.Release()
	if err := s.takeAll(size); err != nil {
		return 0, 0, err
	}
	if err := s.table.Close(); err != nil || s.table.EntriesLen() == 0 {
		return 0, 0, err
	}
	filter, index, err := cached(inTable, file.Bytes())
	scale := float64(size) / float64(file.Len())
	return uint64(float64(filter) * scale), uint64(float64(index) * scale), err
}

// cached returns what the filter and the index of a table add to a block cache.
func cached(inTable *opt.Options, file []byte) (filter, index int, err error) {
	blocks := cache.NewCache(cache.NewLRU(1 << 30))
	r, err := table.NewReader(bytes.NewReader(file), int64(len(file)), storage.FileDesc{},
		&cache.NamespaceGetter{Cache: blocks}, nil, inTable)
	if err != nil {
		return 0, 0, err
	}
	defer r.Release()
	key := SearchKey(nil)
	if _, err := r.OffsetOf(key); err != nil { // reads the index
		return 0, 0, err
	}
	index = blocks.Size()
	_, _, err = r.Find(key, true, &opt.ReadOptions{DontFillCache: true}) // and the filter
	if err == leveldb.ErrNotFound {
		err = nil
	}
	return blocks.Size() - index, index, err
}

// A sampler writes entries from all over a database to a table. It takes as many from each stretch
// of keys as suits its bytes: entries that differ in size often have prefixes of their own.
type sampler struct {
	db      *leveldb.DB
	order   comparer.Comparer
	entries iterator.Iterator
	table   *table.Writer
	stretch int64   // bytes that entries in a row may stand for
	part    float64 // of the database's bytes, which the sample takes
	bytes   float64 // which the sample should have by now
}

func (s *sampler) takeAll(size int64) error {
	if !s.entries.Last() {
		return s.entries.Error() // all keys are deleted
	}
	last := bytes.Clone(s.entries.Key())
	s.entries.First()
	return s.take(bytes.Clone(s.entries.Key()), last, size, 64)
}

// take adds entries with keys from first to last, which have size bytes in tables. It halves the
// keys, at most depth times, until no part has more than a stretch.
func (s *sampler) take(first, last []byte, size int64, depth int) error {
	if size <= s.stretch || depth == 0 {
		return s.add(first, last, size)
	}
	left, right := s.halve(first, last)
	if left == nil {
		return s.add(first, last, size)
	}
	sizes, err := s.db.SizeOf([]util.Range{
		{Start: first, Limit: append(left, 0)}, {Start: right, Limit: append(last, 0)}})
	if err != nil {
		return err
	}
	if err := s.take(first, left, sizes[0], depth-1); err != nil {
		return err
	}
	return s.take(right, last, sizes[1], depth-1)
}

// halve returns two keys in a row from the middle between two others, or nil if it finds none.
func (s *sampler) halve(first, last []byte) (left, right []byte) {
	if !s.entries.Seek(middle(first, last)) {
		return nil, nil
	}
	right = bytes.Clone(s.entries.Key())
	if !s.entries.Prev() {
		return nil, nil
	}
	left = bytes.Clone(s.entries.Key())
	// The middle lies between first and last in the order of bytes. The database may have another.
	if s.order.Compare(first, left) > 0 || s.order.Compare(right, last) > 0 {
		return nil, nil
	}
	return left, right
}

// middle returns a key above first, and not above last, about halfway between them.
func middle(first, last []byte) []byte {
	same := 0
	for same < min(len(first), len(last)) && first[same] == last[same] {
		same++
	}
	var from, to [8]byte
	copy(from[:], first[same:])
	copy(to[:], last[same:])
	low, high := binary.BigEndian.Uint64(from[:]), binary.BigEndian.Uint64(to[:])
	if high <= low+1 { // or last would be larger
		return last
	}
	return binary.BigEndian.AppendUint64(bytes.Clone(first[:same]), low+(high-low)/2)
}

// add adds entries from first on, at most to last, until the sample has its part of size bytes.
func (s *sampler) add(first, last []byte, size int64) error {
	s.bytes += float64(size) * s.part
	for ok := s.entries.Seek(first); ok && s.order.Compare(s.entries.Key(), last) <= 0 &&
		float64(s.table.BytesLen()) < s.bytes; ok = s.entries.Next() {
		// Numbers of writes in no order, as large as after 16 million: they do not compress.
		sequence := uint64(s.table.EntriesLen()) * 0x9e3779b1 % (1 << 24)
		key := binary.LittleEndian.AppendUint64(bytes.Clone(s.entries.Key()), sequence<<8|kindValue)
		if err := s.table.Append(key, s.entries.Value()); err != nil {
			return err
		}
	}
	return s.entries.Error()
}
