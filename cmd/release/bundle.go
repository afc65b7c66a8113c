package main

import (
	"archive/zip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// manifest is the manifest of an MCP bundle, version 0.3. An assistant reads it to install the server.
//
//go:embed manifest.json
var manifest string

// makeBundle writes the MCP bundle of a program into dir: a zip archive with manifest, program, license and notice.
func makeBundle(b build, program, dir string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH must be the time of the commit in seconds: %w", err)
	}
	platform := strings.Replace(b.os, "windows", "win32", 1)
	name := filepath.Base(program)
	text := strings.NewReplacer("@VERSION@", b.version, "@PROGRAM@", name, "@PLATFORM@", platform).Replace(manifest)
	out, err := os.Create(filepath.Join(dir, fmt.Sprintf("sheaf-%s-%s-%s.mcpb", b.version, b.os, b.arch)))
	if err != nil {
		return err
	}
	archive := zip.NewWriter(out)
	add := func(name string, mode os.FileMode, content io.Reader) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Unix(seconds, 0).UTC()}
		header.SetMode(mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = io.Copy(entry, content)
		return err
	}
	addFile := func(name string, mode os.FileMode, from string) error {
		in, err := os.Open(from)
		if err != nil {
			return err
		}
		defer in.Close()
		return add(name, mode, in)
	}
	return errors.Join(
		add("manifest.json", 0o644, strings.NewReader(text)),
		addFile("server/"+name, 0o755, program),
		addFile("LICENSE", 0o644, filepath.Join(dir, "share", "LICENSE")),
		addFile("NOTICE.md", 0o644, filepath.Join(dir, "share", "NOTICE.md")),
		archive.Close(), out.Close())
}
