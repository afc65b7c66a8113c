package vfs

import (
	"errors"
	"runtime/debug"
)

// ErrFault says that the operating system could not give the bytes of a mapped
// file.
var ErrFault = errors.New("the mapped file cannot be read: it was cut short, or the disk is bad")

// Safely runs read, which reads a mapped file, and returns ErrFault, where else
// the program would end, when the bytes are not to be had. Code that verifies
// mapped bytes before their use runs inside Safely.
func Safely(read func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if fault := recover(); fault != nil {
			if _, ok := fault.(interface{ Addr() uintptr }); !ok {
				panic(fault)
			}
			err = ErrFault
		}
	}()
	read()
	return nil
}
