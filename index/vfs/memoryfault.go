package vfs

import (
	"errors"
	"runtime/debug"
)

// ErrFault means that the operating system could not read the bytes of a mapped file.
var ErrFault = errors.New("the mapped file cannot be read: it was cut short, or the disk is bad")

// Safely calls read, which reads a mapped file. If the system cannot read the bytes, Safely returns ErrFault. Without
// Safely, the program would crash. All code that verifies mapped bytes runs inside Safely.
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
