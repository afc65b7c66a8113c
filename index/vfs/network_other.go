//go:build !linux && !darwin && !freebsd && !dragonfly

package vfs

import "os"

// networkName returns "", because on this system network file systems cannot be recognized.
func networkName(*os.File) string { return "" }

// silentName returns the result of [Silent] for an open folder.
func silentName(f *os.File) string { return networkName(f) }
