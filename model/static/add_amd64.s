#include "textflag.h"

// Both functions add 64 numbers of all rows in registers, then the next 64. The arguments n, above 0, and dims, a
// multiple of 64, have these bounds. Multiplies and adds apart, as the Go twins do, so that both round alike.

// ARGS loads the arguments. SI is the first row, R8 the scales, R9 the pieces, R10 their number, R11 and R12 dims.
#define ARGS \
	MOVQ  dst+0(FP), DI     \
	MOVQ  rows+8(FP), SI    \
	MOVQ  scales+16(FP), R8 \
	MOVQ  pieces+24(FP), R9 \
	MOVQ  n+32(FP), R10     \
	MOVQ  dims+40(FP), R11  \
	MOVQ  R11, R12          \
	MOVSS weight+48(FP), X14

// LOAD and STORE move 64 numbers of dst.
#define LOAD \
	VMOVUPS (DI), Y0    \
	VMOVUPS 32(DI), Y1  \
	VMOVUPS 64(DI), Y2  \
	VMOVUPS 96(DI), Y3  \
	VMOVUPS 128(DI), Y4 \
	VMOVUPS 160(DI), Y5 \
	VMOVUPS 192(DI), Y6 \
	VMOVUPS 224(DI), Y7

#define STORE \
	VMOVUPS Y0, (DI)    \
	VMOVUPS Y1, 32(DI)  \
	VMOVUPS Y2, 64(DI)  \
	VMOVUPS Y3, 96(DI)  \
	VMOVUPS Y4, 128(DI) \
	VMOVUPS Y5, 160(DI) \
	VMOVUPS Y6, 192(DI) \
	VMOVUPS Y7, 224(DI)

// PIECE sets BX to the row of piece AX, whose numbers have size R11, and Y15 to its scale.
#define PIECE \
	MOVLQSX      (R9)(AX*4), BX      \
	VMULSS       (R8)(BX*4), X14, X15 \
	VBROADCASTSS X15, Y15            \
	IMULQ        R11, BX

// ADD adds the 8 signed bytes at row, times the scale, to sum.
#define ADD(row, tmp, sum) \
	VPMOVSXBD row, tmp      \
	VCVTDQ2PS tmp, tmp      \
	VMULPS    Y15, tmp, tmp \
	VADDPS    tmp, sum, sum

// func addRowsAVX2(dst *float32, rows, scales *byte, pieces *int32, n, dims int, weight float32)
TEXT ·addRowsAVX2(SB), NOSPLIT, $0-52
	ARGS

strip:
	LOAD
	XORQ AX, AX

piece:
	PIECE
	ADDQ SI, BX
	ADD((BX), Y8, Y0)
	ADD(8(BX), Y9, Y1)
	ADD(16(BX), Y10, Y2)
	ADD(24(BX), Y11, Y3)
	ADD(32(BX), Y8, Y4)
	ADD(40(BX), Y9, Y5)
	ADD(48(BX), Y10, Y6)
	ADD(56(BX), Y11, Y7)
	INCQ AX
	CMPQ AX, R10
	JLT  piece
	STORE
	ADDQ $64, SI
	ADDQ $256, DI
	SUBQ $64, R12
	JNZ  strip
	VZEROUPPER
	RET

// HALVES adds the 32 halves of the 16 bytes at row, times the scale, to the sums.
#define HALVES(row, a, b, c, d) \
	VMOVDQU row, X8       \
	VPSRLW  $4, X8, X10   \
	VPAND   X13, X8, X8   \
	VPAND   X13, X10, X10 \
	VPSUBB  X12, X8, X8   \
	VPSUBB  X12, X10, X10 \
	VPSRLDQ $8, X8, X9    \
	VPSRLDQ $8, X10, X11  \
	ADD(X8, Y8, a)        \
	ADD(X9, Y9, b)        \
	ADD(X10, Y10, c)      \
	ADD(X11, Y11, d)

// func addHalvesAVX2(dst *float32, rows, scales *byte, pieces *int32, n, dims int, weight float32)
TEXT ·addHalvesAVX2(SB), NOSPLIT, $0-52
	ARGS
	MOVL         $0x0f0f0f0f, AX
	VMOVD        AX, X13
	VPBROADCASTD X13, X13
	MOVL         $0x08080808, AX
	VMOVD        AX, X12
	VPBROADCASTD X12, X12

strip:
	LOAD
	XORQ AX, AX

piece:
	PIECE
	SHRQ $1, BX
	ADDQ SI, BX
	HALVES((BX), Y0, Y1, Y2, Y3)
	HALVES(16(BX), Y4, Y5, Y6, Y7)
	INCQ AX
	CMPQ AX, R10
	JLT  piece
	STORE
	ADDQ $32, SI
	ADDQ $256, DI
	SUBQ $64, R12
	JNZ  strip
	VZEROUPPER
	RET
