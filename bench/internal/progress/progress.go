// Package progress shows how far a long run is: a bar with an estimate on a terminal, plain lines
// elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	gopretty "github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// A Reporter is told the number of steps, before each step what it is, and the end.
type Reporter interface {
	Start(total int)
	Next(what string)
	Done()
}

// New returns a reporter that writes to file.
func New(file *os.File) Reporter {
	if term.IsTerminal(int(file.Fd())) {
		return &bar{out: file}
	}
	return &lines{out: file}
}

type bar struct {
	out     io.Writer
	writer  gopretty.Writer
	tracker gopretty.Tracker
	started bool
}

func (b *bar) Start(total int) {
	b.tracker.Total = int64(total)
	b.writer = gopretty.NewWriter()
	b.writer.SetOutputWriter(b.out)
	b.writer.SetAutoStop(false)
	b.writer.SetTrackerLength(20)
	b.writer.SetMessageLength(46)
	b.writer.SetStyle(gopretty.StyleBlocks)
	b.writer.SetTrackerPosition(gopretty.PositionRight) // the step, then the bar
	b.writer.Style().Options.ETAPrecision = time.Second
	b.writer.Style().Options.TimeInProgressPrecision = time.Second
	b.writer.Style().Options.TimeDonePrecision = time.Second
	b.writer.Style().Visibility.ETA = true
	b.writer.Style().Visibility.Value = false
	b.writer.AppendTracker(&b.tracker)
	go b.writer.Render()
}

func (b *bar) Next(what string) {
	if b.started {
		b.tracker.Increment(1)
	}
	b.started = true
	b.tracker.UpdateMessage(what)
}

func (b *bar) Done() {
	b.tracker.MarkAsDone()
	b.writer.Stop()
	for b.writer.IsRenderInProgress() {
		time.Sleep(10 * time.Millisecond)
	}
}

type lines struct {
	out         io.Writer
	total, step int
	start       time.Time
}

func (l *lines) Start(total int) { l.total, l.start = total, time.Now() }

func (l *lines) Next(what string) {
	estimate := ""
	if l.step > 0 {
		left := time.Since(l.start) / time.Duration(l.step) * time.Duration(l.total-l.step)
		estimate = fmt.Sprintf(" (about %v left)", left.Round(time.Second))
	}
	l.step++
	fmt.Fprintf(l.out, "[%*d/%d] %s%s\n", len(fmt.Sprint(l.total)), l.step, l.total, what, estimate)
}

func (l *lines) Done() {}
