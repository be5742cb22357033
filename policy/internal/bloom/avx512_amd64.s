//go:build !purego

// Sixteen hashes or probes at once, one in each lane of a 512-bit register. avx512.go says
// what the functions do.

#include "textflag.h"

// Constants in every function that uses probes:
//	Z31 reciprocal, Z30 number of bytes of the bit array, Z29 1s, Z28 7s, K1 the even lanes
#define PROBE_CONSTANTS \
	MOVL         $0x5555, AX; \
	KMOVW        AX, K1;      \
	MOVL         $1, AX;      \
	VPBROADCASTD AX, Z29;     \
	MOVL         $7, AX;      \
	VPBROADCASTD AX, Z28

// BYTES_AND_BITS finds, for the probes in Z0, their bytes (Z2) and the masks of their bits in these
// (Z4). With x = h>>3, d bytes and m = (2^32-1)/d rounded down, m is below 2^32/d and at least
// 2^32/d - 1. So x*m/2^32 is at most x/d, and at least x/d - x/2^32, where x/2^32 is below an
// eighth. So its whole part q is that of x/d or one less, and r = x - q*d is x % d or d more. The
// smaller of r and r-d, unsigned, is x % d: if r is below d, r-d wraps around and is the larger
// one. Nothing overflows, as d is at most 2^29. Multiplication takes every second lane: the even
// ones in place, the odd ones shifted down.
#define BYTES_AND_BITS \
	VPSRLD     $3, Z0, Z2;  \ // x
	VPSRLQ     $32, Z2, Z3; \
	VPMULUDQ   Z31, Z3, Z3; \ // x*m of the odd lanes: q is in the high halves, where it belongs
	VPMULUDQ   Z31, Z2, Z4; \ // x*m of the even lanes: here q moves down
	VMOVSHDUP  Z4, K1, Z3;  \ // q
	VPMULLD    Z30, Z3, Z3; \ // q*d
	VPSUBD     Z3, Z2, Z2;  \ // r
	VPSUBD     Z30, Z2, Z3; \ // r-d
	VPMINUD    Z3, Z2, Z2;  \
	VPANDD     Z28, Z0, Z4; \
	VPSLLVD    Z4, Z29, Z4    // 1 << h%8

// ALIGNED_FRAME sets R to 64 aligned bytes in a frame with 63 to spare: a store across two cache
// lines is slow to read back.
#define ALIGNED_FRAME(R) \
	LEAQ 63(SP), R; \
	ANDQ $-64, R

#define SET(i) \
	MOVQ (8*i)(R9), AX; \ // a byte's index, and above it the bit's mask
	MOVL AX, BX;        \
	SHRQ $32, AX;       \
	ORB  AX, (DI)(BX*1)

// func avx512Set(array *byte, bytes, reciprocal uint32, hashes *uint32, groups, k int)
//	DI array, SI hashes, DX groups, R8 k, CX probes left
//	R9 indexes and masks of 16 probes; Z0 probes, Z1 delta
TEXT ·avx512Set(SB), NOSPLIT, $192-40
	MOVQ         array+0(FP), DI
	MOVL         bytes+8(FP), AX
	VPBROADCASTD AX, Z30
	MOVL         reciprocal+12(FP), AX
	VPBROADCASTD AX, Z31
	MOVQ         hashes+16(FP), SI
	MOVQ         groups+24(FP), DX
	MOVQ         k+32(FP), R8
	ALIGNED_FRAME(R9)
	PROBE_CONSTANTS

group:
	VMOVDQU32 (SI), Z0
	VPRORD    $17, Z0, Z1
	MOVQ      R8, CX

probe:
	BYTES_AND_BITS
	VPUNPCKLDQ Z4, Z2, Z3 // in another order, which does not matter
	VPUNPCKHDQ Z4, Z2, Z4
	VMOVDQU32  Z3, (R9)
	VMOVDQU32  Z4, 64(R9)
	VPADDD     Z1, Z0, Z0
	SET(0); SET(1); SET(2); SET(3); SET(4); SET(5); SET(6); SET(7)
	SET(8); SET(9); SET(10); SET(11); SET(12); SET(13); SET(14); SET(15)
	DECQ       CX
	JNZ        probe
	ADDQ       $64, SI
	DECQ       DX
	JNZ        group
	VZEROUPPER
	RET

