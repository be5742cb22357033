package scan

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

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Pebble's reader trusts bytes whose checksum is right: forged ones make it panic or read outside
// of its memory. So a child process reads a table of Pebble's, and when it crashes, the table is
// corrupt.

// childVariable makes a program that imports this package a child, which answers a question and
// does nothing else: the order comes on the standard input, the result goes to the standard output.
const childVariable = "LEVELBLOOM_READS_TABLES"

func init() {
	if os.Getenv(childVariable) != "" {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// An order is a question about a table.
type order struct {
	Path     string
	Bloom    []string
	Question *Question
}

// serve is the child process.
func serve(stdin io.Reader, stdout io.Writer) error {
	var o order
	if err := gob.NewDecoder(stdin).Decode(&o); err != nil {
		return err
	}
	return gob.NewEncoder(stdout).Encode(read(o))
}

// childTime is how long a child may take, besides a second for each MiB of the table. It takes
// about a hundredth of that.
var childTime = 20 * time.Second

var executable = os.Executable // a variable for a test

// readInChild has a child answer a question. The child may use one processor.
func readInChild(ctx context.Context, o order) (result *Result, err error) {
	limit := childTime
	if info, err := os.Stat(o.Path); err == nil {
		limit += time.Duration(info.Size()>>20) * time.Second
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel() // ends the child
	self, err := executable()
	child := exec.CommandContext(timed, self)
	child.Env = append(os.Environ(), childVariable+"=1", "GOMAXPROCS=1")
	var stdin, stdout, stderr bytes.Buffer
	child.Stdin, child.Stdout, child.Stderr = &stdin, &stdout, &stderr
	if err == nil {
		err = gob.NewEncoder(&stdin).Encode(o)
	}
	if err == nil {
		err = child.Run()
	}
	if err == nil {
		err = gob.NewDecoder(&stdout).Decode(&result)
	}
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil: // the machine may be at fault, not the table
		return nil, &tables.UnsupportedError{Path: o.Path, Format: "Pebble",
			Cause: fmt.Sprintf("reading it took longer than %v", limit)}
	case child.Process == nil:
		// %v: the table is there, even if this program's file is not.
		return nil, fmt.Errorf("no process to read the table: %v", err)
	}
	line, _, _ := strings.Cut(stderr.String(), "\n")
	cause := errors.New("Pebble's reader crashed: " + cmp.Or(line, err.Error()))
	return nil, &sstable.CorruptionError{File: o.Path, Offset: -1, Cause: cause}
}
