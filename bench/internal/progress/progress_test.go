package progress

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	var b bytes.Buffer
	l := &lines{out: &b}
	l.Start(10)
	l.start = time.Now().Add(-3 * time.Second) // as if the first step had taken 3 seconds
	l.step = 1
	l.Next("loading")
	l.Next("reading")
	l.Done()
	require.Equal(t, "[ 2/10] loading (about 27s left)\n[ 3/10] reading (about 12s "+
		"left)\n", b.String())
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := &bar{out: &out}
	b.Start(2)
	b.Next("loading")
	time.Sleep(300 * time.Millisecond) // it draws now and then
	b.Next("reading")
	b.Done()
	require.Contains(t, out.String(), "loading")
	require.True(
		t,
		strings.Contains(out.String(), "100.00%") || strings.Contains(out.String(), "done!"),
		out.String(),
	)
}

func TestAFileGetsLines(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	require.IsType(t, &lines{}, New(file))
}
