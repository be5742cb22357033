package policy

import (
	"errors"
	"reflect"
)

var errUnusable = errors.New("policy: the policy is nil or its zero value: " +
	"get one from a constructor such as policy.NewBloom, and check its error")

// Check returns an error if an engine cannot use p, and says what to pass instead. Engines cannot
// use a policy that is nil, that no constructor returned, or whose name [WithName] would refuse.
// Every adapter calls Check before it changes an engine's options.
//
// Of a policy of another package it checks only the name: it calls p.Name, even if p is a nil
// pointer of that package's type.
func Check(p Policy) error {
	if !isUsable(p) {
		return errUnusable
	}
	return checkName(p.Name())
}

// mustBeUsable panics if a policy of this package is nil or does not come from a constructor.
func mustBeUsable(p Policy) {
	if !isUsable(p) {
		panic(errUnusable)
	}
}

func isUsable(p Policy) bool {
	switch p := p.(type) {
	case nil:
		return false
	case *Bloom:
		return p != nil && p.name != ""
	case *Ribbon:
		return p != nil && p.name != ""
	case *Counted:
		return p != nil && isUsable(p.policy)
	}
	return true
}

// Compatible reports whether a and b may share a name: whether each reads the filters of the other.
// All policies of this package do, counted or not. Any other policy is compatible with itself only.
//
// An engine chooses the reader of a filter by its name alone, and a policy of another encoding
// would lose keys.
func Compatible(a, b Policy) bool {
	if isOurs(a) || isOurs(b) {
		return isOurs(a) && isOurs(b)
	}
	// A foreign policy may be of a type that == does not compare: then nothing tells.
	return reflect.ValueOf(a).Comparable() && a == b
}

// isOurs reports whether p reads filters by [MayContain]. A type that embeds one of our policies
// may answer differently, so it is not ours.
func isOurs(p Policy) bool {
	switch p := p.(type) {
	case *Bloom, *Ribbon:
		return true
	case *Counted:
		return p != nil && isOurs(p.policy)
	}
	return false
}
