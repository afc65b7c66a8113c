#include "textflag.h"

// func prefetchLines(from *byte, lines int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ from+0(FP), SI
	MOVQ lines+8(FP), CX

line:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	DECQ       CX
	JNZ        line
	RET

// func prefetchAt(from *byte, size int, ordinals *uint32, n int)
TEXT ·prefetchAt(SB), NOSPLIT, $0-32
	MOVQ from+0(FP), SI
	MOVQ size+8(FP), BX
	MOVQ ordinals+16(FP), DI
	MOVQ n+24(FP), CX

ordinal:
	MOVL       (DI), AX
	IMULQ      BX, AX
	PREFETCHT0 (SI)(AX*1)
	ADDQ       $4, DI
	DECQ       CX
	JNZ        ordinal
	RET
