//go:build !linux && !darwin && !freebsd && !dragonfly

package vfs

import "os"

// networkName is the name of the network file system that f lies on; here it
// cannot be told.
func networkName(*os.File) string { return "" }

// silentName is what [Silent] says of a folder.
func silentName(f *os.File) string { return networkName(f) }
