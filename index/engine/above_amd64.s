#include "textflag.h"

// Four sums that are compared with need, in Y0: their bits are put below those of AX.
#define four(at) \
	VCMPPD    $2, at(SI), Y0, Y1 \
	VMOVMSKPD Y1, DX             \
	SHLQ      $4, AX             \
	ORQ       DX, AX

// func aboveAVX2(mask *uint64, sums *float64, words int, need float64)
TEXT ·aboveAVX2(SB), NOSPLIT, $0-32
	MOVQ         mask+0(FP), DI
	MOVQ         sums+8(FP), SI
	MOVQ         words+16(FP), CX
	VBROADCASTSD need+24(FP), Y0

word:
	XORQ AX, AX
	four(480)
	four(448)
	four(416)
	four(384)
	four(352)
	four(320)
	four(288)
	four(256)
	four(224)
	four(192)
	four(160)
	four(128)
	four(96)
	four(64)
	four(32)
	four(0)
	MOVQ AX, (DI)
	ADDQ $8, DI
	ADDQ $512, SI
	DECQ CX
	JNZ  word
	VZEROUPPER
	RET

DATA eight<>+0(SB)/4, $0
DATA eight<>+4(SB)/4, $1
DATA eight<>+8(SB)/4, $2
DATA eight<>+12(SB)/4, $3
DATA eight<>+16(SB)/4, $4
DATA eight<>+20(SB)/4, $5
DATA eight<>+24(SB)/4, $6
DATA eight<>+28(SB)/4, $7
GLOBL eight<>(SB), RODATA|NOPTR, $32

// func takeAVX512(ordinals *uint32, taken, sums *float64, groups int, start uint32, need float64) int
TEXT ·takeAVX512(SB), NOSPLIT, $0-56
	MOVQ         ordinals+0(FP), DI
	MOVQ         taken+8(FP), DX
	MOVQ         sums+16(FP), SI
	MOVQ         groups+24(FP), CX
	MOVL         start+32(FP), AX
	VBROADCASTSD need+40(FP), Z0
	VMOVD        AX, X1
	VPBROADCASTD X1, Y1
	VPADDD       eight<>(SB), Y1, Y1 // the ordinals of a group
	MOVL         $8, AX
	VMOVD        AX, X2
	VPBROADCASTD X2, Y2
	VPXORQ       Z3, Z3, Z3
	XORQ         R8, R8

group:
	VMOVUPD       (SI), Z4
	VCMPPD        $2, Z4, Z0, K1
	VMOVUPD       Z3, (SI)
	VCOMPRESSPD.Z Z4, K1, Z5
	VPCOMPRESSD.Z Y1, K1, Y6
	VMOVUPD       Z5, (DX)(R8*8)
	VMOVDQU       Y6, (DI)(R8*4)
	KMOVW         K1, R9
	POPCNTQ       R9, R9
	ADDQ          R9, R8
	VPADDD        Y2, Y1, Y1
	ADDQ          $64, SI
	DECQ          CX
	JNZ           group
	VZEROUPPER
	MOVQ          R8, ret+48(FP)
	RET
