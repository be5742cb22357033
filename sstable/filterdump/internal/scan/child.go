package scan

import (
	"bytes"
	"context"
	"encoding/json"
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
// of its memory. So its tables are read in child processes, one after the other, and when one
// crashes, the table is corrupt.

// childVariable makes a program that imports this package a child, which reads tables and does
// nothing else: requests come on the standard input, replies go to the standard output.
const childVariable = "LEVELBLOOM_READS_TABLES"

func init() {
	if os.Getenv(childVariable) != "" {
		os.Exit(serve(os.Stdin, os.Stdout))
	}
}

// A request is to look at a table, or to ask it.
type request struct {
	Path     string `json:"-"`
	OnTheWay []byte // Path on its way to a child, because JSON has no strings of any bytes
	Settings Settings
	Below    uint64 // for the sample
	Ask      *Questions
}

// A reply has what was requested, or an error in its text.
type reply struct {
	Result  *Result
	Answers *Answers
	Error   string
}

// serve is the child process. It returns the exit status.
func serve(stdin io.Reader, stdout io.Writer) int {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	for {
		var q request
		if err := in.Decode(&q); err != nil {
			return 0 // the parent has ended
		}
		q.Path = string(q.OnTheWay)
		var r reply
		if q.Ask == nil {
			r.Result = look(context.Background(), q)
		} else if answers, err := answer(context.Background(), q); err != nil {
			r.Error = err.Error()
		} else {
			r.Answers = answers
		}
		if err := out.Encode(r); err != nil {
			return 1
		}
	}
}

// childTime is how long a child may take for a request, besides a second for each MiB of the table.
// It takes about a hundredth of that.
var childTime = 20 * time.Second

type child struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	in      *json.Encoder
	out     *json.Decoder
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
	c.in, c.out = json.NewEncoder(c.stdin), json.NewDecoder(stdout)
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

// inChild has a child do what is requested.
func (r *Reader) inChild(ctx context.Context, q request) (answer reply, err error) {
	var c *child
	select {
	case c = <-r.idle:
	default:
		if c, err = newChild(); err != nil {
			// %v: the table is there, even if this program's file is not.
			return reply{}, fmt.Errorf("no process to read the table: %v", err)
		}
	}
	limit := childTime
	if info, err := os.Stat(q.Path); err == nil {
		limit += time.Duration(info.Size()>>20) * time.Second
	}
	q.OnTheWay = []byte(q.Path)
	done := make(chan error, 1)
	go func() {
		err := c.in.Encode(q)
		if err == nil {
			err = c.out.Decode(&answer)
		}
		done <- err
	}()
	corrupt := func(how string) error {
		cause := errors.New("Pebble's reader " + how)
		return &sstable.CorruptionError{File: q.Path, Offset: -1, Cause: cause}
	}
	select {
	case err = <-done:
		if err != nil {
			return reply{}, corrupt("crashed: " + c.end(false))
		}
	case <-time.After(limit):
		c.end(true)
		<-done
		return reply{}, corrupt(fmt.Sprintf("took longer than %v", limit))
	case <-ctx.Done():
		c.end(true)
		<-done
		return reply{}, ctx.Err()
	}
	select {
	case r.idle <- c:
	default:
		c.end(false)
	}
	if answer.Error != "" {
		if _, err := os.Stat(q.Path); err != nil { // the database has deleted it meanwhile
			return reply{}, err
		}
		return reply{}, errors.New(answer.Error)
	}
	if answer.Result != nil {
		answer.Result.Path = q.Path
	}
	return answer, nil
}
