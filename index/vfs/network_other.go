//go:build !linux && !darwin && !freebsd && !dragonfly

package vfs

import "os"

// networkName returns "": here network file systems cannot be recognized.
func networkName(*os.File) string { return "" }

// silentName returns the result of [Silent] for a folder.
func silentName(f *os.File) string { return networkName(f) }
