package model

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Caught is deferred where a model is asked by a goroutine that its author did not begin, in
// which a panic would end the process: it makes of the panic an error that names the model
// and says where the fault is.
func Caught(model string, err *error) {
	fault := recover()
	if fault == nil {
		return
	}
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)]) // from what called this function on
	frame, more := frames.Next()
	for more && (strings.HasPrefix(frame.Function, "runtime.") || strings.HasPrefix(frame.Function, "internal/runtime/")) {
		frame, more = frames.Next()
	}
	*err = fmt.Errorf("model %s panicked: %v (%s:%d)", model, fault, path.Base(frame.File), frame.Line)
}
