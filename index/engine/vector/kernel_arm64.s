#include "textflag.h"

// Instructions that the assembler has no names for.
#define SADDLP_8H(n, d) WORD $(0x4e202800 | (n)<<5 | (d))            // pairs of signed bytes -> 8 x 16 bits
#define SADALP_4S(n, d) WORD $(0x4e606800 | (n)<<5 | (d))            // adds pairs of 16 bits -> 4 x 32 bits
#define CMGT_4S(m, n, d) WORD $(0x4ea03400 | (m)<<16 | (n)<<5 | (d)) // all ones where n > m
#define SMLAL_4S(m, n, d) WORD $(0x0e608000 | (m)<<16 | (n)<<5 | (d)) // adds products of the low four
#define SMLAL2_4S(m, n, d) WORD $(0x4e608000 | (m)<<16 | (n)<<5 | (d)) // and of the high four

DATA weights<>+0(SB)/8, $0x0000000200000001
DATA weights<>+8(SB)/8, $0x0000000800000004
DATA weights<>+16(SB)/8, $0x0000002000000010
DATA weights<>+24(SB)/8, $0x0000008000000040
GLOBL weights<>(SB), RODATA|NOPTR, $32

// weigh adds to sum, by bytes, the weighted counts of the bits that codes have in
// common with the four planes V16 to V19: 1, 2, 4 and -8.
#define weigh(codes, sum) \
	VAND codes.B16, V16.B16, V20.B16 \
	VAND codes.B16, V17.B16, V21.B16 \
	VAND codes.B16, V18.B16, V22.B16 \
	VAND codes.B16, V19.B16, V23.B16 \
	VCNT V20.B16, V20.B16            \
	VCNT V21.B16, V21.B16            \
	VCNT V22.B16, V22.B16            \
	VCNT V23.B16, V23.B16            \
	VSHL $1, V21.B16, V21.B16        \
	VSHL $2, V22.B16, V22.B16        \
	VSHL $3, V23.B16, V23.B16        \
	VADD V21.B16, V20.B16, V20.B16   \
	VSUB V23.B16, V22.B16, V22.B16   \
	VADD V22.B16, V20.B16, sum.B16

// func scanNEON(out *int32, mask *byte, codes *byte, planes *uint64, words, groups int, least int32)
TEXT ·scanNEON(SB), NOSPLIT, $0-52
	MOVD out+0(FP), R0
	MOVD mask+8(FP), R1
	MOVD codes+16(FP), R2
	MOVD planes+24(FP), R3
	MOVD words+32(FP), R4
	MOVD groups+40(FP), R5
	MOVW least+48(FP), R6
	VDUP R6, V30.S4
	MOVD $weights<>(SB), R7
	VLD1 (R7), [V28.S4, V29.S4]

group:
	VEOR V4.B16, V4.B16, V4.B16 // sums of rows 0 and 1, two lanes each
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD R3, R8
	MOVD R4, R9

word:
	VLD1.P  64(R2), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1R.P 8(R8), [V16.D2]
	VLD1R.P 8(R8), [V17.D2]
	VLD1R.P 8(R8), [V18.D2]
	VLD1R.P 8(R8), [V19.D2]
	weigh(V0, V24)
	weigh(V1, V25)
	weigh(V2, V26)
	weigh(V3, V27)
	SADDLP_8H(24, 24)
	SADDLP_8H(25, 25)
	SADDLP_8H(26, 26)
	SADDLP_8H(27, 27)
	SADALP_4S(24, 4)
	SADALP_4S(25, 5)
	SADALP_4S(26, 6)
	SADALP_4S(27, 7)
	SUBS    $1, R9, R9
	BNE     word

	VADDP V5.S4, V4.S4, V4.S4 // rows 0 to 3
	VADDP V7.S4, V6.S4, V5.S4 // rows 4 to 7
	VST1.P [V4.S4, V5.S4], 32(R0)
	CMGT_4S(30, 4, 4)
	CMGT_4S(30, 5, 5)
	VAND  V28.B16, V4.B16, V4.B16
	VAND  V29.B16, V5.B16, V5.B16
	VORR  V5.B16, V4.B16, V4.B16
	VADDV V4.S4, V4
	VMOV  V4.B[0], R10
	MOVB.P R10, 1(R1)
	SUBS  $1, R5, R5
	BNE   group
	RET

