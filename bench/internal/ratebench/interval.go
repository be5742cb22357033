package ratebench

import "math"

// sums is what the rate of a record comes from. Whole numbers: the order of filters makes no
// difference.
type sums struct {
	filters, queries, positives int64
	// Squares and products of the false positives and the queries of each filter.
	positives2, product, queries2 int64
}

// add counts one filter.
func (s *sums) add(queries, falsePositives int) {
	q, f := int64(queries), int64(falsePositives)
	s.filters++
	s.queries += q
	s.positives += f
	s.positives2 += f * f
	s.product += f * q
	s.queries2 += q * q
}

// mean returns the mean rate of the filters, each weighted by its queries.
func (s *sums) mean() float64 { return float64(s.positives) / float64(s.queries) }

// effective returns the number of independent answers that are worth as much as these answers,
// which depend on each other if filters differ: their number divided by the design effect. The
// variance between filters is that of a ratio of two sums (Cochran, "Sampling Techniques", 1977,
// 6.4).
func (s *sums) effective() float64 {
	mean, queries, m := s.mean(), float64(s.queries), float64(s.filters)
	binomial := mean * (1 - mean) / queries
	if m < 2 || binomial == 0 {
		return queries
	}
	squares := float64(s.positives2) - 2*mean*float64(s.product) + mean*mean*float64(s.queries2)
	between := max(0, squares) * m / (m - 1) / queries / queries
	return queries / max(1, between/binomial)
}

// z is how many standard errors an interval of 95 % has on each side.
const z = 1.96

// wilson returns the score interval of 95 % of the rate p of n answers ("Probable Inference, the
// Law of Succession, and Statistical Inference", 1927). It is never empty: 300 equal answers leave
// an interval as well.
func wilson(p, n float64) (low, high float64) {
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	if p > 0 { // otherwise it is 0, but for rounding
		low = max(0, (middle-half)/(1+z*z/n))
	}
	return low, min(1, (middle+half)/(1+z*z/n))
}
