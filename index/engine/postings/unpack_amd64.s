#include "textflag.h"

// func unpackAVX2(dst *uint32, src *byte, groups, width int, at *lanes, add uint32)
TEXT ·unpackAVX2(SB), NOSPLIT, $0-44
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ width+24(FP), DX
	MOVQ at+32(FP), BX
	MOVL add+40(FP), AX

	VMOVDQU      (BX), Y10
	VMOVDQU      32(BX), Y11
	VMOVD        AX, X12
	VPBROADCASTD X12, Y12

	// Y13: the lowest width bits of each lane.
	VPCMPEQD Y13, Y13, Y13
	MOVL     $32, AX
	SUBL     DX, AX
	VMOVD        AX, X14
	VPSRLD   X14, Y13, Y13
	MOVQ     DX, R8
	SHRQ     $1, R8

group:
	VMOVDQU     (SI), X0
	VINSERTI128 $1, (SI)(R8*1), Y0, Y0
	VPSHUFB     Y10, Y0, Y0
	VPSRLVD     Y11, Y0, Y0
	VPAND       Y13, Y0, Y0
	VPADDD      Y12, Y0, Y0
	VMOVDQU     Y0, (DI)
	ADDQ        DX, SI
	ADDQ        $32, DI
	DECQ        CX
	JNZ         group
	VZEROUPPER
	RET

DATA steps<>+0(SB)/4, $0
DATA steps<>+4(SB)/4, $1
DATA steps<>+8(SB)/4, $2
DATA steps<>+12(SB)/4, $3
DATA steps<>+16(SB)/4, $4
DATA steps<>+20(SB)/4, $5
DATA steps<>+24(SB)/4, $6
DATA steps<>+28(SB)/4, $7
GLOBL steps<>(SB), RODATA|NOPTR, $32

// func sumUpAVX2(gaps *uint32, groups int, next uint32) (any uint32)
TEXT ·sumUpAVX2(SB), NOSPLIT, $0-28
	MOVQ gaps+0(FP), DI
	MOVQ groups+8(FP), CX
	MOVL next+16(FP), AX

	VMOVD        AX, X8
	VPBROADCASTD X8, Y8
	VPADDD       steps<>(SB), Y8, Y8 // what is added to the sums of this group
	MOVL         $8, AX
	VMOVD        AX, X9
	VPBROADCASTD X9, Y9
	VPXOR        Y10, Y10, Y10 // all gaps
	MOVL         $7, AX
	VMOVD        AX, X11
	VPBROADCASTD X11, Y11

sum:
	VMOVDQU     (DI), Y0
	VPOR        Y0, Y10, Y10
	VPSLLDQ     $4, Y0, Y1
	VPADDD      Y1, Y0, Y0
	VPSLLDQ     $8, Y0, Y1
	VPADDD      Y1, Y0, Y0

	// The upper half gets the sum of the lower one.
	VPSHUFD     $0xff, Y0, Y1
	VPERM2I128  $0x08, Y1, Y1, Y1
	VPADDD      Y1, Y0, Y0
	VPADDD      Y8, Y0, Y1
	VMOVDQU     Y1, (DI)
	VPERMD      Y0, Y11, Y0
	VPADDD      Y9, Y8, Y8
	VPADDD      Y0, Y8, Y8
	ADDQ        $32, DI
	DECQ        CX
	JNZ         sum

	VEXTRACTI128 $1, Y10, X0
	VPOR         X0, X10, X0
	VPSHUFD      $0x4e, X0, X1
	VPOR         X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPOR         X1, X0, X0
	VMOVD        X0, AX
	MOVL         AX, any+24(FP)
	VZEROUPPER
	RET
