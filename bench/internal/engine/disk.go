package engine

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
)

// A Disk adds a latency to reads of table data, which themselves are from the operating system's
// cache. The zero value adds none.
type Disk struct {
	Latency atomic.Int64 // of reads from now on, in nanoseconds
	Reads   atomic.Int64 // so far
}

// read counts a read and waits. It keeps the core busy: time.Sleep takes a millisecond if nothing
// else is to be done, and is no time of the thread.
func (d *Disk) read() {
	d.Reads.Add(1)
	latency := time.Duration(d.Latency.Load())
	if latency == 0 {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for end := filters.Now() + latency; filters.Now() < end; {
	}
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
