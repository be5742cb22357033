package goleveldb

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// between returns keys between others, if these leave room, and never the same twice.
func TestBetween(t *testing.T) {
	rng := testkit.Rand(t, 66)
	key := func() []byte {
		key := make([]byte, rng.Intn(5))
		for i := range key {
			key[i] = []byte{0, 1, 254, 255}[rng.Intn(4)]
		}
		return key
	}
	for range 20_000 {
		a, b := key(), key()
		if bytes.Compare(a, b) >= 0 {
			continue
		}
		got := between(a, b)
		if bytes.Equal(append(bytes.Clone(a), make([]byte, max(0, len(b)-len(a)))...), b) {
			require.Nil(t, got)
			continue
		}
		require.Less(t, string(a), string(got), "%x", b)
		require.Less(t, string(got), string(b), "%x", a)
		require.NotEqual(t, got, between(a, b))
	}
	long := bytes.Repeat([]byte{7}, 1000)
	for _, c := range []struct{ a, b byte }{{1, 2}, {1, 3}, {0, 255}} {
		got := between(append([]byte{5, c.a}, long...), append([]byte{5, c.b}, long...))
		require.LessOrEqual(t, len(got), 2+1+16)
	}
}

// Other lookups do not count as the one that Rewrite watches, nor do two Rewrites mix theirs up.
func TestLook(t *testing.T) {
	for _, bits := range []float64{2, 6.9, 10} {
		p, err := policy.NewRibbon(bits)
		require.NoError(t, err)
		f, err := newFilter(p)
		require.NoError(t, err)
		mine, other := []byte("mine"), []byte("other")
		both := p.AppendFilter(nil, [][]byte{mine, other})
		neither := p.AppendFilter(nil, [][]byte{[]byte("third")})
		for f.MayContain(neither, mine) {
			neither = p.AppendFilter(nil, [][]byte{neither})
		}
		bloom := bytes.Repeat([]byte{255}, 10)
		bloom[9] = 6
		for _, c := range []struct {
			filters     [][]byte // of tables
			asked, ours bool
		}{
			{nil, false, false},
			{[][]byte{neither}, true, false},
			{[][]byte{both}, true, true},
			{[][]byte{neither, both}, true, true},
			{[][]byte{both, neither}, true, true},
			{[][]byte{bloom}, true, false},
			{[][]byte{both, bloom}, true, false},
			{[][]byte{bloom, both}, true, true},
		} {
			second := make(chan bool)
			first := func() {
				go f.look(readerFunc(func() { close(second) }), other)
				select {
				case <-second:
				case <-time.After(time.Millisecond): // it waits for this one
				}
				f.Contains(both, other)
				for _, filter := range c.filters {
					f.Contains(filter, mine)
				}
				f.Contains(both, other)
			}
			l, err := f.look(readerFunc(first), mine)
			require.NoError(t, err)
			require.Equal(t, c.asked, l.asked.Load())
			require.Equal(t, c.ours, l.ours.Load())
			<-second
		}
	}
}

type readerFunc func()

func (r readerFunc) Has([]byte, *opt.ReadOptions) (bool, error) {
	r()
	return false, nil
}
