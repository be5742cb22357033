//go:build !linux

package main

// limitMemory does nothing: few systems bound the addresses of a process.
func limitMemory() {}
