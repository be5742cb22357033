package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Kind is a kind of filter that [FromString] knows.
type Kind struct {
	Name        string // as FromString takes it before the colon
	Description string // in one line
	Encoding    Encoding

	new func(settings) (Policy, error)
}

// Kinds returns the kinds of filter that [FromString] knows. The first one is what others are
// compared with.
func Kinds() []Kind { return slices.Clone(kinds) }

var kinds = []Kind{
	{"bloom", "LevelDB's Bloom filter, byte for byte", EncodingBloom,
		func(s settings) (Policy, error) { return bloomOf(s) }},
	{"tuned", "LevelDB's Bloom filter, with the size and k that suit the keys: " +
		"bloom with tuning=0.05", EncodingBloom, tunedOf},
	{"ribbon", "the smallest, for keys of any shape; only this package reads it",
		EncodingRibbon, func(s settings) (Policy, error) { return ribbonOf(s) }},
}

// FromString returns the policy that a string describes: the name of a [Kind], a colon, and the
// bits per key. Options may follow after commas:
//
//	bloom:10
//	bloom:9.5,tuning=0.05,verify,name=leveldb.BuiltinBloomFilter
//	tuned:10     the same as bloom:10,tuning=0.05
//	ribbon:7
//
// tuning=0.05 stands for [WithTuning], which only bloom and tuned take, verify for [WithVerify],
// and name= for [WithName]. The name comes last, as it may contain commas. opts are applied after
// the options in the string.
//
// The String methods of the policies return such strings. If FromString cannot read spec, its error
// says what to write instead. It also returns the errors of the constructors.
func FromString(spec string, opts ...Option) (Policy, error) {
	name, rest, _ := strings.Cut(spec, ":")
	var kind Kind
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
		if k.Name == name {
			kind = k
		}
	}
	if kind.new == nil {
		return nil, fmt.Errorf("policy: %q is no kind of filter: write one of %s, a colon, "+
			"and the bits per key, such as bloom:10", name, strings.Join(names, ", "))
	}
	text, policyName, named := strings.Cut(rest, ",name=") // a name may contain commas
	parts := strings.Split(text, ",")
	bitsPerKey, err := strconv.ParseFloat(parts[0], 64)
	if err != nil {
		return nil, fmt.Errorf("policy: %q gives %q as bits per key: write a number after the "+
			"colon, such as %s:10", spec, parts[0], name)
	}
	var all []BloomOption
	for _, text := range parts[1:] {
		o, err := optionOf(text)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	if named {
		all = append(all, WithName(policyName))
	}
	for _, o := range opts {
		all = append(all, o)
	}
	s, err := newSettings(bitsPerKey, all)
	if err != nil {
		return nil, err
	}
	p, err := kind.new(s)
	if err != nil {
		return nil, err // and no nil pointer as p
	}
	return p, nil
}

// optionOf returns the option of a string.
func optionOf(text string) (BloomOption, error) {
	if text == "verify" {
		return WithVerify(), nil
	}
	part, ok := strings.CutPrefix(text, "tuning=")
	if !ok {
		return nil, fmt.Errorf("policy: %q is no option: write tuning=0.05, verify, or "+
			"name=NAME as the last one", text)
	}
	memory, err := strconv.ParseFloat(part, 64)
	if err != nil {
		return nil, fmt.Errorf("policy: %q is no number: write a part of the "+
			"memory, such as tuning=0.05", text)
	}
	return WithTuning(memory), nil
}

// format returns the string that FromString takes for a policy of a kind.
func (s *settings) format(kind string) string {
	text := fmt.Sprintf("%s:%v", kind, s.bitsPerKey)
	if s.tuning > 0 {
		text += fmt.Sprintf(",tuning=%v", s.tuning)
	}
	if s.verify {
		text += ",verify"
	}
	if s.name != Name {
		text += ",name=" + s.name
	}
	return text
}
