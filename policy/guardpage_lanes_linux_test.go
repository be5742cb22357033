//go:build amd64 && !purego

package policy

import "testing"

func TestBetweenUnreadablePagesWithoutLanes(t *testing.T) {
	withoutLanes(t)
	TestBetweenUnreadablePages(t)
}
