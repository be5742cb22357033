package torture

import "testing"

func testWrongBytes(t *testing.T, target Target) {}
