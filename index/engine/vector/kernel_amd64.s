#include "textflag.h"

// The layout of codes is such that word w of eight vectors is one register of 512
// bits, or two of 256: the kernel for 512 adds within the eight bytes of a lane alone.

// ahead is how far before codes are counted they are fetched: processors fetch what
// comes next by themselves, but not beyond a page of memory. What is fetched for later
// goes into the second cache: the first one waits for few lines of memory at a time.
#define ahead 8192

// Eight bytes: one in each, the low half of each, and 16 times the place of each.
DATA ones<>+0(SB)/8, $0x0101010101010101
GLOBL ones<>(SB), RODATA|NOPTR, $8
DATA nibble<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibble<>(SB), RODATA|NOPTR, $8
DATA places16<>+0(SB)/8, $0x7060504030201000
GLOBL places16<>(SB), RODATA|NOPTR, $8

// far sets R15 to how many rows ahead are fetched: 8 kB of them, but no fewer than 8.
// Words are in CX.
#define far \
	MOVL     $128, AX \
	XORL     DX, DX   \
	DIVL     CX       \
	MOVL     $8, R15  \
	CMPL     AX, R15  \
	CMOVLGT  AX, R15

// locate sets AX and DX to where a row and the first word of its code lie, of which the
// next word is 64 bytes on, and R13 and R14 the same for the row that is to be fetched.
// Numbers of rows are at BX, R9 are left, and a row and a group of codes by word are R11
// bytes; R12 is changed.
#define locate \
	MOVL    (BX), AX        \
	MOVQ    AX, DX          \
	MOVQ    AX, R12         \
	SHRQ    $3, DX          \
	ANDQ    $7, R12         \
	IMULQ   R11, DX         \
	LEAQ    (DX)(R12*8), DX \
	ADDQ    codes+24(FP), DX \
	IMULQ   R11, AX         \
	ADDQ    SI, AX          \
	XORL    R13, R13        \
	CMPQ    R9, R15         \
	CMOVQGT R15, R13        \
	MOVL    (BX)(R13*4), R13 \
	MOVQ    R13, R14        \
	SHRQ    $3, R14         \
	IMULQ   R11, R14        \
	ADDQ    codes+24(FP), R14 \
	IMULQ   R11, R13        \
	ADDQ    SI, R13

// look512 adds to "to" what the table of a word says of the codes at from, whose
// table is in Z16 to Z19; lo and hi are changed.
#define look512(from, lo, hi, to) \
	VMOVDQU64  (from), lo         \
	VPSRLW     $4, lo, hi         \
	VPTERNLOGQ $0xea, Z13, Z12, lo \
	VPTERNLOGQ $0xea, Z13, Z12, hi \
	VPERMI2B   Z17, Z16, lo       \
	VPERMI2B   Z19, Z18, hi       \
	VPADDB     hi, lo, lo         \
	VPDPBUSD   Z11, lo, to

// put512 writes the estimates of the group whose sums, two for each row, are in z.
#define put512(z, y, at, group) \
	VPSRLQ   $32, z, Z2   \
	VPADDD   Z2, z, z     \
	VPMOVQD  z, y         \
	VPCMPGTD Y15, y, K1   \
	KMOVB    K1, AX       \
	MOVB     AX, group(SI) \
	VMOVDQU  y, at(DI)

// func scanAVX512(out *int32, mask *byte, codes *byte, tables *byte, words, groups int, least int32)
TEXT ·scanAVX512(SB), NOSPLIT, $0-52
	MOVQ out+0(FP), DI
	MOVQ mask+8(FP), SI
	MOVQ codes+16(FP), BX
	MOVQ tables+24(FP), DX
	MOVQ words+32(FP), CX
	MOVQ groups+40(FP), R8
	MOVL least+48(FP), AX
	VPBROADCASTD AX, Y15
	MOVQ CX, AX
	SHLQ $9, AX
	NEGL AX // what tables say too much, of which a word adds sixteen numbers to a row
	VPBROADCASTQ AX, Z14
	VPBROADCASTQ places16<>(SB), Z13
	VPBROADCASTQ nibble<>(SB), Z12
	VPBROADCASTQ ones<>(SB), Z11
	MOVQ CX, R11
	SHLQ $6, R11

