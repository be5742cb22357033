package filterbench

import "time"

// CPPDefault is where the program lies that asks C++ LevelDB, seen from the module's root.
const CPPDefault = cppDefault

// StartCPP starts the program at path and returns C++ LevelDB's own filter.
func StartCPP(name, path string, bits int) (Contestant, error) {
	child, err := startCPP(path, bits)
	if err != nil {
		return nil, err
	}
	return &cppContestant{child, name}, nil
}

type cppContestant struct {
	*cpp
	name string
}

func (c *cppContestant) Name() string     { return c.name }
func (c *cppContestant) Encoding() string { return LevelDBBloom }

func (c *cppContestant) SetQueries(q *Queries) error {
	if err := c.cpp.SetFilters(q.Filters, q.Copies); err != nil {
		return err
	}
	return c.cpp.SetQueries(q.Index, q.Keys)
}

func (c *cppContestant) Build(each, repeat int) (time.Duration, error) {
	total, _, err := c.cpp.Build(each, repeat)
	return total, err
}
