package main

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

// Pebble's reader trusts bytes whose checksum is right: forged ones make it panic, read outside of
// its memory, or never end. So each of its tables is read in a process of its own, whose crash says
// that the table is corrupt.

// childArgument makes this program read one table: a request comes on the standard input, the Result
// goes to the standard output.
const childArgument = "read-one-table"

type request struct {
	Path     string
	Settings settings
}

// runChild is the program in the child process. It returns the exit status.
func runChild(stdin io.Reader, stdout io.Writer) int {
	var r request
	if err := json.NewDecoder(stdin).Decode(&r); err != nil {
		return exitCannotRun
	}
	err := json.NewEncoder(stdout).Encode(look(context.Background(), r.Path, r.Settings))
	if err != nil {
		return exitCannotRun
	}
	return exitSound
}

// childTime is how long a child may take for a table, besides a second for each MiB. Tables take
// about a hundredth of that.
const childTime = time.Minute

// lookInChild is look in a child process.
func lookInChild(ctx context.Context, path string, format sstable.Format, s settings) *Result {
	unreadable := func(err error) *Result {
		return &Result{Path: path, Status: Unreadable, Reason: err.Error()}
	}
	self, err := os.Executable()
	if err != nil {
		return unreadable(err)
	}
	input, err := json.Marshal(request{path, s})
	if err != nil {
		return unreadable(err)
	}
	limit := childTime
	if info, err := os.Stat(path); err == nil {
		limit += time.Duration(info.Size()>>20) * time.Second
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	child := exec.CommandContext(timed, self, childArgument)
	child.Stdin = bytes.NewReader(input)
	var stderr beginning
	child.Stderr = &stderr
	output, err := child.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return unreadable(ctx.Err())
	case timed.Err() != nil:
		return failedChild(path, format, fmt.Sprintf("took longer than %v", limit))
	case errors.As(err, &exit):
		return failedChild(path, format, "crashed: "+stderr.line(err))
	case err != nil:
		return unreadable(err)
	}
	r := &Result{}
	if err := json.Unmarshal(output, r); err != nil {
		return unreadable(err)
	}
	return r
}

// failedChild returns the result for a table that ended its child. RocksDB has features that Pebble's
// reader does not know, so such a table of RocksDB need not be corrupt.
func failedChild(path string, format sstable.Format, how string) *Result {
	r := &Result{Path: path, Status: Corrupt, Reason: "Pebble's reader " + how}
	if format == sstable.FormatRocksDB {
		r.Status = Unsupported
	}
	return r
}

// A beginning keeps the beginning of what is written to it.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	const enough = 1 << 12
	b.Buffer.Write(p[:min(len(p), max(0, enough-b.Len()))])
	return len(p), nil
}

// line returns the first line, or the error if nothing was written.
func (b *beginning) line(err error) string {
	if line, _, _ := strings.Cut(b.String(), "\n"); line != "" {
		return line
	}
	return err.Error()
}
