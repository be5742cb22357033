package main

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// showProgress draws a bar on w, if that is a terminal and there is more than one table. step
// counts one table as done, and may be called by several goroutines at once; stop removes the bar.
func showProgress(w io.Writer, tables int) (step, stop func()) {
	file, ok := w.(*os.File)
	if !ok || tables < 2 || !term.IsTerminal(int(file.Fd())) {
		return func() {}, func() {}
	}
	tracker := &progress.Tracker{Message: "tables", Total: int64(tables), RemoveOnCompletion: true}
	bar := progress.NewWriter()
	bar.SetOutputWriter(file)
	bar.SetStyle(progress.StyleBlocks)
	bar.SetAutoStop(false)
	bar.Style().Visibility.ETA = true
	bar.AppendTracker(tracker)
	go bar.Render()
	stop = func() {
		tracker.MarkAsDone()
		bar.Stop()
		for bar.IsRenderInProgress() {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return func() { tracker.Increment(1) }, stop
}
