//go:build amd64 && !purego

package policy

import "testing"

func TestBetweenUnreadablePagesWithoutAVX512(t *testing.T) {
	withoutAVX512(t)
	TestBetweenUnreadablePages(t)
}
