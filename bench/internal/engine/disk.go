package engine

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/syndtr/goleveldb/leveldb/storage"
)

// A Disk makes reads of table data wait, as on a device that takes that long. It waits besides what
// the read itself takes, from the operating system's cache. The zero value makes none wait.
type Disk struct {
	latency atomic.Int64 // of a read, in nanoseconds
	reads   atomic.Int64
}

// SetLatency makes reads wait that long, from now on.
func (d *Disk) SetLatency(latency time.Duration) { d.latency.Store(int64(latency)) }

// Reads returns the number of reads so far.
func (d *Disk) Reads() int64 { return d.reads.Load() }

func (d *Disk) read() {
	d.reads.Add(1)
	if latency := time.Duration(d.latency.Load()); latency > 0 {
		wait(latency)
	}
}

// spinning is how long before its end a wait keeps the core busy. Waking up takes about as long.
const spinning = 5 * time.Microsecond

func wait(d time.Duration) {
	end := time.Now().Add(d)
	for left := d; left > 0; left = time.Until(end) {
		if left > spinning {
			sleep(left - spinning)
		}
	}
}

// readOf is what a wrapper of Pebble's file system is told of: every version has types of its own.
func (d *Disk) readOf(path string, isRead bool) error {
	if isRead && strings.HasSuffix(path, ".sst") {
		d.read()
	}
	return nil
}

// slowStorage is goleveldb's storage on a disk.
type slowStorage struct {
	storage.Storage
	disk *Disk
}

func (s *slowStorage) Open(fd storage.FileDesc) (storage.Reader, error) {
	r, err := s.Storage.Open(fd)
	if err == nil && fd.Type == storage.TypeTable {
		r = &slowReader{r, s.disk}
	}
	return r, err
}

type slowReader struct {
	storage.Reader
	disk *Disk
}

func (r *slowReader) ReadAt(p []byte, offset int64) (int, error) {
	r.disk.read()
	return r.Reader.ReadAt(p, offset)
}
