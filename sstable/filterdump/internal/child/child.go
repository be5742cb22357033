// Package child runs functions in child processes. The engines' readers trust bytes whose checksum
// is right: forged ones crash them, keep them busy for ever, or make them take all memory.
package child

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// variable makes this program a child, and names the child's task.
const variable = "LEVELBLOOM_CHILD"

var tasks = map[string]func() error{}

// A Task is a function that a child runs. Its argument comes on the child's standard input, its
// result goes to the standard output, both encoded by gob. An error's text goes to the standard
// error.
type Task[In, Out any] struct{ name string }

// New returns a task. Tasks are package variables, with different names.
func New[In, Out any](name string, f func(In) (Out, error)) Task[In, Out] {
	tasks[name] = func() error {
		var in In
		if err := gob.NewDecoder(os.Stdin).Decode(&in); err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // it ends when the parent does
			os.Exit(1)
		}()
		out, err := f(in)
		if err != nil {
			return err
		}
		return gob.NewEncoder(os.Stdout).Encode(out)
	}
	return Task[In, Out]{name}
}

const exitError = 3 // of the task; a panic exits with 2

// Serve runs the task and ends the process if this is a child. Main calls it first.
func Serve() {
	task := tasks[os.Getenv(variable)]
	if task == nil {
		return
	}
	limitMemory()
	if err := task(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitError)
	}
	os.Exit(0)
}

var (
	// ErrCrashed is wrapped by the error for a child that crashed, which has the first line of what
	// the child wrote to its standard error.
	ErrCrashed = errors.New("the engine's reader crashed")
	// ErrMemory wraps ErrCrashed, for a child that ran out of memory.
	ErrMemory = fmt.Errorf("%w: out of memory", ErrCrashed)
	// ErrTooLong is wrapped by the error for a child that reached the limit of its time.
	ErrTooLong = errors.New("the engine's reader took longer than")
)

var executable = os.Executable // a variable for a test

// Run runs the task in a child, which may use one processor and a part of the memory. The child is
// ended after the limit, when ctx is done, and when this process ends. Only the text of the task's
// error arrives.
func (t Task[In, Out]) Run(ctx context.Context, limit time.Duration, in In) (out Out, err error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var stdin bytes.Buffer
	var stdout, stderr output
	if err := gob.NewEncoder(&stdin).Encode(in); err != nil {
		return out, err
	}
	self, err := executable()
	c := exec.CommandContext(timed, self)
	c.Env = append(os.Environ(), variable+"="+t.name, "GOMAXPROCS=1")
	c.Stdout, c.Stderr = &stdout, &stderr
	if err == nil {
		err = run(c, stdin.Bytes())
	}
	line, _, _ := strings.Cut(stderr.b.String(), "\n")
	switch {
	case err == nil:
		err = gob.NewDecoder(&stdout.b).Decode(&out)
		return out, err
	case ctx.Err() != nil:
		return out, ctx.Err()
	case timed.Err() != nil:
		return out, fmt.Errorf("%w %v", ErrTooLong, limit)
	case c.Process == nil:
		// %v: what was to be read is there, even if this program's file is not.
		return out, fmt.Errorf("no process to read it: %v", err)
	case c.ProcessState.ExitCode() == exitError:
		return out, errors.New(strings.TrimSpace(stderr.b.String()))
	case strings.Contains(line, "out of memory"), err.Error() == "signal: killed":
		return out, ErrMemory // the system kills a process if memory runs out
	}
	return out, fmt.Errorf("%w: %s", ErrCrashed, cmp.Or(line, err.Error()))
}

// An output takes what a child writes: not all, because a forged length can make it any size.
type output struct{ b bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	if o.b.Len() > 64<<20 {
		return 0, errors.New("too much output")
	}
	return o.b.Write(p)
}

// run runs a process with an input that stays open until the process has ended.
func run(c *exec.Cmd, input []byte) error {
	stdin, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return err
	}
	_, _ = stdin.Write(input) // a process that crashes at once does not read it
	return c.Wait()
}
