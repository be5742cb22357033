package policy

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// A new encoding is one file and one entry of each table. This one is a sorted list of LevelDB's
// hashes, 4 bytes each, and its last byte.
const encodingList Encoding = 0x6c

var listEntry = encoding{encodingList, "list", listContains, listParse,
	func(filter []byte) (keys, fpp float64) { return float64(len(filter) / 4), 0 }}

var listKind = Kind{"list", "the hashes themselves", encodingList,
	func(s settings) (Policy, error) { return &listPolicy{s}, nil }}

func listContains(filter, key []byte) bool {
	for ; len(filter) > 4; filter = filter[4:] {
		if binary.LittleEndian.Uint32(filter) == Hash(key) {
			return true
		}
	}
	return len(filter) != 1 // damaged
}

func listParse(filter []byte) (Info, error) {
	if len(filter)%4 != 1 {
		return Info{}, ErrDamaged
	}
	return Info{K: 1, Payload: filter[:len(filter)-1]}, nil
}

type listPolicy struct{ settings }

func (p *listPolicy) self() Policy                     { return p }
func (p *listPolicy) usable() bool                     { return p != nil && p.name != "" }
func (p *listPolicy) String() string                   { return p.format("list") }
func (p *listPolicy) NewBuilder() Builder              { return &listBuilder{} }
func (*listPolicy) MayContain(filter, key []byte) bool { return MayContain(filter, key) }

type listBuilder struct{ hashes []uint32 }

func (b *listBuilder) Add(key []byte) { b.hashes = append(b.hashes, Hash(key)) }
func (b *listBuilder) Len() int       { return len(b.hashes) }
func (b *listBuilder) Finish(dst []byte) []byte {
	slices.Sort(b.hashes)
	for _, h := range b.hashes {
		dst = binary.LittleEndian.AppendUint32(dst, h)
	}
	b.hashes = b.hashes[:0]
	return append(dst, byte(encodingList))
}

func TestThirdEncoding(t *testing.T) {
	keys := policytest.Keys(policytest.Rand(t, 1), 100)
	filter := appendByBuilder(&listPolicy{}, nil, keys)
	_, err := Parse(filter)
	require.ErrorIs(t, err, ErrUnknownEncoding, "before the entry is there")
	require.True(t, MayContain(filter, []byte("absent")))

	known, knownKinds := encodings, kinds
	encodings, kinds = append(slices.Clone(known), listEntry), append(Kinds(), listKind)
	defer func() { encodings, kinds = known, knownKinds }()

	p, err := FromString("list:32,name=mine")
	require.NoError(t, err)
	require.Equal(t, "list:32,name=mine", fmt.Sprint(p))
	_, err = FromString("lists:32")
	require.ErrorContains(t, err, "write one of bloom, tuned, ribbon, list")
	require.Equal(t, "list", Kinds()[3].Name)
	require.Equal(t, "list", encodingList.String())

	// Every reader reads it, so it may share a name with the others.
	absent := policytest.AbsentKeys(100)
	require.NotContains(t, requireSameAnswers(t, "list", filter, keys), false)
	require.NotContains(t, requireSameAnswers(t, "list", filter, absent), true)
	require.True(t, Compatible(p, policytest.Must(NewBloom(10))))
	require.NoError(t, Check(p))
	require.Error(t, Check(&listPolicy{}))

	c := Count(p)
	require.Equal(t, filter, appendByBuilder(c, nil, keys))
	require.True(t, c.MayContain(filter, keys[0]))
	require.Equal(t, Counters{MayContain: 1, Filters: 1, Keys: 100, Bytes: 401}, c.Snapshot())
	b := NewDistinctBuilder(p)
	for _, key := range keys {
		b.Add(key)
		b.Add(key)
	}
	require.Equal(t, filter, b.Finish(nil))

	info := mustParse(t, filter)
	require.Equal(t, encodingList, info.Encoding)
	n, fpp := info.Estimate()
	require.Equal(t, 100.0, n)
	require.Zero(t, fpp)
	require.Empty(t, info.Probes(nil, keys[0]))
	_, err = Parse(filter[1:])
	require.ErrorIs(t, err, ErrDamaged)
}
