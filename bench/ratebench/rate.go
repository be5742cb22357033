package ratebench

import "math"

// A Rate is a false-positive rate over several filters.
type Rate struct {
	Filters, Queries, FalsePositives int

	// Sums over the filters of squares and products of false positives and queries. Whole numbers: the order of filters
	// makes no difference.
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

// merge counts the filters of another rate.
func (r *Rate) merge(other Rate) {
	r.Filters += other.Filters
	r.Queries += other.Queries
	r.FalsePositives += other.FalsePositives
	r.positives2 += other.positives2
	r.product += other.product
	r.queries2 += other.queries2
}

// Mean returns the mean rate of the filters, each weighted by the absent keys that it was asked; mostly they are as many for
// each. It is 0 if there were none.
func (r *Rate) Mean() float64 {
	if r.Queries == 0 {
		return 0
	}
	return float64(r.FalsePositives) / float64(r.Queries)
}

// Error returns the standard error of Mean: the larger one of two estimates. One comes from the variance between filters
// (that of a ratio of two sums, by linearization: Cochran, "Sampling Techniques", 1977, section 6.4), and has all that makes
// answers depend on each other. The other is a binomial distribution's, as if they did not; it is the better one for few
// filters, whose variance may be small by chance.
func (r *Rate) Error() float64 {
	if r.Queries == 0 {
		return math.Inf(1)
	}
	mean, queries := r.Mean(), float64(r.Queries)
	binomial := math.Sqrt(mean * (1 - mean) / queries)
	if r.Filters < 2 {
		return binomial
	}
	squares := float64(r.positives2) - 2*mean*float64(r.product) + mean*mean*float64(r.queries2)
	m := float64(r.Filters)
	return max(binomial, math.Sqrt(max(0, squares)*m/(m-1))/queries)
}
