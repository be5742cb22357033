package main

import (
	"fmt"
	"io"
	"time"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// progress returns a function that says on standard error what is being done, once after each tick.
func progress(stderr io.Writer, tick <-chan time.Time) func(format string, args ...any) {
	return func(format string, args ...any) {
		select {
		case <-tick:
			fmt.Fprintln(stderr, "filterdump:", scan.Printable(fmt.Sprintf(format, args...)))
		default:
		}
	}
}
