package model

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Caught turns a panic into an error that names the model and the position of the fault. Defer it in each goroutine
// that calls a model: there, a panic would end the process.
func Caught(model string, err *error) {
	fault := recover()
	if fault == nil {
		return
	}
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)]) // from the caller of this function
	frame, more := frames.Next()
	for more && (strings.HasPrefix(frame.Function, "runtime.") || strings.HasPrefix(frame.Function, "internal/runtime/")) {
		frame, more = frames.Next()
	}
	*err = fmt.Errorf("model %s panicked: %v (%s:%d)", model, fault, path.Base(frame.File), frame.Line)
}
