#include "textflag.h"

// The layout of codes is such that word w of eight vectors is one register of 512
// bits, or two of 256: a kernel adds within the eight bytes of a lane alone.

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

// counts is how many bits are set in a nibble, times the weight of each plane.
DATA counts<>+0(SB)/8, $0x0302020102010100
DATA counts<>+8(SB)/8, $0x0403030203020201
DATA counts<>+16(SB)/8, $0x0604040204020200
DATA counts<>+24(SB)/8, $0x0806060406040402
DATA counts<>+32(SB)/8, $0x0c08080408040400
DATA counts<>+40(SB)/8, $0x100c0c080c080804
DATA counts<>+48(SB)/8, $0xe8f0f0f8f0f8f800
DATA counts<>+56(SB)/8, $0xe0e8e8f0e8f0f0f8
GLOBL counts<>(SB), RODATA|NOPTR, $64

DATA bias<>+0(SB)/8, $0x8080808080808080
GLOBL bias<>(SB), RODATA|NOPTR, $8

// plane adds to Y8 and Y9, by bytes, the weighted counts of the bits that a plane
// has in common with two registers of codes, whose nibbles are in Y0, Y1 and Y2,
// Y3.
#define plane(offset, table) \
	VPBROADCASTQ offset(R9), Y4 \
	VPSRLQ       $4, Y4, Y5     \
	VPAND        Y0, Y4, Y6     \
	VPAND        Y1, Y5, Y7     \
	VPAND        Y2, Y4, Y4     \
	VPAND        Y3, Y5, Y5     \
	VPSHUFB      Y6, table, Y6  \
	VPSHUFB      Y7, table, Y7  \
	VPSHUFB      Y4, table, Y4  \
	VPSHUFB      Y5, table, Y5  \
	VPADDB       Y6, Y8, Y8     \
	VPADDB       Y4, Y9, Y9     \
	VPADDB       Y7, Y8, Y8     \
	VPADDB       Y5, Y9, Y9

// func scanAVX2(out *int32, mask *byte, codes *byte, planes *uint64, words, groups int, least int32)
TEXT ·scanAVX2(SB), NOSPLIT, $16-52
	MOVQ    out+0(FP), DI
	MOVQ    mask+8(FP), SI
	MOVQ    codes+16(FP), BX
	MOVQ    planes+24(FP), DX
	MOVQ    words+32(FP), CX
	MOVQ    groups+40(FP), R8
	MOVLQSX least+48(FP), AX

	// A word adds 128 for each of its 8 bytes, so that they are not negative.
	MOVQ         CX, R11
	SHLQ         $10, R11
	ADDQ         R11, AX
	MOVQ         AX, tmp-8(SP)
	MOVQ         R11, tmp-16(SP)
	VBROADCASTI128 counts<>+0(SB), Y12
	VBROADCASTI128 counts<>+16(SB), Y13
	VBROADCASTI128 counts<>+32(SB), Y14
	VBROADCASTI128 counts<>+48(SB), Y15

group256:
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11
	MOVQ  DX, R9
	MOVQ  CX, R10

word256:
	PREFETCHT1 ahead(BX)
	VPBROADCASTQ nibble<>(SB), Y4
	VMOVDQU (BX), Y0
	VMOVDQU 32(BX), Y2
	VPSRLQ  $4, Y0, Y1
	VPSRLQ  $4, Y2, Y3
	VPAND   Y4, Y0, Y0
	VPAND   Y4, Y1, Y1
	VPAND   Y4, Y2, Y2
	VPAND   Y4, Y3, Y3
	VPBROADCASTQ bias<>(SB), Y8
	VMOVDQA Y8, Y9
	plane(0, Y12)
	plane(8, Y13)
	plane(16, Y14)
	plane(24, Y15)
	VPXOR   Y4, Y4, Y4
	VPSADBW Y4, Y8, Y8
	VPSADBW Y4, Y9, Y9
	VPADDQ  Y8, Y10, Y10
	VPADDQ  Y9, Y11, Y11
	ADDQ    $64, BX
	ADDQ    $32, R9
	DECQ    R10
	JNZ     word256

	VPBROADCASTQ tmp-8(SP), Y0
	VPBROADCASTQ tmp-16(SP), Y1
	VPCMPGTQ     Y0, Y10, Y2
	VPCMPGTQ     Y0, Y11, Y3
	VMOVMSKPD    Y2, AX
	VMOVMSKPD    Y3, R11
	SHLL         $4, R11
	ORL          R11, AX
	MOVB         AX, (SI)
	VPSUBQ       Y1, Y10, Y10
	VPSUBQ       Y1, Y11, Y11
	VEXTRACTI128 $1, Y10, X2
	VEXTRACTI128 $1, Y11, X3
	VSHUFPS      $0x88, X2, X10, X2
	VSHUFPS      $0x88, X3, X11, X3
	VMOVDQU      X2, (DI)
	VMOVDQU      X3, 16(DI)
	INCQ         SI
	ADDQ         $32, DI
	DECQ         R8
	JNZ          group256
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
