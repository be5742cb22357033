package levelbench

// A Level is what the filters that were made for one level did during the operations.
type Level struct {
	Absent  Answers // to lookups of absent keys
	Present Answers // to lookups of present ones
	Built   Built
}

// Answers counts what filters answered.
type Answers struct {
	Checks  int64
	Avoided int64 // checks answered "absent", each of which saved reading a table
}

// MayContain returns how many filters said "may contain".
func (a Answers) MayContain() int64 { return a.Checks - a.Avoided }

func (a Answers) plus(b Answers) Answers {
	return Answers{a.Checks + b.Checks, a.Avoided + b.Avoided}
}

func (a Answers) minus(b Answers) Answers {
	return Answers{a.Checks - b.Checks, a.Avoided - b.Avoided}
}

// Built counts the filters that were made.
type Built struct {
	Filters, Keys, Bytes int64
	// Times holds how long it took to make each filter from its keys' hashes, in nanoseconds per key. Hashing the keys, which
	// is done one by one before, is not in it.
	Times []float64
	// Written has the number of keys in filters of each kind, as the filters themselves tell.
	Written map[string]int64
}

// all returns the sum of all levels.
func (r Run) all() (sum Level) {
	for _, l := range r.Levels {
		sum.Absent, sum.Present = sum.Absent.plus(l.Absent), sum.Present.plus(l.Present)
		sum.Built.Filters += l.Built.Filters
		sum.Built.Keys += l.Built.Keys
		sum.Built.Bytes += l.Built.Bytes
	}
	return sum
}

func (l Level) fpr() float64 { return float64(l.Absent.MayContain()) / float64(l.Absent.Checks) }

// making returns the nanoseconds per key.
func (l Level) making() float64 { return figures(l.Built.Times).median() }

func (l Level) perKeyBuilt(checks int64) float64 { return float64(checks) / float64(l.Built.Keys) }

// asked reports whether there is anything to tell about the level.
func (l Level) asked() bool { return l.Absent.Checks+l.Present.Checks+l.Built.Filters > 0 }
