//go:build !purego

// Sixteen hashes or probes at once, one in each lane of a 512-bit register. bloom_avx512.go says
// what the functions do.

#include "funcdata.h"
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

#define GET(i) \
	MOVL    (4*i)(R9), AX; \
	VPINSRB $i, (DI)(AX*1), X5, X5

// func avx512Test(
//	array *byte, bytes, reciprocal uint32, hashes, places *uint32, n, from, to int,
// ) (passed int)
//
//	DI array, SI and BX hashes and places, DX how many are left, R8 probes of each, CX those left
//	R9 indexes of 16 probes; R10 and R11 where to keep the next hash and place
//	Z0 probes, Z1 delta, Z27 first probe's number, K2 lanes that pass
TEXT ·avx512Test(SB), NOSPLIT, $128-64
	MOVQ         array+0(FP), DI
	MOVL         bytes+8(FP), AX
	VPBROADCASTD AX, Z30
	MOVL         reciprocal+12(FP), AX
	VPBROADCASTD AX, Z31
	MOVQ         hashes+16(FP), SI
	MOVQ         SI, R10
	MOVQ         places+24(FP), BX
	MOVQ         BX, R11
	MOVQ         n+32(FP), DX
	MOVQ         from+40(FP), AX
	VPBROADCASTD AX, Z27
	MOVQ         to+48(FP), R8
	SUBQ         AX, R8
	ALIGNED_FRAME(R9)
	PROBE_CONSTANTS

group:
	MOVL      $0xffff, AX
	BZHIL     DX, AX, CX // DX is at most 128
	KMOVW     CX, K2
	VMOVDQU32 (SI), Z6
	VPRORD    $17, Z6, Z1
	VPMULLD   Z1, Z27, Z0
	VPADDD    Z6, Z0, Z0
	MOVQ      R8, CX

probe:
	BYTES_AND_BITS
	VMOVDQU32 Z2, (R9)
	VPADDD    Z1, Z0, Z0
	VPXOR     X5, X5, X5
	GET(0); GET(1); GET(2); GET(3); GET(4); GET(5); GET(6); GET(7)
	GET(8); GET(9); GET(10); GET(11); GET(12); GET(13); GET(14); GET(15)
	VPMOVZXBD X5, Z5
	VPTESTMD  Z4, Z5, K2, K2
	DECQ      CX
	JNZ       probe

	VMOVDQU32   (BX), Z7
	VPCOMPRESSD Z6, K2, Z6
	VPCOMPRESSD Z7, K2, Z7
	// 16 of them; the next ones overwrite those that did not pass. Never beyond what was read.
	VMOVDQU32   Z6, (R10)
	VMOVDQU32   Z7, (R11)
	KMOVW       K2, AX
	POPCNTL     AX, AX
	LEAQ        (R10)(AX*4), R10
	LEAQ        (R11)(AX*4), R11
	ADDQ        $64, SI
	ADDQ        $64, BX
	SUBQ        $16, DX
	JG          group
	SUBQ        hashes+16(FP), R10
	SHRQ        $2, R10
	MOVQ        R10, passed+56(FP)
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

#define ROW(i) \
	MOVQ       (24*i)(DI), AX;   \
	MOVQ       (24*i+8)(DI), CX; \
	BZHIQ      CX, R8, BX;       \ // 1s for the key's bytes, 64 at most; any number if far longer
	KMOVQ      BX, K1;           \
	VMOVDQU8.Z (AX), K1, Z1;     \ // reads no other byte
	VMOVDQU32  Z1, (64*i)(SI);   \
	CMPQ       CX, R11;          \
	CMOVQHI    R11, CX;          \ // 65 stands for all lengths that do not fit
	MOVL       CX, (1024+4*i)(SI)

#define UNLIKE(i) \
	CMPQ (24*i+8)(DI), CX; \
	JNE  unlike

// AHEAD fetches the beginning of a key of the next group. Without it, keys of 64 bytes from memory
// beyond the caches take longer than in plain Go (BenchmarkMayContainMany/bpk=10/len=64): 16 keys
// with their parts fill the processor's window.
#define AHEAD(i) \
	MOVQ       (24*i)(DI), AX; \
	PREFETCHT0 (AX)

#define PART(i, X) \
	MOVQ       (24*(i))(DI), AX; \
	VMOVDQU8.Z (AX)(R12*1), K3, X

#define FOUR_PARTS(i, X, Z) \
	PART(i, X);                 \
	PART(i+4, X8);              \
	PART(i+8, X9);              \
	PART(i+12, X10);            \
	VINSERTI32X4 $1, X8, Z, Z;  \
	VINSERTI32X4 $2, X9, Z, Z;  \
	VINSERTI32X4 $3, X10, Z, Z

// func avx512HashKeys(hashes *uint32, keys *[]byte, groups int) (all bool)
//	DI keys, R9 hashes, R10 groups; R8 1s, R11 65; K6 the lanes in which all hashes are set so far
//	keys of one length: CX length, R12 bytes done, K3 those of the next 16 that the keys have
//	others: SI rows in the frame
TEXT ·avx512HashKeys(SB), 0, $1152-25
	NO_LOCAL_POINTERS
	MOVQ hashes+0(FP), R9
	MOVQ keys+8(FP), DI
	MOVQ groups+16(FP), R10
	MOVQ $-1, R8
	MOVL $65, R11
	KXNORW K6, K6, K6
	HASH_CONSTANTS

group:
	MOVQ 8(DI), CX
	CMPQ CX, $(1<<30)
	JHI  unlike
	UNLIKE(1); UNLIKE(2); UNLIKE(3); UNLIKE(4); UNLIKE(5); UNLIKE(6); UNLIKE(7); UNLIKE(8)
	UNLIKE(9); UNLIKE(10); UNLIKE(11); UNLIKE(12); UNLIKE(13); UNLIKE(14); UNLIKE(15)
	KXNORW K7, K7, K7
	VPBROADCASTD CX, Z20
	HASH_START
	MOVQ CX, BX
	XORL R12, R12
	CMPQ R10, $1
	JE   part
	AHEAD(16); AHEAD(17); AHEAD(18); AHEAD(19); AHEAD(20); AHEAD(21); AHEAD(22); AHEAD(23)
	AHEAD(24); AHEAD(25); AHEAD(26); AHEAD(27); AHEAD(28); AHEAD(29); AHEAD(30); AHEAD(31)

part:
	CMPQ    BX, R11
	CMOVQHI R11, BX
	BZHIQ   BX, R8, AX
	KMOVW   AX, K3
	FOUR_PARTS(0, X1, Z1)
	FOUR_PARTS(1, X2, Z2)
	FOUR_PARTS(2, X3, Z3)
	FOUR_PARTS(3, X4, Z4)
	BLOCK
	ADDQ    $16, R12
	MOVQ    CX, BX
	SUBQ    R12, BX
	JG      part

hashed:
	VMOVDQU32 Z0, K7, (R9)
	KANDW     K7, K6, K6
	ADDQ      $64, R9
	ADDQ      $(16*24), DI
	DECQ      R10
	JNZ       group
	KORTESTW  K6, K6 // sets the carry if all are 1
	SETCS     all+24(FP)
	VZEROUPPER
	RET

unlike:
	ALIGNED_FRAME(SI)
	ROW(0); ROW(1); ROW(2); ROW(3); ROW(4); ROW(5); ROW(6); ROW(7)
	ROW(8); ROW(9); ROW(10); ROW(11); ROW(12); ROW(13); ROW(14); ROW(15)
	CALL hashRows<>(SB)
	JMP  hashed

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
