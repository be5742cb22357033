package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kinds are the kinds of filter that [FromString] knows.
var kinds = []string{"bloom", "tuned", "ribbon"}

// FromString returns the policy that a string describes: the kind of its filters, a colon, and
// the bits per key. Options may follow after commas:
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
func FromString(spec string, opts ...Option) (Sized, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	if !slices.Contains(kinds, kind) {
		return nil, fmt.Errorf("policy: %q is not a kind of filter: write one of %s, a colon, "+
			"and the bits per key, such as bloom:10", kind, strings.Join(kinds, ", "))
	}
	text, name, named := strings.Cut(rest, ",name=") // a name may contain commas
	parts := strings.Split(text, ",")
	bitsPerKey, err := strconv.ParseFloat(parts[0], 64)
	if err != nil {
		return nil, fmt.Errorf("policy: %q gives %q as bits per key: write a number after the "+
			"colon, such as %s:10", spec, parts[0], kind)
	}
	var all []Option
	if kind == "tuned" {
		all = append(all, WithTuning(0.05))
	}
	for _, text := range parts[1:] {
		o, err := optionOf(text)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	if named {
		all = append(all, WithName(name))
	}
	all = append(all, opts...)
	if kind == "ribbon" {
		return sized(NewRibbon(bitsPerKey, all...))
	}
	return sized(NewBloom(bitsPerKey, all...))
}

// sized returns what a constructor returned: with an error, nil instead of an interface that holds
// a nil pointer.
func sized(p Sized, err error) (Sized, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// optionOf returns the option of a string.
func optionOf(text string) (Option, error) {
	if text == "verify" {
		return WithVerify(), nil
	}
	part, ok := strings.CutPrefix(text, "tuning=")
	if !ok {
		return nil, fmt.Errorf("policy: %q is not an option: write tuning=0.05, verify, or "+
			"name=NAME as the last one", text)
	}
	memory, err := strconv.ParseFloat(part, 64)
	if err != nil {
		return nil, fmt.Errorf("policy: %q is not a number: write a part of the "+
			"memory, such as tuning=0.05", text)
	}
	return WithTuning(memory), nil
}

// format returns the string that FromString takes for a policy of a kind.
func (c *common) format(kind string) string {
	text := fmt.Sprintf("%s:%v", kind, c.setting.BitsPerKey)
	if c.setting.Tuning > 0 {
		text += fmt.Sprintf(",tuning=%v", c.setting.Tuning)
	}
	if c.setting.Verify {
		text += ",verify"
	}
	if c.name != Name {
		text += ",name=" + c.name
	}
	return text
}
