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
