package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenseFile matches the names of license files of a module.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// notice writes the licenses of Go and of every module that the program links on any system. Go is included because
// the program links Go's standard library.
func notice(w io.Writer) error {
	root, err := goTool("", "env", "GOROOT")
	if err != nil {
		return err
	}
	dirs := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list, err := goTool(system, "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/sheaf")
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(list, "\n") {
			if name, dir, found := strings.Cut(line, "\t"); found {
				dirs[name] = dir
			}
		}
	}
	out := bufio.NewWriter(w)
	out.WriteString("# What is linked into the program\n")
	errs := []error{licenses(out, "The standard library of Go", root)}
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		errs = append(errs, licenses(out, name, dirs[name]))
	}
	return errors.Join(append(errs, out.Flush())...)
}

// licenses writes a heading, then the license files in dir.
func licenses(out *bufio.Writer, heading, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n## %s\n", heading)
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
		return fmt.Errorf("%s: %s has no LICENSE, COPYING or NOTICE: read its terms before you release it", heading, dir)
	}
	return nil
}

// goTool runs the go command and returns its output. The command works for the operating system called system. If
// system is "", it works for this machine.
func goTool(system string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	if system != "" {
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