pair512:
	XORL    R13, R13 // the second group; the last one may be alone
	CMPQ    R8, $1
	CMOVQGT R11, R13
	ADDQ    BX, R13
	MOVQ    DX, R9
	MOVQ    CX, R10
	VMOVDQA64 Z14, Z0
	VMOVDQA64 Z14, Z1

word512:
	PREFETCHT1 ahead(BX)
	PREFETCHT1 ahead(R13)
	VMOVDQU64  (R9), Z16
	VMOVDQU64  64(R9), Z17
	VMOVDQU64  128(R9), Z18
	VMOVDQU64  192(R9), Z19
	look512(BX, Z2, Z3, Z0)
	look512(R13, Z4, Z5, Z1)
	ADDQ       $64, BX
	ADDQ       $64, R13
	ADDQ       $256, R9
	DECQ       R10
	JNZ        word512

	put512(Z0, Y0, 0, 0)
	CMPQ R8, $1
	JEQ  scanned512
	put512(Z1, Y1, 32, 1)
	MOVQ R13, BX
	ADDQ $2, SI
	ADDQ $64, DI
	SUBQ $2, R8
	JNZ  pair512

scanned512:
	VZEROUPPER
	RET

// sixteen512 writes the bits of sixteen estimates.
#define sixteen512(from, to) \
	VPCMPD $1, from(SI), Z15, K1 \
	KMOVW  K1, AX                \
	MOVW   AX, to(DI)

// func aboveAVX512(mask *byte, estimates *int32, words int, least int32)
TEXT ·aboveAVX512(SB), NOSPLIT, $0-28
	MOVQ mask+0(FP), DI
	MOVQ estimates+8(FP), SI
	MOVQ words+16(FP), CX
	MOVL least+24(FP), AX
	VPBROADCASTD AX, Z15

above512:
	sixteen512(0, 0)
	sixteen512(64, 2)
	sixteen512(128, 4)
	sixteen512(192, 6)
	ADDQ $256, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  above512
	VZEROUPPER
	RET

// func dotAVX512(out *int32, rows *byte, index *uint32, codes *byte, numbers *int16, words, count int)
TEXT ·dotAVX512(SB), NOSPLIT, $0-56
	MOVQ   out+0(FP), DI
	MOVQ   rows+8(FP), SI
	MOVQ   index+16(FP), BX
	MOVQ   numbers+32(FP), R8
	MOVQ   words+40(FP), CX
	MOVQ   count+48(FP), R9
	MOVQ   CX, R11
	SHLQ   $6, R11
	VPXORQ Z9, Z9, Z9
	far

row512:
	locate
	MOVQ   R8, R12
	MOVQ   CX, R10
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1

part512:
	PREFETCHT1 (R13)
	PREFETCHT1 (R14)
	ADDQ      $64, R13
	ADDQ      $64, R14
	KMOVQ     (DX), K1
	KSHIFTRQ  $32, K1, K2
	VPMOVZXBW (AX), Z2
	VPMOVZXBW 32(AX), Z3
	VPSUBW    Z2, Z9, K1, Z2 // negative where the code says so
	VPSUBW    Z3, Z9, K2, Z3
	VPDPWSSD  (R12), Z2, Z0
	VPDPWSSD  64(R12), Z3, Z1
	ADDQ      $64, DX
	ADDQ      $64, AX
	ADDQ      $128, R12
	DECQ      R10
	JNZ       part512

	VPADDD        Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0x4e, X0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0xb1, X0, X1
	VPADDD        X1, X0, X0
	VMOVD         X0, (DI)
	ADDQ          $4, DI
	ADDQ          $4, BX
	DECQ          R9
	JNZ           row512
	VZEROUPPER
	RET

// pair256 loads rows 2n and 2n+1 of a word: of the first and the third group into a, of
// the second and the fourth into b, the earlier one in the lower half.
#define pair256(n, xa, a, xb, b) \
	VMOVDQU     16*n(BX), xa         \
	VMOVDQU     16*n(R12), xb        \
	VINSERTI128 $1, 16*n(R13), a, a  \
	VINSERTI128 $1, 16*n(R14), b, b

// weave256 puts the lower halves of a and b into low, the upper ones into b, taking turns.
#define weave256(LOW, HIGH, a, b, low) \
	LOW  b, a, low \
	HIGH b, a, b

