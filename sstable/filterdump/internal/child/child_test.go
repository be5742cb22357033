package child

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	Serve()
	m.Run()
}

var (
	double = New("double", func(n int) (int, error) { return 2 * n, nil })
	fail   = New("fail", func(string) (int, error) { return 0, errors.New("of the task\nover") })
	crash  = New("crash", func(string) (int, error) { panic("over") })
	hang   = New("hang", func(int) (int, error) { select {} })
	kill   = New("kill", func(int) (int, error) {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	})
	environment = New("environment", func(name string) (string, error) {
		return os.Getenv(name), nil
	})
	chatter = New("chatter", func(int) ([]byte, error) { return make([]byte, 1<<27), nil })
)

func TestRun(t *testing.T) {
	ctx := context.Background()
	n, err := double.Run(ctx, time.Minute, 21)
	require.NoError(t, err)
	require.Equal(t, 42, n)
	processors, err := environment.Run(ctx, time.Minute, "GOMAXPROCS")
	require.NoError(t, err)
	require.Equal(t, "1", processors)

	_, err = fail.Run(ctx, time.Minute, "")
	require.EqualError(t, err, "of the task\nover")
	require.NotErrorIs(t, err, ErrCrashed)
	_, err = crash.Run(ctx, time.Minute, "")
	require.ErrorIs(t, err, ErrCrashed)
	require.NotErrorIs(t, err, ErrMemory)
	require.EqualError(t, err, "the engine's reader crashed: panic: over")
	_, err = chatter.Run(ctx, time.Minute, 0)
	require.ErrorIs(t, err, ErrCrashed)
	_, err = kill.Run(ctx, time.Minute, 0)
	require.ErrorIs(t, err, ErrMemory)
	require.ErrorIs(t, err, ErrCrashed)
	_, err = hang.Run(ctx, 100*time.Millisecond, 0)
	require.ErrorIs(t, err, ErrTooLong)
	_, err = double.Run(ctx, 0, 0) // before it starts
	require.ErrorIs(t, err, ErrTooLong)
	interrupted, cancel := context.WithCancel(ctx)
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = hang.Run(interrupted, time.Minute, 0)
	require.ErrorIs(t, err, context.Canceled)
}

// A program whose file is gone, as after an update, says so.
func TestNoChild(t *testing.T) {
	defer func() { executable = os.Executable }()
	executable = func() (string, error) { return filepath.Join(t.TempDir(), "gone"), nil }
	_, err := double.Run(context.Background(), time.Minute, 0)
	require.ErrorContains(t, err, "no process to read it: ")
	require.NotErrorIs(t, err, os.ErrNotExist)
}

// parent is a child with a child of its own, which connects to an address.
var parent = New("parent", func(address string) (string, error) {
	_, _ = visitor.Run(context.Background(), time.Minute, address)
	return "", nil
})

// visitor says that it has come, and, if nothing ends it, that it is still there.
var visitor = New("visitor", func(address string) (string, error) {
	c, _ := net.Dial("tcp", address)
	_, _ = c.Write([]byte("here"))
	for start := time.Now(); time.Since(start) < 30*time.Second; { // as a reader that hangs
	}
	_, _ = c.Write([]byte("still here"))
	return "", nil
})

// The child of a program that is killed ends.
func TestParentIsKilled(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _, _ = parent.Run(ctx, time.Minute, l.Addr().String()) }()
	c, err := l.Accept()
	require.NoError(t, err)
	defer c.Close()
	here := make([]byte, len("here"))
	_, err = io.ReadFull(c, here)
	require.NoError(t, err)
	cancel()
	rest, _ := io.ReadAll(c) // a process that is ended may reset its connection
	require.Empty(t, rest)
}
