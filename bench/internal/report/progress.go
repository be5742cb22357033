package report

import (
	"context"
	"fmt"
	"io"
	"time"
)

// A Progress is told what a benchmark does next: step, from 0, of total.
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

type progressKey struct{}

// WithProgress returns a context whose benchmarks tell p, as a part of something longer.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// ProgressOf returns the Progress of ctx, or a new one that writes to w.
func ProgressOf(ctx context.Context, w io.Writer) Progress {
	if p, ok := ctx.Value(progressKey{}).(Progress); ok {
		return p
	}
	return NewProgress(w)
}
