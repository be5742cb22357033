package policy

// An Option changes a setting of a policy under construction.
type Option func(*common) error

// WithName sets the name that engines store beside the filters; the default is [Name]. Engines find
// filters by this name alone, so a database that changes it must keep a reader under the old name
// (the adapters' Configure does).
//
// It refuses names that Pebble's options files cannot carry (an empty one, "none", one with line
// breaks or with spaces around it), and names that begin with "rocksdb.", which belong to other
// encodings.
func WithName(name string) Option {
	return func(c *common) error {
		c.name = name
		return checkName(name)
	}
}
