package pebblev2_test

import (
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
