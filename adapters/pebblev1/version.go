package pebblev1

import "github.com/cockroachdb/pebble"

// This file has what differs between Pebble v1 and v2, apart from the levels. The files that do not
// differ are generated from package pebblev2.
//
//go:generate go run ../internal/genpebblev1

// hidesFilter reports whether Pebble does not report the properties of t: v1 reports all.
func hidesFilter(pebble.SSTableInfo) bool { return false }
