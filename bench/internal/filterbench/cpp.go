package filterbench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// The program that asks C++ LevelDB, seen from the module's root, and the command that builds it.
const (
	CPPProgram = "testdata/leveldb/build/speed"
	CPPBuild   = "make -C testdata/leveldb build/speed"
)

// CPP is C++ LevelDB's own filter, timed by testdata/leveldb/speed.cc in a process of its own for
// each cell. It prints a line of Go's benchmark format for each line that it reads.
type CPP struct {
	name, path string
	bits       int
	version    string // unknown before the first turn
	child      *exec.Cmd
	stdin      io.WriteCloser
	lines      *benchfmt.Reader // that it prints
	stderr     bytes.Buffer     // not to be read before the child was waited for
}

// NewCPP returns the contestant that the program at path runs.
func NewCPP(name, path string, bits int) (*CPP, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: build C++ LevelDB's contestant: %s", err, CPPBuild)
	}
	return &CPP{name: name, path: path, bits: bits}, nil
}

func (c *CPP) Name() string     { return c.name }
func (c *CPP) Encoding() string { return LevelDBBloom }

// Version says which library was asked, and what compiled the loop around it.
func (c *CPP) Version() string { return c.version }

func (c *CPP) start(in *inputs) (func() (turn, error), error) {
	c.child = exec.Command(c.path, string(in.Work), string(in.Mix))
	for _, number := range []int{in.materialOf.filters, in.N, in.Length, c.bits, in.memory} {
		c.child.Args = append(c.child.Args, strconv.Itoa(number))
	}
	c.stderr.Reset()
	c.child.Stderr = &c.stderr
	stdin, err := c.child.StdinPipe()
	stdout, err2 := c.child.StdoutPipe()
	if err = errors.Join(err, err2); err == nil {
		err = c.child.Start()
	}
	if err != nil {
		c.child = nil
		return nil, err
	}
	c.stdin, c.lines = stdin, benchfmt.NewReader(stdout, c.path)
	return c.next, nil
}

// next takes a turn.
func (c *CPP) next() (turn, error) {
	_, err := io.WriteString(c.stdin, "turn\n")
	if err == nil && !c.lines.Scan() {
		err = errors.Join(errors.New("it ended without a benchmark"), c.lines.Err())
	}
	if err != nil { // how it ended says more than how the pipe to it did
		return turn{}, fmt.Errorf("%s: %w", c.path, errors.Join(c.stop(), err))
	}
	result, ok := c.lines.Result().(*benchfmt.Result)
	if !ok {
		return turn{}, fmt.Errorf("%v", c.lines.Result())
	}
	seconds, timed := result.Value("sec/op")
	check, checked := result.Value("check")
	if !timed || !checked {
		return turn{}, fmt.Errorf("%s: pass a program that prints ns/op and check", c.path)
	}
	c.version = result.GetConfig("leveldb")
	return turn{result.Iters, 1e9 * seconds, uint32(check)}, nil
}

// stop closes the child's input, which ends it, and returns the fault that it ended with.
func (c *CPP) stop() error {
	if c.child == nil {
		return nil
	}
	c.stdin.Close()
	err := c.child.Wait()
	c.child = nil
	if said := strings.TrimSpace(c.stderr.String()); err != nil && said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}
