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
)

// Pebble's reader trusts bytes whose checksum is right: forged ones make it panic or read outside
// of its memory. So each of its tables is read in a process of its own, whose crash says that the
// table is corrupt.

// childArgument makes this program read one table: a request comes on the standard input, the
// Result goes to the standard output.
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
var childTime = time.Minute

// lookInChild is look in a child process.
func lookInChild(ctx context.Context, path string, s settings) *Result {
	unreadable := func(err error) *Result {
		return &Result{Path: path, Status: Unreadable, Reason: err.Error()}
	}
	corrupt := func(how string) *Result {
		return &Result{Path: path, Status: Corrupt, Reason: "Pebble's reader " + how}
	}
	self, noName := os.Executable()
	input, err := json.Marshal(request{path, s})
	if err := errors.Join(noName, err); err != nil {
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
	output, err := child.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return unreadable(ctx.Err())
	case timed.Err() != nil:
		return corrupt(fmt.Sprintf("took longer than %v", limit))
	case errors.As(err, &exit):
		return corrupt("crashed: " + firstLine(exit))
	case err != nil:
		return unreadable(err)
	}
	r := &Result{}
	if err := json.Unmarshal(output, r); err != nil {
		return unreadable(err)
	}
	return r
}

// firstLine returns the first line that a child wrote about its end, or how it ended.
func firstLine(exit *exec.ExitError) string {
	if line, _, _ := strings.Cut(string(exit.Stderr), "\n"); line != "" {
		return line
	}
	return exit.Error()
}
