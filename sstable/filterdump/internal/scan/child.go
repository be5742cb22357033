package scan

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/levelbloom/levelbloom/sstable"
)

// Pebble's reader trusts bytes whose checksum is right: forged ones make it panic or read outside
// of its memory. So child processes read its tables, one after the other, and when one crashes, the
// table is corrupt.

// childVariable makes a program that imports this package a child, which reads tables and does
// nothing else: orders come on the standard input, results go to the standard output.
const childVariable = "LEVELBLOOM_READS_TABLES"

func init() {
	if os.Getenv(childVariable) != "" {
		os.Exit(serve(os.Stdin, os.Stdout))
	}
}

// An order is a question about a table.
type order struct {
	Path     string
	Bloom    []string
	Question *Question
}

// serve is the child process. It returns the exit status.
func serve(stdin io.Reader, stdout io.Writer) int {
	in, out := gob.NewDecoder(stdin), gob.NewEncoder(stdout)
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			return 0 // the parent has ended
		}
		if err := out.Encode(read(o)); err != nil {
			return 1
		}
	}
}

// childTime is how long a child may take for a question, besides a second for each MiB of the
// table. It takes about a hundredth of that.
var childTime = 20 * time.Second

type child struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	in      *gob.Encoder
	out     *gob.Decoder
	stderr  bytes.Buffer
}

var executable = os.Executable // a variable for a test

// newChild starts a child, which may use one processor.
func newChild() (*child, error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	c := &child{command: exec.Command(self)}
	c.command.Env = append(os.Environ(), childVariable+"=1", "GOMAXPROCS=1")
	c.command.Stderr = &c.stderr
	c.stdin, err = c.command.StdinPipe()
	stdout, err2 := c.command.StdoutPipe()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	c.in, c.out = gob.NewEncoder(c.stdin), gob.NewDecoder(stdout)
	return c, c.command.Start()
}

// end ends the child and returns the first line that it wrote about its end, or how it ended.
func (c *child) end(kill bool) string {
	c.stdin.Close()
	if kill {
		_ = c.command.Process.Kill()
	}
	err := c.command.Wait()
	if line, _, _ := strings.Cut(c.stderr.String(), "\n"); line != "" {
		return line
	}
	return fmt.Sprint(err)
}

// Close ends the children.
func (r *Reader) Close() {
	for {
		select {
		case c := <-r.idle:
			c.end(false)
		default:
			return
		}
	}
}

// readInChild has a child answer a question.
func (r *Reader) readInChild(ctx context.Context, o order) (result *Result, err error) {
	var c *child
	select {
	case c = <-r.idle:
	default:
		if c, err = newChild(); err != nil {
			// %v: the table is there, even if this program's file is not.
			return nil, fmt.Errorf("no process to read the table: %v", err)
		}
	}
	limit := childTime
	if info, err := os.Stat(o.Path); err == nil {
		limit += time.Duration(info.Size()>>20) * time.Second
	}
	done := make(chan error, 1)
	go func() {
		err := c.in.Encode(o)
		if err == nil {
			err = c.out.Decode(&result)
		}
		done <- err
	}()
	corrupt := func(how string) error {
		cause := errors.New("Pebble's reader " + how)
		return &sstable.CorruptionError{File: o.Path, Offset: -1, Cause: cause}
	}
	select {
	case err = <-done:
		if err != nil {
			return nil, corrupt("crashed: " + c.end(false))
		}
	case <-time.After(limit):
		c.end(true)
		<-done
		return nil, corrupt(fmt.Sprintf("took longer than %v", limit))
	case <-ctx.Done():
		c.end(true)
		<-done
		return nil, ctx.Err()
	}
	select {
	case r.idle <- c:
	default:
		c.end(false)
	}
	return result, nil
}
