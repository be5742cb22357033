// Package ours has the policies with which the scripts beside it run the engines' own tests.
package ours

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/levelbloom/levelbloom/policy"
)

// Kinds lists the kinds of filter, as the variable KIND names them.
var Kinds = []string{"bloom", "tuned", "ribbon"}

// New returns a policy of a kind, which counts. It panics if there is none.
func New(kind string, bitsPerKey float64, name string) *policy.Policy {
	p, err := policy.FromString(fmt.Sprintf("%s:%v", kind, bitsPerKey), policy.WithName(name),
		policy.WithCounters())
	if err != nil {
		panic(err)
	}
	return p
}

// Counted returns the policy that KIND names, at 10 bits per key.
var Counted = sync.OnceValue(func() *policy.Policy {
	return New(os.Getenv("KIND"), 10, policy.Name)
})

// Main runs the tests of a package, and prints what Counted did. It fails if that avoided no read.
func Main(m *testing.M) {
	status := m.Run()
	c := Counted().Counters()
	fmt.Printf("%d filters built, %d checks, %d reads avoided\n",
		c.Filters, c.ReadsAvoided+c.MayContain, c.ReadsAvoided)
	if c.ReadsAvoided == 0 {
		status = 1
	}
	os.Exit(status)
}
