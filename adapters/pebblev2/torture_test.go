package pebblev2_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

var target = torture.Target{
	OnDisk: func(_ testing.TB, dir string, f *torture.Faults) enginetest.Engine {
		return suiteEngine{faulty(vfs.Default, f), dir}
	},
	Volatile: volatile,
}

func TestTorture(t *testing.T) { torture.Run(t, target) }

func TestSoak(t *testing.T) { torture.Soak(t, target) }

// shortFile is a file of shortWrites.
type shortFile struct{ vfs.File }

// short wraps a file, if there is one: Pebble closes what is not nil.
func short(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return shortFile{f}, nil
}

func (f shortFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if errors.Is(err, torture.ErrShort) {
		n, _ = f.File.Write(p[:len(p)/2])
	}
	return n, err
}
