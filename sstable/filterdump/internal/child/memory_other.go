//go:build !linux

package child

// limitMemory does nothing: few systems bound the addresses of a process.
func limitMemory() {}
