package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/internal/torture"
)

var target = torture.Target{OnDisk: func(_ testing.TB, dir string) enginetest.Engine {
	return suiteEngine{vfs.Default, dir}
}}

func TestKill(t *testing.T) { torture.Kill(t, target) }

func TestSoak(t *testing.T) { torture.Soak(t, target) }
