package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A database with more tables than the process may have files open is read all the same.
func TestFewFiles(t *testing.T) {
	for i, stored := range stored[2:] {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS("../../../../testdata/"+stored)))
		ext := []string{".ldb", ".sst", ".sst"}[i]
		for n := range 300 {
			name := filepath.Join(dir, fmt.Sprintf("%06d%s", 100+n, ext))
			require.NoError(t, os.WriteFile(name, nil, 0o600))
		}
		var before syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
		few := before
		few.Cur = uint64(openFiles(t)) + 200
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
		v, err := NewView(dir)
		restored := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
		require.NoError(t, restored)
		require.NoError(t, err)
		require.Len(t, v.Tables, 303)
		require.Less(t, len(v.held), int(few.Cur)/2+1)
		require.NotEmpty(t, v.held)
		require.Len(t, tablesOf(t, v), 3)
		v.Close()
	}
}
