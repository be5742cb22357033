package goleveldb_test

import (
	"errors"
	"math/rand"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

// Storage that fails or loses what was not synced, for TestTorture.

// faultyStorage fails as its faults say.
type faultyStorage struct {
	storage.Storage
	faults *torture.Faults
}

// unlessFaulty accesses files, unless the access fails.
func unlessFaulty[T any](
	f *torture.Faults, write bool, access func() (T, error),
) (result T, err error) {
	if err := f.Next(write); err != nil {
		return result, err
	}
	return access()
}

func (s faultyStorage) SetMeta(fd storage.FileDesc) error {
	if err := s.faults.Next(true); err != nil {
		return err
	}
	return s.Storage.SetMeta(fd)
}

func (s faultyStorage) GetMeta() (storage.FileDesc, error) {
	return unlessFaulty(s.faults, false, s.Storage.GetMeta)
}

func (s faultyStorage) List(ft storage.FileType) ([]storage.FileDesc, error) {
	list := func() ([]storage.FileDesc, error) { return s.Storage.List(ft) }
	return unlessFaulty(s.faults, false, list)
}

func (s faultyStorage) Open(fd storage.FileDesc) (storage.Reader, error) {
	return unlessFaulty(s.faults, false, func() (storage.Reader, error) {
		r, err := s.Storage.Open(fd)
		return faultyReader{r, s.faults}, err
	})
}

func (s faultyStorage) Create(fd storage.FileDesc) (storage.Writer, error) {
	return unlessFaulty(s.faults, true, func() (storage.Writer, error) {
		w, err := s.Storage.Create(fd)
		return faultyWriter{w, s.faults}, err
	})
}

func (s faultyStorage) Remove(fd storage.FileDesc) error {
	if err := s.faults.Next(true); err != nil {
		return err
	}
	return s.Storage.Remove(fd)
}

type faultyReader struct {
	storage.Reader
	faults *torture.Faults
}

func (r faultyReader) Read(p []byte) (int, error) {
	return unlessFaulty(r.faults, false, func() (int, error) { return r.Reader.Read(p) })
}

func (r faultyReader) ReadAt(p []byte, offset int64) (int, error) {
	return unlessFaulty(r.faults, false, func() (int, error) { return r.Reader.ReadAt(p, offset) })
}

type faultyWriter struct {
	storage.Writer
	faults *torture.Faults
}

func (w faultyWriter) Write(p []byte) (n int, err error) {
	if err := w.faults.Next(true); err != nil {
		if errors.Is(err, torture.ErrShort) {
			n, _ = w.Writer.Write(p[:len(p)/2])
		}
		return n, err
	}
	return w.Writer.Write(p)
}

func (w faultyWriter) Sync() error {
	if err := w.faults.Next(true); err != nil {
		return err
	}
	return w.Writer.Sync()
}

func (w faultyWriter) Close() error {
	return errors.Join(w.faults.Next(true), w.Writer.Close())
}

// forgetful is storage in memory that knows what was synced. As goleveldb's own storage of files
// does, it syncs the file CURRENT whenever that is set. Names of files are always kept.
type forgetful struct {
	storage.Storage
	mu    sync.Mutex
	files map[storage.FileDesc]*forgetfulFile
}

type forgetfulFile struct {
	content []byte
	synced  int // bytes
}

func newForgetful() *forgetful {
	return &forgetful{
		Storage: storage.NewMemStorage(),
		files:   map[storage.FileDesc]*forgetfulFile{},
	}
}

func (s *forgetful) Create(fd storage.FileDesc) (storage.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.Storage.Create(fd)
	if err != nil {
		return nil, err
	}
	s.files[fd] = &forgetfulFile{}
	return forgetfulWriter{w, s, s.files[fd]}, nil
}

func (s *forgetful) Remove(fd storage.FileDesc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, fd)
	return s.Storage.Remove(fd)
}

type forgetfulWriter struct {
	storage.Writer
	storage *forgetful
	file    *forgetfulFile
}

func (w forgetfulWriter) Write(p []byte) (int, error) {
	w.storage.mu.Lock()
	defer w.storage.mu.Unlock()
	w.file.content = append(w.file.content, p...)
	return w.Writer.Write(p)
}

func (w forgetfulWriter) Sync() error {
	w.storage.mu.Lock()
	defer w.storage.mu.Unlock()
	w.file.synced = len(w.file.content)
	return w.Writer.Sync()
}

// afterCrash returns storage with what was synced, and with any part of what was written later.
func (s *forgetful) afterCrash(rng *rand.Rand) *forgetful {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := newForgetful()
	lose := rng.Intn(3)
	for fd, file := range s.files {
		n := file.synced
		switch rest := len(file.content) - n; lose {
		case 0: // all of it
		case 1:
			n += rng.Intn(rest + 1)
		case 2:
			n += rest
		}
		w, err := after.Create(fd)
		if err != nil {
			panic(err)
		}
		_, err = w.Write(file.content[:n])
		if err = errors.Join(err, w.Sync(), w.Close()); err != nil {
			panic(err)
		}
	}
	if meta, err := s.GetMeta(); err == nil { // else there is none yet
		if err := after.SetMeta(meta); err != nil {
			panic(err)
		}
	}
	return after
}

func volatileOn(s *forgetful) torture.Volatile {
	return torture.Volatile{
		Engine: suiteEngine{s},
		Ways:   batches,
		Cut: func(rng *rand.Rand) (restore func() torture.Volatile) {
			after := s.afterCrash(rng)
			return func() torture.Volatile { return volatileOn(after) }
		},
	}
}

var target = torture.Target{
	Ways: batches,
	OnDisk: func(t testing.TB, dir string, f *torture.Faults) enginetest.Engine {
		files, err := storage.OpenFile(filepath.Join(dir, "db"), false)
		require.NoError(t, err)
		t.Cleanup(func() { files.Close() })
		return suiteEngine{faultyStorage{files, f}}
	},
	Volatile: func(testing.TB) torture.Volatile { return volatileOn(newForgetful()) },
}

func TestTorture(t *testing.T) { torture.Run(t, target) }

func TestSoak(t *testing.T) { torture.Soak(t, target) }

// batches leaves out transactions. After a crash, goleveldb loses batches that it acknowledged if
// there were transactions before; and lookups beside transactions find old versions of keys (see
// .github/TESTING.md). Flush uses one, but commits nothing.
const batches = 1
