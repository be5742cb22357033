package policy

import "errors"

// Check returns an error that says what to pass instead if an engine cannot use p: if p is nil or
// was not returned by its constructor, or if its name is one that [WithName] refuses. Every adapter
// calls it before it changes an engine's options.
func Check(p Policy) error {
	inner, ours := unwrap(p)
	if inner == nil || ours && inner.Name() == "" {
		return errors.New("policy: the policy is nil or its zero value: " +
			"pass one that a constructor such as policy.NewBloom returned without an error")
	}
	return checkName(p.Name())
}

// Compatible reports whether a and b may share a name: whether each reads the filters of the other.
// All policies of this package do; any other policy is compatible with itself alone.
//
// The adapters ask it, because an engine chooses the reader of a filter by the name alone: a policy
// of another encoding would lose keys.
func Compatible(a, b Policy) bool {
	a, aOurs := unwrap(a)
	b, bOurs := unwrap(b)
	return aOurs && bOurs || !aOurs && !bOurs && a == b
}

// unwrap returns the policy that does the work, and whether it is one of this package's. A nil
// pointer becomes a nil Policy. A type that embeds one of ours may answer differently, so it is not
// ours.
func unwrap(p Policy) (inner Policy, ours bool) {
	switch p := p.(type) {
	case *Counted:
		if p == nil {
			return nil, false
		}
		return unwrap(p.policy)
	case *Bloom:
		if p == nil {
			return nil, false
		}
		return p, true
	case *Ribbon:
		if p == nil {
			return nil, false
		}
		return p, true
	case *BlockedBloom:
		if p == nil {
			return nil, false
		}
		return p, true
	}
	return p, false
}