// func aboveNEON(mask *byte, estimates *int32, words int, least int32)
TEXT ·aboveNEON(SB), NOSPLIT, $0-28
	MOVD mask+0(FP), R0
	MOVD estimates+8(FP), R1
	MOVD words+16(FP), R2
	MOVW least+24(FP), R3
	LSL  $3, R2, R2 // groups
	VDUP R3, V30.S4
	MOVD $weights<>(SB), R4
	VLD1 (R4), [V28.S4, V29.S4]

above:
	VLD1.P 32(R1), [V4.S4, V5.S4]
	CMGT_4S(30, 4, 4)
	CMGT_4S(30, 5, 5)
	VAND  V28.B16, V4.B16, V4.B16
	VAND  V29.B16, V5.B16, V5.B16
	VORR  V5.B16, V4.B16, V4.B16
	VADDV V4.S4, V4
	VMOV  V4.B[0], R5
	MOVB.P R5, 1(R0)
	SUBS  $1, R2, R2
	BNE   above
	RET

DATA halves<>+0(SB)/8, $0x0000000000000000
DATA halves<>+8(SB)/8, $0x0101010101010101
DATA halves<>+16(SB)/8, $0x8040201008040201
DATA halves<>+24(SB)/8, $0x8040201008040201
GLOBL halves<>(SB), RODATA|NOPTR, $32

// func dotNEON(out *int32, rows *byte, index *uint32, codes *uint64, numbers *int16, words, count int)
TEXT ·dotNEON(SB), NOSPLIT, $0-56
	MOVD out+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD index+16(FP), R2
	MOVD codes+24(FP), R3
	MOVD numbers+32(FP), R4
	MOVD words+40(FP), R5
	MOVD count+48(FP), R6
	LSL  $6, R5, R7 // bytes of a row
	LSL  $2, R5, R5 // steps of 16 numbers
	MOVD $halves<>(SB), R8
	VLD1 (R8), [V30.B16, V31.B16]

row:
	MOVWU.P 4(R2), R9
	MADD  R7, R1, R9, R9
	MOVD  R4, R10
	MOVD  R5, R11
	VEOR  V0.B16, V0.B16, V0.B16
	VEOR  V1.B16, V1.B16, V1.B16
	VEOR  V2.B16, V2.B16, V2.B16
	VEOR  V3.B16, V3.B16, V3.B16

part:
	MOVHU.P 2(R3), R12
	VLD1.P 16(R9), [V4.B16]
	VLD1.P 32(R10), [V10.H8, V11.H8]
	VDUP   R12, V5.H8
	VTBL   V30.B16, [V5.B16], V5.B16
	VCMTST V31.B16, V5.B16, V5.B16 // all ones where negative
	VUXTL  V4.B8, V6.H8
	VUXTL2 V4.B16, V7.H8
	VZIP1  V5.B16, V5.B16, V8.B16
	VZIP2  V5.B16, V5.B16, V9.B16
	VEOR   V8.B16, V6.B16, V6.B16
	VEOR   V9.B16, V7.B16, V7.B16
	VSUB   V8.H8, V6.H8, V6.H8
	VSUB   V9.H8, V7.H8, V7.H8
	SMLAL_4S(10, 6, 0)
	SMLAL2_4S(10, 6, 1)
	SMLAL_4S(11, 7, 2)
	SMLAL2_4S(11, 7, 3)
	SUBS   $1, R11, R11
	BNE    part

	VADD  V1.S4, V0.S4, V0.S4
	VADD  V3.S4, V2.S4, V2.S4
	VADD  V2.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	VMOV  V0.S[0], R12
	MOVW.P R12, 4(R0)
	SUBS  $1, R6, R6
	BNE   row
	RET
