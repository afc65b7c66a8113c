package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenseFile is how files with the terms of a module are called.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licenseWords are words that only a license of an identifier (SPDX) has.
var licenseWords = []struct{ id, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-3-Clause", "Neither the name of"},
	{"ISC", "Permission to use, copy, modify, and"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"MPL-2.0", "Mozilla Public License"},
	{"Zlib", "This software is provided 'as-is', without any express or implied"},
}

// licensesIn are the identifiers of the licenses in dir, as their files say.
func licensesIn(what, dir string) (ids []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		text.WriteString(strings.Join(strings.Fields(string(content)), " ") + " ")
	}
	for _, l := range licenseWords {
		if strings.Contains(text.String(), l.words) {
			ids = append(ids, l.id)
		}
	}
	if ids == nil && strings.Contains(text.String(), "Redistribution and use in source and binary forms") {
		ids = []string{"BSD-2-Clause"}
	}
	if ids == nil {
		return nil, fmt.Errorf("%s: the license in %s is none that licenseWords knows: name it there", what, dir)
	}
	return ids, nil
}

// notice names the modules that are linked into any of binaries, as those say
// themselves, with the terms that lie in each, and those of Go, whose library is too.
func notice(ctx context.Context, binaries []string) ([]byte, error) {
	modules := map[string]bool{}
	for _, binary := range binaries {
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			modules[m.Path] = true
		}
	}
	root, err := goTool(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("# What is linked into the program\n")
	if err := terms(&out, "The standard library of Go", root); err != nil {
		return nil, err
	}
	places, err := foldersOf(ctx, slices.Sorted(maps.Keys(modules)))
	if err != nil {
		return nil, err
	}
	for _, m := range places {
		if err := terms(&out, m.path+" "+m.version, m.dir); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// place is where a module lies.
type place struct{ path, version, dir string }

// foldersOf finds modules by their paths.
func foldersOf(ctx context.Context, paths []string) (places []place, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	list, err := goTool(ctx, append([]string{"list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}"}, paths...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(list, "\n") {
		parts := strings.Split(line, "\t")
		if len(parts) != 3 || parts[2] == "" {
			return nil, fmt.Errorf("go list -m: %q names no module with its folder: run go mod download", line)
		}
		places = append(places, place{parts[0], parts[1], parts[2]})
	}
	return places, nil
}

// terms writes the files with terms in dir, below a heading of what they are for.
func terms(out *bytes.Buffer, what, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n## %s\n", what)
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(out, "\n%s:\n\n", e.Name())
		for line := range strings.Lines(strings.TrimRight(string(text), "\r\n ") + "\n") {
			if line = strings.TrimRight(line, "\r\n\f "); line != "" {
				line = "    " + line
			}
			out.WriteString(line + "\n")
		}
	}
	if !found {
		return fmt.Errorf("%s: %s holds no LICENSE, COPYING or NOTICE: what may be released of it is not known", what, dir)
	}
	return nil
}

func goTool(ctx context.Context, args ...string) (string, error) {
	settings, err := goSettings(ctx)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = settings
	return output(cmd)
}