// look256 adds to Y13 and Y14 what the tables of bytes n and n+1 of a word say. The
// bytes of rows 0 to 3 are in a, those of 4 to 7 in b.
#define look256(n, a, b) \
	VPUNPCKLQDQ b, a, Y9         \
	VPUNPCKHQDQ b, a, Y10        \
	VPSRLW  $4, Y9, Y11          \
	VPSRLW  $4, Y10, Y12         \
	VPAND   Y15, Y9, Y9          \
	VPAND   Y15, Y10, Y10        \
	VPAND   Y15, Y11, Y11        \
	VPAND   Y15, Y12, Y12        \
	VBROADCASTI128 16*n(R9), a    \
	VBROADCASTI128 16*n+16(R9), b \
	VPSHUFB Y9, a, Y9            \
	VPSHUFB Y10, b, Y10          \
	VBROADCASTI128 16*n+128(R9), a \
	VBROADCASTI128 16*n+144(R9), b \
	VPSHUFB Y11, a, Y11          \
	VPSHUFB Y12, b, Y12          \
	VPADDB  Y10, Y9, Y9          \
	VPADDB  Y12, Y11, Y11        \
	VPADDB  Y11, Y9, Y9          \
	VPSRLW  $8, Y9, Y10          \
	VPADDW  Y9, Y14, Y14         \
	VPADDW  Y10, Y13, Y13

// put256 writes the estimates of a group, which are in x.
#define put256(x, group) \
	VPMOVSXWD x, Y0          \
	VPCMPGTD  Y12, Y0, Y1    \
	VMOVMSKPS Y1, AX         \
	MOVB      AX, group(SI)  \
	VMOVDQU   Y0, 32*group(DI)

// func scanAVX2(out *int32, mask *byte, codes *byte, tables *byte, words, fours int, least int32)
//
// Four groups at once: their codes are turned until a register holds one byte of the
// codes of 32 rows, whose halves are looked up in the same table. Even bytes are of the
// first and the third group. Sums are 16 bits: Y13 adds odd bytes, Y14 both, 256 times
// the odd ones among it.
TEXT ·scanAVX2(SB), NOSPLIT, $0-52
	MOVQ out+0(FP), DI
	MOVQ mask+8(FP), SI
	MOVQ codes+16(FP), BX
	MOVQ tables+24(FP), DX
	MOVQ words+32(FP), CX
	MOVQ fours+40(FP), R8
	MOVQ CX, R11
	SHLQ $6, R11
	VPBROADCASTQ nibble<>(SB), Y15

fours256:
	LEAQ (BX)(R11*1), R12
	LEAQ (R12)(R11*1), R13
	LEAQ (R13)(R11*1), R14
	MOVQ DX, R9
	MOVQ CX, R10
	MOVQ CX, AX
	SHLQ $9, AX
	NEGL AX // what tables say too much, of which a word adds sixteen numbers to a row
	VMOVD        AX, X14
	VPBROADCASTW X14, Y14
	VMOVDQA      Y14, Y13

word256:
	PREFETCHT1 ahead(BX)
	PREFETCHT1 ahead(R12)
	PREFETCHT1 ahead(R13)
	PREFETCHT1 ahead(R14)
	pair256(0, X0, Y0, X4, Y4)
	pair256(1, X1, Y1, X5, Y5)
	pair256(2, X2, Y2, X6, Y6)
	pair256(3, X3, Y3, X7, Y7)
	weave256(VPUNPCKLBW, VPUNPCKHBW, Y0, Y4, Y8) // a row: two groups, eight bytes
	weave256(VPUNPCKLBW, VPUNPCKHBW, Y1, Y5, Y0)
	weave256(VPUNPCKLBW, VPUNPCKHBW, Y2, Y6, Y1)
	weave256(VPUNPCKLBW, VPUNPCKHBW, Y3, Y7, Y2)
	weave256(VPUNPCKLWD, VPUNPCKHWD, Y8, Y4, Y3) // two rows, four bytes
	weave256(VPUNPCKLWD, VPUNPCKHWD, Y0, Y5, Y8)
	weave256(VPUNPCKLWD, VPUNPCKHWD, Y1, Y6, Y0)
	weave256(VPUNPCKLWD, VPUNPCKHWD, Y2, Y7, Y1)
	weave256(VPUNPCKLDQ, VPUNPCKHDQ, Y3, Y8, Y2) // four rows, two bytes
	weave256(VPUNPCKLDQ, VPUNPCKHDQ, Y4, Y5, Y3)
	weave256(VPUNPCKLDQ, VPUNPCKHDQ, Y0, Y1, Y4)
	weave256(VPUNPCKLDQ, VPUNPCKHDQ, Y6, Y7, Y0)
	look256(0, Y2, Y4)
	look256(2, Y8, Y1)
	look256(4, Y3, Y0)
	look256(6, Y5, Y7)
	ADDQ $64, BX
	ADDQ $64, R12
	ADDQ $64, R13
	ADDQ $64, R14
	ADDQ $256, R9
	DECQ R10
	JNZ  word256

	MOVL         least+48(FP), AX
	VMOVD        AX, X12
	VPBROADCASTD X12, Y12
	VPSLLW       $8, Y13, Y0
	VPSUBW       Y0, Y14, Y14
	VEXTRACTI128 $1, Y14, X10
	VEXTRACTI128 $1, Y13, X11
	put256(X14, 0)
	put256(X13, 1)
	put256(X10, 2)
	put256(X11, 3)
	MOVQ R14, BX
	ADDQ $4, SI
	ADDQ $128, DI
	DECQ R8
	JNZ  fours256
	VZEROUPPER
	RET