// Constants where keys are hashed: Z31 multiplier, Z30 seed, Z29 0s, Z28 4s.
#define HASH_CONSTANTS \
	MOVL         $0xc6a4a793, AX; \
	VPBROADCASTD AX, Z31;         \
	MOVL         $0xbc9f1d34, AX; \
	VPBROADCASTD AX, Z30;         \
	VPXORD       Z29, Z29, Z29;   \
	MOVL         $4, AX;          \
	VPBROADCASTD AX, Z28

// HASH_START begins hashes (Z0) of keys of the lengths in Z20.
#define HASH_START \
	VPMULLD Z31, Z20, Z0; \
	VPXORD  Z30, Z0, Z0

// WORD goes on with the hashes over a word of each key, or its tail with 0s behind, in the lanes
// whose keys have one, and takes 4 from the lengths that are left (Z20).
#define WORD(Z) \
	VPCMPD  $6, Z29, Z20, K1; \ // length left > 0
	VPCMPD  $1, Z28, Z20, K2; \ // length left < 4
	VPADDD  Z, Z0, Z6;        \
	VPMULLD Z31, Z6, Z6;      \
	VPSRLD  $16, Z6, Z7;      \
	VPSRLD  $24, Z6, K2, Z7;  \
	VPXORD  Z6, Z7, K1, Z0;   \
	VPSUBD  Z28, Z20, Z20

// BLOCK goes on over 16 bytes of each key: those of keys 0, 4, 8 and 12 lie in Z1, those of 1, 5, 9
// and 13 in Z2, and so on.
#define BLOCK \
	VPUNPCKLDQ  Z2, Z1, Z5; \ // of four keys each: words 0 0 1 1 of the first two
	VPUNPCKHDQ  Z2, Z1, Z1; \ // words 2 2 3 3
	VPUNPCKLDQ  Z4, Z3, Z6; \
	VPUNPCKHDQ  Z4, Z3, Z3; \
	VPUNPCKLQDQ Z6, Z5, Z2; \ // word 0 of each key
	VPUNPCKHQDQ Z6, Z5, Z4; \
	VPUNPCKLQDQ Z3, Z1, Z5; \
	VPUNPCKHQDQ Z3, Z1, Z1; \ // word 3
	WORD(Z2); WORD(Z4); WORD(Z5); WORD(Z1)

#define FOUR_ROWS(i, X, Z) \
	VMOVDQU      (64*i)(SI), X;            \
	VINSERTI32X4 $1, (64*(i+4))(SI), Z, Z; \
	VINSERTI32X4 $2, (64*(i+8))(SI), Z, Z; \
	VINSERTI32X4 $3, (64*(i+12))(SI), Z, Z

// hashRows hashes the keyRows at SI, and sets K7 to the lanes of keys that lie in their rows. It
// changes SI.
TEXT hashRows<>(SB), NOSPLIT, $0
	VMOVDQU32 1024(SI), Z20
	VPSLLD    $4, Z28, Z1
	VPCMPD    $2, Z1, Z20, K7 // length <= 64
	HASH_START

block:
	FOUR_ROWS(0, X1, Z1)
	FOUR_ROWS(1, X2, Z2)
	FOUR_ROWS(2, X3, Z3)
	FOUR_ROWS(3, X4, Z4)
	BLOCK
	ADDQ     $16, SI
	VPCMPD   $6, Z29, Z20, K7, K1
	KORTESTW K1, K1
	JNZ      block
	RET

// func avx512HashRows(hashes *[16]uint32, rows *keyRows)
TEXT ·avx512HashRows(SB), NOSPLIT, $8-16
	HASH_CONSTANTS
	MOVQ      rows+8(FP), SI
	CALL      hashRows<>(SB)
	MOVQ      hashes+0(FP), DI
	VMOVDQU32 Z0, K7, (DI)
	VZEROUPPER
	RET

// func cpuid(leaf, subleaf uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL subleaf+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() uint32
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, ret+0(FP)
	RET
