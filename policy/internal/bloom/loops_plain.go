package bloom

import "encoding/binary"

// The inner loops in plain Go, for every platform. avx512.go and noavx512.go choose what runs; the
// functions there say what these do.

// hashGroup is how many keys are hashed before their hashes are used: enough that the fixed cost of
// a group does not count, and few enough for the stack. An index fits a byte; see testStaged.
const hashGroup = 128

// ContainsMany sets out[i] to whether keys[i] may be in the filter. REQUIRES: k >= 5,
// len(out) == len(keys).
func ContainsMany(filter []byte, keys [][]byte, out []bool) {
	array, k := NewBits(filter), int(filter[len(filter)-1])
	var hashes [hashGroup]uint32
	for mostlyFound := false; len(keys) > 0; {
		n := min(len(keys), len(hashes))
		hashKeys(hashes[:n], keys[:n])
		found := testProbes(array, &hashes, n, k, mostlyFound, out)
		mostlyFound = found > n/2
		keys, out = keys[n:], out[n:]
	}
}

func hashKeysPlain(hashes []uint32, keys [][]byte) {
	for ; len(keys) >= 4; hashes, keys = hashes[4:], keys[4:] {
		hash4((*[4]uint32)(hashes), (*[4][]byte)(keys))
	}
	for i, key := range keys {
		hashes[i] = Hash(key)
	}
}

// hash4 hashes four keys. Each step of a hash waits for the one before, and the processor is idle
// most of that time. Four keys of the same length, in turn, fill it. (Keys of mixed lengths, in
// turn as far as the shortest goes, took longer than one by one.)
func hash4(hashes *[4]uint32, keys *[4][]byte) {
	k0, k1, k2, k3 := keys[0], keys[1], keys[2], keys[3]
	n := len(k0)
	if len(k1) != n || len(k2) != n || len(k3) != n {
		*hashes = [4]uint32{Hash(keys[0]), Hash(keys[1]), Hash(keys[2]), Hash(keys[3])}
		return
	}
	k1, k2, k3 = k1[:n:n], k2[:n:n], k3[:n:n] // so that the loop needs no bounds checks
	h0 := HashStart(k0)
	h1, h2, h3 := h0, h0, h0
	for i := 0; i <= n-4; i += 4 {
		h0 = hashWord(h0, binary.LittleEndian.Uint32(k0[i:i+4]))
		h1 = hashWord(h1, binary.LittleEndian.Uint32(k1[i:i+4]))
		h2 = hashWord(h2, binary.LittleEndian.Uint32(k2[i:i+4]))
		h3 = hashWord(h3, binary.LittleEndian.Uint32(k3[i:i+4]))
	}
	*hashes = [4]uint32{h0, h1, h2, h3}
	if n%4 != 0 {
		for i, key := range keys {
			hashes[i] = HashTail(hashes[i], key)
		}
	}
}

func setProbesPlain(array []byte, m modulus, hashes []uint32, k int) {
	if k == 6 { // as for 10 bits per key: faster without the inner loop
		for _, h := range hashes {
			delta := Delta(h)
			setProbe(array, m, h)
			setProbe(array, m, h+delta)
			setProbe(array, m, h+2*delta)
			setProbe(array, m, h+3*delta)
			setProbe(array, m, h+4*delta)
			setProbe(array, m, h+5*delta)
		}
		return
	}
	for _, h := range hashes {
		delta := Delta(h)
		for range k {
			setProbe(array, m, h)
			h += delta
		}
	}
}

func testProbesPlain(a Bits, hashes []uint32, k int, mostlyFound bool, out []bool) (found int) {
	if mostlyFound {
		return a.testEager(hashes, k, out)
	}
	return a.testStaged(hashes, k, out)
}

// testStaged suits keys of which few are found: it tests two probes of every key, and the others
// only of those that pass, a quarter of the absent keys. No branch depends on a probe.
func (a Bits) testStaged(hashes []uint32, k int, out []bool) (found int) {
	var passed [hashGroup]uint8
	n := uint(0)
	out = out[:len(hashes)]
	for i, h := range hashes {
		out[i] = false
		passed[n%hashGroup] = uint8(i) // stays if this key passes
		n += uint(a.At(h) & a.At(h+Delta(h)) & 1)
	}
	for _, i := range passed[:n] {
		h := hashes[i]
		delta := Delta(h)
		all := a.At(h+2*delta) & a.At(h+3*delta) & a.At(h+4*delta)
		h += 5 * delta
		for j := k; j > 5; j-- {
			all &= a.At(h)
			h += delta
		}
		out[i] = all&1 != 0
		found += int(all & 1)
	}
	return found
}

// testEager suits keys of which most are found: it tests all probes of every key.
func (a Bits) testEager(hashes []uint32, k int, out []bool) (found int) {
	out = out[:len(hashes)]
	for i, h := range hashes {
		delta := Delta(h)
		all := a.At(h) & a.At(h+delta) & a.At(h+2*delta) & a.At(h+3*delta) & a.At(h+4*delta)
		h += 5 * delta
		for j := k; j > 5; j-- {
			all &= a.At(h)
			h += delta
		}
		out[i] = all&1 != 0
		found += int(all & 1)
	}
	return found
}
