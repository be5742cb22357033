package ratebench

import (
	"errors"
	"fmt"
)

// ErrBound is wrapped by the error for a kind that breaks its bounds.
var ErrBound = errors.New("a false-positive rate breaks its bound")

// CheckBounds returns an error if a rate is further above the bound that its kind promises than
// chance explains: a run has thousands of rates, and some are three standard errors above.
func CheckBounds(records []Record) (err error) {
	const tolerance = 5 // standard errors
	for _, r := range records {
		standardError := (r.FPR - r.Low) / z
		if r.Bound > 0 && r.FPR > r.Bound+tolerance*standardError {
			err = errors.Join(err, fmt.Errorf("%w: %s, %d %s keys, %v bits per key: %s %%, not %s %%",
				ErrBound, r.Kind, r.N, r.keys(), r.Bits, r.interval(), percent(r.Bound)))
		}
	}
	return err
}