// func aboveAVX2(mask *byte, estimates *int32, words int, least int32)
TEXT ·aboveAVX2(SB), NOSPLIT, $0-28
	MOVQ mask+0(FP), DI
	MOVQ estimates+8(FP), SI
	MOVQ words+16(FP), CX
	SHLQ $3, CX // groups
	MOVL least+24(FP), AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15

above256:
	VMOVDQU   (SI), Y0
	VPCMPGTD  Y15, Y0, Y0
	VMOVMSKPS Y0, AX
	MOVB      AX, (DI)
	ADDQ      $32, SI
	INCQ      DI
	DECQ      CX
	JNZ       above256
	VZEROUPPER
	RET

DATA places<>+0(SB)/8, $0x0008000400020001
DATA places<>+8(SB)/8, $0x0080004000200010
DATA places<>+16(SB)/8, $0x0800040002000100
DATA places<>+24(SB)/8, $0x8000400020001000
GLOBL places<>(SB), RODATA|NOPTR, $32

// half256 adds to Y0 and Y1 the products of 32 numbers of a row; Y4 and Y5 become all
// ones where they are negative.
#define half256(row, code, number) \
	VPMOVZXBW    row(AX), Y2         \
	VPMOVZXBW    row+16(AX), Y3      \
	VPBROADCASTW code(DX), Y4        \
	VPBROADCASTW code+2(DX), Y5      \
	VPAND        Y15, Y4, Y4         \
	VPAND        Y15, Y5, Y5         \
	VPCMPEQW     Y15, Y4, Y4         \
	VPCMPEQW     Y15, Y5, Y5         \
	VPXOR        Y4, Y2, Y2          \
	VPXOR        Y5, Y3, Y3          \
	VPSUBW       Y4, Y2, Y2          \
	VPSUBW       Y5, Y3, Y3          \
	VPMADDWD     number(R12), Y2, Y2 \
	VPMADDWD     number+32(R12), Y3, Y3 \
	VPADDD       Y2, Y0, Y0          \
	VPADDD       Y3, Y1, Y1

// func dotAVX2(out *int32, rows *byte, index *uint32, codes *byte, numbers *int16, words, count int)
TEXT ·dotAVX2(SB), NOSPLIT, $0-56
	MOVQ    out+0(FP), DI
	MOVQ    rows+8(FP), SI
	MOVQ    index+16(FP), BX
	MOVQ    numbers+32(FP), R8
	MOVQ    words+40(FP), CX
	MOVQ    count+48(FP), R9
	MOVQ    CX, R11
	SHLQ    $6, R11
	VMOVDQU places<>(SB), Y15
	far

row256:
	locate
	MOVQ  R8, R12
	MOVQ  CX, R10
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

part256:
	PREFETCHT1 (R13)
	PREFETCHT1 (R14)
	ADDQ $64, R13
	ADDQ $64, R14
	half256(0, 0, 0)
	half256(32, 4, 64)
	ADDQ $64, DX
	ADDQ $64, AX
	ADDQ $128, R12
	DECQ R10
	JNZ  part256

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	ADDQ         $4, BX
	DECQ         R9
	JNZ          row256
	VZEROUPPER
	RET
