package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// makeDeb writes the Debian package of t.
func makeDeb(src source, t target, dir string, share []file) error {
	program, err := os.ReadFile(t.binary(dir))
	if err != nil {
		return err
	}
	files := []file{{name: "usr/bin/sheaf", content: program, program: true}}
	for _, f := range share {
		if f.name, f.content, err = inDebian(f.name, f.content, src.date); err != nil {
			return err
		}
		if f.name != "" {
			files = append(files, f)
		}
	}
	var deb bytes.Buffer
	if err := writeDeb(&deb, debVersion(src.version), t.arch, files, src.date); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("sheaf_%s_%s.deb", debVersion(src.version), t.arch)), deb.Bytes(),
		0o644)
}

// debVersion is version as Debian orders it: releases after what came before them.
func debVersion(version string) string {
	number, pre, found := strings.Cut(version, "-")
	if !found {
		return version
	}
	return number + "~" + strings.ReplaceAll(pre, "-", ".")
}

// debCopyright names the license, for a year; every Debian has its text.
const debCopyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: sheaf

Files: *
Copyright: %d the Sheaf authors
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
 What is linked into the program, and under which licenses, is in NOTICE.md
 beside this file.
`

// inDebian says where a file of share lies on Debian, "" for nowhere, and how.
func inDebian(name string, content []byte, date time.Time) (string, []byte, error) {
	switch {
	case strings.HasPrefix(name, "man/"):
		packed, err := gz(content)
		return "usr/share/" + name + ".gz", packed, err
	case name == "CHANGELOG.md":
		packed, err := gz(content)
		return "usr/share/doc/sheaf/changelog.gz", packed, err
	case name == "LICENSE":
		return "usr/share/doc/sheaf/copyright", fmt.Appendf(nil, debCopyright, date.Year()), nil
	case path.Ext(name) == ".md", strings.HasPrefix(name, "doc/"):
		return "usr/share/doc/sheaf/" + name, content, nil
	case name == "completions/sheaf.bash":
		return "usr/share/bash-completion/completions/sheaf", content, nil
	case name == "completions/_sheaf":
		return "usr/share/zsh/vendor-completions/_sheaf", content, nil
	case name == "completions/sheaf.fish":
		return "usr/share/fish/vendor_completions.d/sheaf.fish", content, nil
	}
	return "", nil, nil
}

func gz(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// writeDeb writes a package of files: an ar archive of the format's version, the
// control files and the data (deb(5)).
func writeDeb(w io.Writer, version, arch string, files []file, date time.Time) error {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var size int
	var sums strings.Builder
	data := []file{{name: "./"}}
	known := map[string]bool{".": true}
	for _, f := range files {
		size += len(f.content)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.content), f.name)
		data = append(data, folders(path.Dir(f.name), known)...)
		f.name = "./" + f.name
		data = append(data, f)
	}
	control := fmt.Sprintf(`Package: sheaf
Version: %s
Architecture: %s
Maintainer: The Sheaf authors
Installed-Size: %d
Section: text
Priority: optional
Description: hybrid search engine for documents
 Sheaf finds passages in folders of documents by words and by meaning, and
 says in numbers why each answer stands where it stands.
`, version, arch, (size+1023)/1024)
	var controls, contents bytes.Buffer
	err := writeTarGz(&controls, []file{{name: "./"}, {name: "./control", content: []byte(control)},
		{name: "./md5sums", content: []byte(sums.String())}}, date)
	if err != nil {
		return err
	}
	if err := writeTarGz(&contents, data, date); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "!<arch>\n"); err != nil {
		return err
	}
	for _, member := range []file{{name: "debian-binary", content: []byte("2.0\n")},
		{name: "control.tar.gz", content: controls.Bytes()}, {name: "data.tar.gz", content: contents.Bytes()}} {
		if err := writeMember(w, member, date); err != nil {
			return err
		}
	}
	return nil
}

// folders are the entries of dir and of those above it that are not known yet.
func folders(dir string, known map[string]bool) []file {
	if known[dir] {
		return nil
	}
	known[dir] = true
	return append(folders(path.Dir(dir), known), file{name: "./" + dir + "/"})
}

// writeMember writes one member of an ar archive.
func writeMember(w io.Writer, f file, date time.Time) error {
	if _, err := fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, date.Unix(), 0, 0, 0o100644,
		len(f.content)); err != nil {
		return err
	}
	if _, err := w.Write(f.content); err != nil {
		return err
	}
	if len(f.content)%2 == 1 {
		_, err := w.Write([]byte("\n"))
		return err
	}
	return nil
}
