package ratebench

import "math"

// A Rate is a false-positive rate over several filters.
type Rate struct {
	Filters, Queries, FalsePositives int

	// Sums over the filters of squares and products of false positives and queries. Whole numbers:
	// the order of filters makes no difference.
	positives2, product, queries2 int64
}

// add counts one filter.
func (r *Rate) add(queries, falsePositives int) {
	r.Filters++
	r.Queries += queries
	r.FalsePositives += falsePositives
	q, f := int64(queries), int64(falsePositives)
	r.positives2 += f * f
	r.product += f * q
	r.queries2 += q * q
}

// Mean returns the mean rate of the filters, each weighted by its queries, or 0 without any.
func (r *Rate) Mean() float64 {
	if r.Queries == 0 {
		return 0
	}
	return float64(r.FalsePositives) / float64(r.Queries)
}

// effective returns the number of independent answers that are worth as much as Queries answers,
// which depend on each other if filters differ: Queries divided by the design effect. The variance
// between filters is that of a ratio of two sums (Cochran, "Sampling Techniques", 1977, 6.4).
func (r *Rate) effective() float64 {
	mean, queries, m := r.Mean(), float64(r.Queries), float64(r.Filters)
	binomial := mean * (1 - mean) / queries
	if m < 2 || binomial == 0 {
		return queries
	}
	squares := float64(r.positives2) - 2*mean*float64(r.product) + mean*mean*float64(r.queries2)
	between := max(0, squares) * m / (m - 1) / queries / queries
	return queries / max(1, between/binomial)
}

// Interval returns Wilson's score interval of z standard errors ("Probable Inference, the Law of
// Succession, and Statistical Inference", 1927). It is never empty: 300 equal answers leave an
// interval as well. Without queries it is 0 to 1.
func (r *Rate) Interval(z float64) (low, high float64) {
	if r.Queries == 0 {
		return 0, 1
	}
	p, n := r.Mean(), r.effective()
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	if r.FalsePositives > 0 { // otherwise it is 0, but for rounding
		low = max(0, (middle-half)/(1+z*z/n))
	}
	return low, min(1, (middle+half)/(1+z*z/n))
}

// standardError returns the distance from the mean to the lower end of the interval of one standard
// error, which is never 0.
func (r *Rate) standardError() float64 {
	low, high := r.Interval(1)
	return max(r.Mean()-low, (high-low)/2)
}

const z95 = 1.96 // standard errors of an interval of 95 %
