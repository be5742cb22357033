package engine

import (
	"fmt"
	"os"
	"syscall"
)

// hold keeps a file open, and returns the path by which it is opened again, also after the database
// has deleted it. Of the files that a process may have open, half stay for those who read them. It
// returns path where that cannot be, as where no /proc is mounted.
func (v *View) hold(path string) string {
	if uint64(len(v.held)) >= mostFiles()/2 {
		return path
	}
	const noWait = syscall.O_NONBLOCK // for a pipe's writer
	file, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return path
	}
	again := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	if _, err := os.Stat(again); err != nil {
		file.Close()
		return path
	}
	v.held = append(v.held, file)
	return again
}

// mostFiles returns how many files the process may have open.
func mostFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
}
