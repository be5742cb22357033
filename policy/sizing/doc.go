// Package sizing answers how many bits per key to configure, and what that costs.
//
// [BitsFor] returns the bits per key with which a policy reaches a target rate of false positives,
// and [Memory] what its filters take. [Levels] distributes memory over the levels of an LSM tree.
// They compute with the rates that filters of package policy have: FPR of each policy. `go run
// ./bench size` shows all of it on one screen.
//
//	bits, err := sizing.BitsFor(policy.NewRibbon, 100_000, 0.001)
//
// FPP, Bits, Probes, BitsPerKey, Keys and FPPOfSet are the textbook's formulas, for filters with
// random, independent probes. LevelDB's filters have more false positives than that: at 10 bits per
// key, 1.4 times as many with 20 keys and 2.4 times with 300,000; at 20 bits per key, 17 times with
// 20 keys (TestTextbookIsTooLow). The textbook leaves open how to round. This package takes
// ceilings unless it is told otherwise ([Rounding]).
//
// All rates are for well-mixed keys. For dense numbers, such as counters, no formula holds:
// `go run ./bench rates` measures them.
package sizing
