//go:build !amd64 || purego

package policy

// forEachLoop runs f.
func forEachLoop(f func(loop string)) { f("plain Go") }
