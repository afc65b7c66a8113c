package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFile is the largest size of a file. Longer files are skipped.
const maxFile = 1 << 20

// file is one text file of the source.
type file struct {
	path string // relative to the prefix -under, with slashes
	text string
}

// readFiles returns the text files whose path the function want accepts, sorted by path.
func readFiles(o *options, want func(string) bool) ([]file, error) {
	accept := func(name string) (string, bool) {
		cut, ok := strings.CutPrefix(name, o.under)
		return cut, ok && want(cut) && (o.skip == nil || !o.skip.MatchString(cut))
	}
	var files []file
	var err error
	if o.git != "" {
		files, err = readGit(o.git, accept)
	} else {
		files, err = readFolder(o.folder, accept)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files, err
}

func readFolder(folder string, accept func(string) (string, bool)) ([]file, error) {
	var files []file
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		cut, ok := accept(name)
		if !ok {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err == nil && len(text) <= maxFile && utf8.Valid(text) {
			files = append(files, file{cut, string(text)})
		}
		return err
	})
	return files, err
}

// gitOutput runs git and returns its standard output.
func gitOutput(dir string, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"--git-dir=" + dir, "-c", "core.quotePath=false"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s in %s: %w: %s", args[0], dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

func headCommit(dir string) (string, error) {
	out, err := gitOutput(dir, nil, "log", "-1", "--format=%H (%cs)")
	return strings.TrimSpace(string(out)), err
}

// readGit returns the text files of the newest commit for which accept returns true. The path of a file is what accept
// returns for its name. readGit skips links and submodules.
func readGit(dir string, accept func(string) (string, bool)) ([]file, error) {
	list, err := gitOutput(dir, nil, "ls-tree", "-r", "-z", "--full-tree", "HEAD")
	if err != nil {
		return nil, err
	}
	var paths []string
	var names bytes.Buffer
	for entry := range strings.SplitSeq(string(list), "\x00") {
		info, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(info)
		if len(fields) != 3 || !strings.HasPrefix(fields[0], "100") {
			continue
		}
		if cut, ok := accept(name); ok {
			paths = append(paths, cut)
			fmt.Fprintln(&names, fields[2])
		}
	}
	out, err := gitOutput(dir, &names, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	var files []file
	r := bufio.NewReader(bytes.NewReader(out))
	for _, name := range paths {
		head, err := r.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("git cat-file in %s: %w", dir, err)
		}
		fields := strings.Fields(head)
		if len(fields) != 3 {
			continue // the snapshot lacks this file
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("git cat-file in %s: size %q: %w", dir, fields[2], err)
		}
		text := make([]byte, size+1)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, fmt.Errorf("git cat-file in %s: %w", dir, err)
		}
		if text = text[:size]; size <= maxFile && utf8.Valid(text) {
			files = append(files, file{name, string(text)})
		}
	}
	return files, nil
}

// isMarkdown reports whether a path is a page of documentation. It is false for files that only
// list pages, describe changes or belong to the repository's management.
func isMarkdown(name string) bool {
	ext := path.Ext(name)
	switch strings.ToLower(ext) {
	case ".md", ".mdx", ".markdown":
	default:
		return false
	}
	stem := strings.ToLower(strings.TrimSuffix(path.Base(name), ext))
	switch stem {
	case "summary", "_sidebar", "sidebar", "_navbar", "changelog", "changes", "history", "license", "licence",
		"code_of_conduct", "code-of-conduct", "pull_request_template", "issue_template", "security", "authors",
		"contributors", "claude", "agents", "release-notes", "releases":
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		switch strings.ToLower(dir) {
		case ".github", "node_modules", "release notes", "release-notes", "releases", "changelog", "changelogs",
			"_redirects", "testdata", ".agents", ".claude", ".cursor":
			return false
		}
	}
	return true
}
