package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ignoreRule is one line of an ignore file, as gitignore(5) defines it.
type ignoreRule struct {
	line     int    // the number of the line in the file, from 1
	text     string // the line
	pattern  string
	ending   string // the plain characters at the end of the pattern: every match ends with them
	plain    string // plain characters that every match contains
	negated  bool
	dirOnly  bool
	anchored bool           // matched against the path below the file's folder, instead of the name
	matches  *regexp.Regexp // nil for a pattern that is a plain name
}

// ignoreFile holds the rules of one file. base is the file's folder: "" for the top, otherwise a
// path that ends with a slash. name is the file's name for users.
type ignoreFile struct {
	base string
	// lead is for an ignore file above the top, the folder of the walk. It is the path from the ignore file's folder
	// down to the top, with a slash at its end. For other ignore files lead is "".
	lead  string
	name  string
	rules []ignoreRule
}

// isOwn reports whether the file is a .sheafignore, whose rules only Sheaf reads.
func (f *ignoreFile) isOwn() bool { return strings.HasSuffix(f.name, ignoreNames[1]) }

func parseIgnore(base, name, content string) ignoreFile {
	f := ignoreFile{base: base, name: name}
	if text, _, ok := decodeMarked([]byte(content)); ok { // editors and shells of Windows write UTF-16
		content = string(text)
	}
	content = norm.NFC.String(strings.TrimPrefix(content, "\ufeff"))
	number := 0
	for line := range strings.SplitSeq(content, "\n") {
		number++
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{line: number, text: line, pattern: strings.TrimRight(line, " ")}
		if strings.HasSuffix(r.pattern, `\`) && len(r.pattern) < len(line) {
			r.pattern += " " // the backslash escapes it
		}
		if rest, ok := strings.CutPrefix(r.pattern, "!"); ok {
			r.negated, r.pattern = true, rest
		}
		if rest, ok := strings.CutSuffix(r.pattern, "/"); ok {
			r.dirOnly, r.pattern = true, rest
		}
		if strings.Contains(r.pattern, "/") {
			r.anchored = true
			r.pattern = strings.TrimPrefix(r.pattern, "/")
		}
		// A slash after stars may match nothing, so it is not in the ending.
		r.ending = r.pattern[strings.LastIndexAny(r.pattern, `*?[]\/`)+1:]
		head, _, _ := strings.Cut(r.pattern, "[")
		for run := range strings.FieldsFuncSeq(head, func(c rune) bool { return strings.ContainsRune(`*?\/`, c) }) {
			if len(run) > len(r.plain) {
				r.plain = run
			}
		}
		if strings.ContainsAny(r.pattern, special) {
			r.matches = patternOf(r.pattern)
		}
		if r.pattern != "" {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

// settingRules parses the patterns of a setting. Git has no meaning for "./", but people type it in a shell.
func settingRules(patterns []string) ignoreFile {
	lines := make([]string, len(patterns))
	for i, p := range patterns {
		if rest, negated := strings.CutPrefix(p, "!./"); negated {
			p = "!/" + rest
		} else if rest, ok := strings.CutPrefix(p, "./"); ok {
			p = "/" + rest
		}
		lines[i] = p
	}
	return parseIgnore("", "", strings.Join(lines, "\n"))
}

// verdict returns the last rule of the file that matches a path, or nil. path is relative to the folder of the walk,
// and name is the last part of path. File systems may decompose the letters of names, so rules match composed letters.
func (f *ignoreFile) verdict(path, name string, isDir bool) *ignoreRule {
	relative, ok := strings.CutPrefix(path, f.base)
	if !ok {
		return nil
	}
	relative, name = norm.NFC.String(f.lead+relative), norm.NFC.String(name)
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.dirOnly && !isDir {
			continue
		}
		subject := name
		if r.anchored {
			subject = relative
		}
		if !strings.HasSuffix(subject, r.ending) || !strings.Contains(subject, r.plain) {
			continue // without the slower pattern
		}
		if r.matches == nil && subject == r.pattern || r.matches != nil && r.matches.MatchString(subject) {
			return r
		}
	}
	return nil
}

// special lists the characters with a meaning in a pattern.
const special = `*?[\`

// patternOf converts a gitignore pattern to a regular expression. '?' and '[...]' match one character, '*' matches any
// number of characters, and none of these matches a slash. Two or more stars between slashes match any number of
// folders. '\' escapes the next character.
func patternOf(pattern string) *regexp.Regexp {
	pattern = string([]rune(pattern)) // an invalid byte matches any invalid byte
	var b strings.Builder
	for i := 0; i < len(pattern); {
		c, size := utf8.DecodeRuneInString(pattern[i:])
		switch {
		case c == '*':
			rest := strings.TrimLeft(pattern[i:], "*")
			size = len(pattern) - i - len(rest)
			// Git compares the plain beginning first, so the first stars match as if a slash came before them.
			switch whole := size > 1 && (i == strings.IndexAny(pattern, special) || pattern[i-1] == '/'); {
			case whole && rest == "":
				b.WriteString(`.*`)
			case whole && rest[0] == '/': // in this folder and every folder below
				b.WriteString(`(?:.*/)?`)
				size += len("/")
			case whole && strings.HasPrefix(rest, `\/`): // in every folder below this folder
				b.WriteString(`[^/]*/(?:.*/)?`)
				size += len(`\/`)
			default:
				b.WriteString(`[^/]*`)
			}
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			var set string
			set, size = setOf(pattern[i:])
			b.WriteString(set)
		default:
			if c == '\\' && i+1 < len(pattern) {
				i++
				c, size = utf8.DecodeRuneInString(pattern[i:])
			}
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
		i += size
	}
	return regexp.MustCompile(`(?s)^` + b.String() + `$`)
}

// classes maps the names of character classes in patterns, as in [:alpha:], to sets of characters without the slash.
var classes = map[string]string{"alpha": `A-Za-z`, "alnum": `0-9A-Za-z`, "digit": `0-9`, "lower": `a-z`, "upper": `A-Z`,
	"space": ` \t-\r`, "xdigit": `0-9A-Fa-f`, "punct": "!-.:-@\\[-`{-~"}

// setOf converts the set at the beginning of a pattern, such as [a-z], to a regular expression. size is the length of
// the set in bytes. A set without ']' matches nothing.
func setOf(pattern string) (set string, size int) {
	const nothing = `[^\x00-\x{10FFFF}]`
	var b strings.Builder
	add := func(low, high rune) {
		if low <= high {
			fmt.Fprintf(&b, `\x{%x}-\x{%x}`, low, high)
		}
	}
	runes := []rune(pattern)
	i := 1
	negated := i < len(runes) && (runes[i] == '!' || runes[i] == '^')
	if negated {
		i++
	}
	literal := func() rune { // the character at i, which a backslash may escape
		if runes[i] == '\\' && i+1 < len(runes) {
			i++
		}
		return runes[i]
	}
	for first := i; i < len(runes) && (runes[i] != ']' || i == first); i++ {
		if name, _, ok := strings.Cut(string(runes[i+1:]), ":]"); ok && runes[i] == '[' && strings.HasPrefix(name, ":") {
			b.WriteString(classes[name[1:]])
			i += utf8.RuneCountInString(name) + len(":]")
			continue
		}
		low := literal()
		high := low
		if i+2 < len(runes) && runes[i+1] == '-' && runes[i+2] != ']' {
			i += 2
			high = literal()
		}
		add(low, min(high, '/'-1))
		add(max(low, '/'+1), high)
	}
	switch {
	case i >= len(runes), b.Len() == 0 && !negated:
		return nothing, len(pattern)
	case negated:
		return `[^/` + b.String() + `]`, len(string(runes[:i+1]))
	}
	return `[` + b.String() + `]`, len(string(runes[:i+1]))
}

// withIgnores returns the ignore files that apply in a folder: those of the folders above, and its own. If one of these
// files is unreadable, it returns an error. In a folder where another repository begins, git's ignore files from above
// do not apply.
func (w *walker) withIgnores(dir folder, full string, entries []fs.DirEntry) ([]ignoreFile, error) {
	ignores, added := dir.ignores, false
	take := func(file, shown string) error {
		content, err := readIgnore(file)
		if err != nil {
			return fmt.Errorf("its ignore file %s: %s", filepath.Base(shown), reasonOf(err))
		}
		if f := parseIgnore(dir.path, shown, content); len(f.rules) > 0 {
			ignores, added = append(ignores[:len(ignores):len(ignores)], f), true
		}
		return nil
	}
	if dir.path != "" && listed(entries, ".git") {
		if git := gitFolder(full); git != "" {
			ignores = slices.DeleteFunc(slices.Clone(ignores), func(f ignoreFile) bool { return !f.isOwn() })
			for _, exclude := range []string{userExcludes(git), filepath.Join(git, excludes)} {
				w.watchIgnore(exclude)
				if _, fault := os.Lstat(exclude); !errors.Is(fault, fs.ErrPermission) {
					if err := take(exclude, pathAbove(w.root, exclude)); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for _, name := range ignoreNames {
		if !listed(entries, name) {
			continue
		}
		if err := take(filepath.Join(full, name), dir.path+name); err != nil {
			return nil, err
		}
	}
	if added { // append to a copy
		ownLast(ignores)
	}
	return ignores, nil
}

// ownLast moves Sheaf's ignore files after git's, because the last matching rule counts.
func ownLast(ignores []ignoreFile) {
	slices.SortStableFunc(ignores, func(a, b ignoreFile) int {
		switch {
		case a.isOwn() == b.isOwn():
			return 0
		case b.isOwn():
			return -1
		}
		return 1
	})
}

// excludes is the path of the file with a repository's own rules, relative to the result of gitFolder.
const excludes = "info/exclude"

// excludesSetting returns the last value of core.excludesFile in a settings file of git, or "".
func excludesSetting(settings string) (value string) {
	core := false
	for line := range strings.Lines(settings) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(strings.TrimSpace(line), "[core]")
		} else if name, v, _ := strings.Cut(line, "="); core && strings.EqualFold(strings.TrimSpace(name), "excludesFile") {
			value = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return value
}

// userExcludes returns the path of the file with the user's rules for all repositories. The setting core.excludesFile
// of git names the file; without it, git has a default. git is the result of gitFolder. The file may be missing.
func userExcludes(git string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	settings := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	for _, file := range []string{
		filepath.Join(git, "config"), filepath.Join(home, ".gitconfig"), filepath.Join(settings, "git", "config"),
	} {
		if name := excludesSetting(readSmall(file)); name != "" {
			if below, ok := strings.CutPrefix(name, "~/"); ok {
				name = filepath.Join(home, below)
			}
			return leading(home, name)
		}
	}
	return filepath.Join(settings, "git", "ignore")
}

// gitFolder returns git's folder for the repository that begins at the path full, or "". The repository's own rules are
// in this folder: see excludes. In a worktree and in a submodule, .git is a file with the path of git's folder.
func gitFolder(full string) string {
	git := filepath.Join(full, ".git")
	if to, leads := strings.CutPrefix(readSmall(git), "gitdir:"); leads {
		git = leading(full, to)
	}
	if _, err := os.Stat(filepath.Join(git, "HEAD")); err != nil {
		return ""
	}
	if common := readSmall(filepath.Join(git, "commondir")); common != "" {
		git = leading(git, common)
	}
	return git
}

// readSmall returns the content of a small file. For anything else, such as a pipe or a large file, it returns "".
func readSmall(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRecord {
		return ""
	}
	text, _ := os.ReadFile(name)
	return string(text)
}

// leading returns the absolute form of a path that git wrote in a file. A relative path is relative to folder.
func leading(folder, path string) string {
	path = filepath.FromSlash(strings.TrimSpace(path))
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// repository reports whether a repository begins at the path full. git is the folder that has the repository's
// excludes, or "" if the process has no right to read them. An error means that begins is unknown.
func repository(full string) (git string, begins bool, err error) {
	git = filepath.Join(full, ".git")
	switch _, err := os.Stat(git); {
	case err == nil:
		git = cmp.Or(gitFolder(full), git)
		if _, fault := os.Lstat(filepath.Join(git, excludes)); errors.Is(fault, fs.ErrPermission) {
			git = ""
		}
		return git, true, nil
	case isAbsent(git), errors.Is(err, fs.ErrPermission):
		return "", false, nil
	default:
		return "", false, err
	}
}

// watchIgnore makes the watch report changes of an ignore file, which may be missing.
func (w *walker) watchIgnore(name string) {
	if w.o.watch == nil {
		return
	}
	if dir := realPath(filepath.Dir(name)); dir != "" {
		w.o.watch(filepath.Join(dir, filepath.Base(name)), false)
	}
}

// readIgnore returns the content of an ignore file. If the file does not exist or is not a regular file, it returns "".
// For a broken link, for example to an unmounted disk, it returns an error, because the rules are then unknown.
func readIgnore(name string) (string, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(name)
	}
	if err == nil && int64(len(content)) < info.Size() {
		err = errChanging
	}
	switch {
	case err != nil && isAbsent(name):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		err = errNowhere
	}
	return string(content), err
}

// errNowhere means that a link has no target.
var errNowhere = errors.New("a link that leads nowhere")

// isAbsent reports whether no file, folder or link has this name, not even a broken link.
func isAbsent(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// outerIgnores returns the ignore files above root up to the top of its repository, and the repository's excludes.
// sources lists the names of all these files, even missing ones. If a file is unreadable, or the top of the repository
// is unknown, it returns an error. Files that the process has no right to read count as missing.
func outerIgnores(root string) (ignores []ignoreFile, sources []string, err error) {
	lead := "" // from the top down to root
	take := func(name string) {
		sources = append(sources, name)
		content, fault := readIgnore(name)
		if fault != nil && err == nil {
			err = fmt.Errorf("the ignore file %s: %s", pathAbove(root, name), reasonOf(fault))
		}
		if fault == nil {
			f := parseIgnore("", name, content)
			f.lead = lead
			ignores = append([]ignoreFile{f}, ignores...)
		}
	}
	for dir := root; ; {
		git, begins, fault := repository(dir)
		if fault != nil {
			return nil, sources, fmt.Errorf("the repository %s: %s", pathAbove(root, filepath.Join(dir, ".git")),
				reasonOf(fault))
		}
		if git != "" {
			take(filepath.Join(git, excludes))
		}
		if begins {
			user := userExcludes(git)
			if _, fault := os.Lstat(user); !errors.Is(fault, fs.ErrPermission) {
				take(user)
			}
			ownLast(ignores)
			return ignores, sources, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil, nil // no repository
		}
		lead = filepath.Base(dir) + "/" + lead
		for _, own := range slices.Backward(ignoreNames[:]) {
			take(filepath.Join(parent, own))
		}
		dir = parent
	}
}

// pathAbove returns the path of a file above root, relative to root. So messages do not reveal where root is.
func pathAbove(root, name string) string {
	at, err := filepath.Rel(root, name)
	if err != nil {
		return filepath.Base(name)
	}
	return filepath.ToSlash(at)
}

// ignoreNames are the names of ignore files: git's, then Sheaf's. Sheaf's rules have priority.
var ignoreNames = [...]string{".gitignore", ".sheafignore"}

// ignoredBy returns the rule that excludes a file or folder, and the file of this rule. If no rule excludes it, both
// results are nil. Rules of the options win over Sheaf's ignore files, which win over git's. Within each kind, inner
// folders win.
func (w *walker) ignoredBy(ignores []ignoreFile, path, name string, isDir bool) (*ignoreFile, *ignoreRule) {
	f, r := &w.exclude, w.exclude.verdict(path, name, isDir)
	for i := len(ignores) - 1; i >= 0 && r == nil; i-- {
		f, r = &ignores[i], ignores[i].verdict(path, name, isDir)
	}
	if r != nil && r.negated {
		return nil, nil
	}
	return f, r
}
