package policy

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"testing"
)

func TestRibbonFigures(t *testing.T) {
	if os.Getenv("RIBBON") == "" {
		t.Skip()
	}
	for _, bpk := range []float64{10, 7, 16} {
		r, err := NewRibbon(bpk)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewSource(7))
		for _, n := range []int{3, 5, 10, 15, 20, 24, 28, 36, 44, 51, 60, 64, 65, 68, 72, 80, 100, 128, 180, 250, 350, 500, 700, 999, 1001, 1500, 2000, 5000, 10000, 20000, 100000, 1000000} {
			queries := 40_000_000
			if bpk != 10 {
				queries = 20_000_000
			}
			if testing.Short() {
				queries /= 10
			}
			per := min(max(20000, queries*n/1000000), queries)
			fp, seeds, filters, l := 0, 0, 0, 0
			var s ribbonShape
			for asked := 0; asked < queries; asked += per {
				hashes := make([]uint64, n)
				b := r.NewBuilder().(*ribbonBuilder)
				for i := range hashes {
					hashes[i] = rng.Uint64()
					if b.full() {
						b.grow()
					}
					b.put(hashes[i])
				}
				filter := b.Finish(nil)
				if filter[len(filter)-1] != byte(EncodingRibbon) {
					t.Logf("%d: blocked", n)
					break
				}
				s = ribbonShape{}
				if !s.parse(filter) {
					t.Fatal("parse")
				}
				for _, x := range hashes {
					if !s.contains(filter, x) {
						t.Fatal("lost", n)
					}
				}
				seeds += int(s.seed/turns) + 1
				filters++
				l = len(filter)
				for range per {
					if s.contains(filter, rng.Uint64()) {
						fp++
					}
				}
			}
			if filters == 0 {
				continue
			}
			rate := float64(fp) / float64(filters*per)
			fmt.Printf("%v bits n %7d: size %7d FPR %.4f %% (limit x%.3f, %.2f%% of bits) seeds %.2f layers %d last %d columns %d part %d\n", bpk, n, l, 100*rate, rate*math.Pow(2, bpk), 100*(1+math.Log2(rate)/bpk), float64(seeds)/float64(filters), len(s.upper)/3, s.last, s.columns, s.part)
		}
	}
	fmt.Println("failures", ribbonFailures.Load())
	_ = binary.LittleEndian
}
