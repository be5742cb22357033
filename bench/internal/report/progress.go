package report

import (
	"fmt"
	"io"
	"time"
)

// A Progress is called before each step of a benchmark, from 0 on, of total steps.
type Progress func(step, total int, what string)

// NewProgress returns one that writes a line for each step, with an estimate of the time left.
func NewProgress(w io.Writer) Progress {
	start := time.Now()
	return func(step, total int, what string) {
		estimate := ""
		if step > 0 {
			left := time.Since(start) / time.Duration(step) * time.Duration(total-step)
			estimate = fmt.Sprintf(" (about %v left)", left.Round(time.Second))
		}
		width := len(fmt.Sprint(total))
		fmt.Fprintf(w, "[%*d/%d] %s%s\n", width, step+1, total, what, estimate)
	}
}
