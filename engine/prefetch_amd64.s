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
