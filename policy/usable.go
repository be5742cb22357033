package policy

import (
	"errors"
	"reflect"
)

var errUnusable = errors.New("policy: the policy is nil or its zero value: " +
	"get one from a constructor such as policy.NewBloom, and check its error")

// Check returns an error that says what to pass instead if an engine cannot use p: if p is nil, if
// no constructor returned it, or if [WithName] would refuse its name. Every adapter calls Check
// before it changes an engine's options.
//
// For a policy of another package it checks only the name: it calls p.Name, even if p is a nil
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
	o, ok := p.(own)
	if !ok || o.self() != p {
		return p != nil
	}
	return o.usable()
}

// own is a policy of this package. A type that embeds one has these methods too, but is not what
// self returns.
type own interface {
	self() Policy // the receiver
	usable() bool // whether it comes from a constructor
}

// Compatible reports whether a and b may share a name, that is, whether each reads the filters of
// the other. All policies of this package do, counted or not. Any other policy is compatible with
// itself only.
//
// An engine chooses the reader of a filter by its name alone, and a policy of another encoding
// would lose keys.
func Compatible(a, b Policy) bool {
	if isOurs(a) || isOurs(b) {
		return isOurs(a) && isOurs(b)
	}
	// Foreign policies of a type that == cannot compare count as different.
	return reflect.ValueOf(a).Comparable() && a == b
}

// isOurs reports whether p reads filters by [MayContain]. A type that embeds one of our policies
// may answer differently, so it is not ours.
func isOurs(p Policy) bool {
	if c, ok := p.(*Counted); ok {
		return c != nil && isOurs(c.policy)
	}
	o, ok := p.(own)
	return ok && o.self() == p
}
