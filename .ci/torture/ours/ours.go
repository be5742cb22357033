// Package ours has the policies with which the scripts beside it run the engines' own tests.
package ours

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/levelbloom/levelbloom/policy"
)

// Policies are the policies that [New] makes, as policy.FromString takes them.
var Policies = []string{"bloom:%v", "bloom:%v,tuned", "ribbon:%v"}

// New returns one of Policies, which counts. It panics if the bits per key are out of range.
func New(format string, bitsPerKey float64, name string) *policy.Policy {
	return mustRead(fmt.Sprintf(format, bitsPerKey), policy.WithName(name))
}

func mustRead(spec string, opts ...policy.Option) *policy.Policy {
	p, err := policy.FromString(spec, append(opts, policy.WithCounters())...)
	if err != nil {
		panic(err)
	}
	return p
}

// Counted returns the policy that the variable POLICY describes.
var Counted = sync.OnceValue(func() *policy.Policy { return mustRead(os.Getenv("POLICY")) })

// Main runs the tests of a package, and prints what Counted did. It fails if no filter answered
// "absent".
func Main(m *testing.M) {
	status := m.Run()
	c := Counted().Counters()
	fmt.Printf("%d filters built, %d checks, %d answered absent\n",
		c.Filters, c.Absent+c.MayContain, c.Absent)
	if c.Absent == 0 {
		status = 1
	}
	os.Exit(status)
}
