package pebblev2

import "testing"

// SetReadPrice sets readPrice for the rest of a test. With 0, every lookup may read.
func SetReadPrice(t testing.TB, price int) {
	former := readPrice
	t.Cleanup(func() { readPrice = former })
	readPrice = price
}
