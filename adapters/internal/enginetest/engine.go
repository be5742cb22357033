// Package enginetest tests the adapters: one suite for all engines and all kinds of filter. It is
// test code. Several packages' tests share it, so its files cannot end in _test.go.
//
// An adapter's tests implement [Engine] and call [Run]. Another engine needs no more than that.
// [Kinds] are those of package policy.
package enginetest

import (
	"context"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// An Engine opens one database, which is empty at first. It may be opened again once it is closed.
type Engine interface {
	// Variants lists the formats and comparers with which the suite runs.
	Variants() []Variant
	// Builtin returns the name of the engine's own filters.
	Builtin() string
	Open(Setting) (DB, error)
}

// A Variant is a way to open a database.
type Variant struct {
	Name   string
	Prefix func(key []byte) []byte // the part of a key that filters contain
	Stays  bool                    // as it is: Rewrite refuses it
}

// A Setting says how to open a database.
type Setting struct {
	Variant  int              // index into Engine.Variants
	Builtin  bool             // the options have the engine's own filter at first
	Policies []*policy.Policy // configured in turn: the last one builds
	Still    bool             // no compactions but DB.Compact, so that tables stay in their levels
	Large    bool             // larger tables with one filter each, where that is a setting
	Watch    *Watch           // if not nil, notes what filters answer
	Cache    int64            // the size of the block cache, in bytes; 0 is the engine's default
	Files    int              // tables that may stay open; 0 is a few
	Copied   bool             // levels as programs copy them from each other
	Behind   int              // how many full memtables there may be, if not the default
}

// A DB is an open database. It is safe for concurrent use.
type DB interface {
	Reader
	// Ways returns the number of ways to write, such as a batch, a transaction, or a table.
	Ways() int
	// Apply makes changes in one of the ways. Their keys ascend.
	Apply(way int, changes []Change) error
	DeleteRange(start, end []byte) error
	Snapshot() (Snapshot, error)
	// Flush writes what is in memory to tables.
	Flush() error
	// Compact merges all tables that overlap.
	Compact() error
	// Tables returns the number of tables in each level.
	Tables() ([]int, error)
	// Rewrite calls the adapter's Rewrite with the options that the database was opened with, and
	// requires that it refuses a database without one of our policies, or with another comparer.
	Rewrite(context.Context) error
	// Reconfigure calls the adapter's Configure on the options that the database was opened with.
	Reconfigure(p *policy.Policy) error
	// Checks returns how often filters were checked, and how often they answered "absent", by the
	// engine's own count, or -1 if it has none.
	Checks() (checked, absent int64)
	// Check calls the adapter's Check with the options of the database, as Reconfigure leaves
	// them.
	Check() (Report, error)
	// Look looks key up as the adapter does it best.
	Look(key []byte) error
	// Reads returns how many blocks were read from files so far.
	Reads() int64
	Close() error
}

// A Snapshot reads the database as it was at some time.
type Snapshot interface {
	Reader
	Close() error
}

// A Reader reads a database.
type Reader interface {
	// Get returns the value of key, or nil if it is absent. A value is never nil.
	Get(key []byte) ([]byte, error)
	// Find is Get by the adapter's own functions, if it has any. It consults all filters.
	Find(key []byte) ([]byte, error)
	// Seek returns the entries from key on that have key's prefix. It consults all filters.
	Seek(key []byte) ([]Entry, error)
	// Scan returns the entries from start to before end. It consults no filter.
	Scan(start, end []byte) ([]Entry, error)
}

// An Entry is a key and its value.
type Entry struct{ Key, Value string }

// A Change sets a key, or deletes it if Value is nil.
type Change struct{ Key, Value []byte }

// A Kind is a kind of filter of package policy.
type Kind string

// Kinds lists all kinds.
var Kinds = []Kind{"bloom", "ribbon"}

// names are names that policies may have: LevelDB's, goleveldb's, and another.
var names = []string{policy.NameLevelDB, policy.NameGoLevelDB, "mine"}

// MustNew returns a policy of the kind, which counts.
func (k Kind) MustNew(bitsPerKey float64, name string, opts ...policy.Option) *policy.Policy {
	p, err := policy.FromString(fmt.Sprintf("%s:%v", k, bitsPerKey),
		append(opts, policy.WithName(name), policy.WithCounters())...)
	if err != nil {
		panic(err)
	}
	return p
}
