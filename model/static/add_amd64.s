#include "textflag.h"

// func addRowAVX2(dst *float32, row *byte, scale float32, n int)
// n is a multiple of 32, above 0. Multiplies and adds apart, as the Go twin
// does, so that both round alike.
TEXT ·addRowAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         row+8(FP), SI
	VBROADCASTSS scale+16(FP), Y15
	MOVQ         n+24(FP), CX

loop:
	VPMOVSXBD (SI), Y0
	VPMOVSXBD 8(SI), Y1
	VPMOVSXBD 16(SI), Y2
	VPMOVSXBD 24(SI), Y3
	VCVTDQ2PS Y0, Y0
	VCVTDQ2PS Y1, Y1
	VCVTDQ2PS Y2, Y2
	VCVTDQ2PS Y3, Y3
	VMULPS    Y15, Y0, Y0
	VMULPS    Y15, Y1, Y1
	VMULPS    Y15, Y2, Y2
	VMULPS    Y15, Y3, Y3
	VADDPS    (DI), Y0, Y0
	VADDPS    32(DI), Y1, Y1
	VADDPS    64(DI), Y2, Y2
	VADDPS    96(DI), Y3, Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $32, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JNZ       loop
	VZEROUPPER
	RET

// func addHalvesAVX2(dst *float32, row *byte, scale float32, n int)
// n is a multiple of 32, above 0. Rounds as addHalvesPlain does.
TEXT ·addHalvesAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         row+8(FP), SI
	VBROADCASTSS scale+16(FP), Y15
	MOVQ         n+24(FP), CX
	MOVL         $0x0f0f0f0f, AX
	VMOVD        AX, X14
	VPBROADCASTD X14, X14
	MOVL         $0x08080808, AX
	VMOVD        AX, X13
	VPBROADCASTD X13, X13

loop:
	VMOVDQU   (SI), X4
	VPSRLW    $4, X4, X6
	VPAND     X14, X4, X4
	VPAND     X14, X6, X6
	VPSUBB    X13, X4, X4
	VPSUBB    X13, X6, X6
	VPSRLDQ   $8, X4, X5
	VPSRLDQ   $8, X6, X7
	VPMOVSXBD X4, Y0
	VPMOVSXBD X5, Y1
	VPMOVSXBD X6, Y2
	VPMOVSXBD X7, Y3
	VCVTDQ2PS Y0, Y0
	VCVTDQ2PS Y1, Y1
	VCVTDQ2PS Y2, Y2
	VCVTDQ2PS Y3, Y3
	VMULPS    Y15, Y0, Y0
	VMULPS    Y15, Y1, Y1
	VMULPS    Y15, Y2, Y2
	VMULPS    Y15, Y3, Y3
	VADDPS    (DI), Y0, Y0
	VADDPS    32(DI), Y1, Y1
	VADDPS    64(DI), Y2, Y2
	VADDPS    96(DI), Y3, Y3
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VMOVUPS   Y2, 64(DI)
	VMOVUPS   Y3, 96(DI)
	ADDQ      $16, SI
	ADDQ      $128, DI
	SUBQ      $32, CX
	JNZ       loop
	VZEROUPPER
	RET
