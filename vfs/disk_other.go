//go:build !unix && !windows

package vfs

import "os"

func mapFile(f *os.File, size int) (Mapping, error) { return readAll(f, size) }

func lockFile(*os.File) error { return nil }

func syncDir(string) error { return nil }
