package profile

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// Default is the name of the profile that is used if a caller names none.
const Default = "sheaf"

// Source returns the file and the text of the profile called name. If there is no such profile, it returns
// sheaf.ErrNotFound. A nil Source has the built-in profiles.
type Source func(name string) (file string, text []byte, err error)

// maxExtends is the largest number of profiles that extend one another in a chain. A longer chain is an error.
const maxExtends = 8

// Builtin is the [Source] of the profiles that are built into the program. For an unknown name, the error lists the
// built-in profiles.
func Builtin(name string) (file string, text []byte, err error) { return In()(name) }

// In returns a [Source] that looks for NAME.yaml in dirs, in order, then for a built-in profile.
func In(dirs ...string) Source {
	return func(name string) (string, []byte, error) {
		if file, text, err := inFolders(name, dirs); file != "" {
			return file, text, err
		}
		if validName().MatchString(name) {
			if text, err := builtin.ReadFile("builtin/" + name + ".yaml"); err == nil {
				return name + ".yaml", text, nil
			}
		}
		return "", nil, newMissing(name, append(namesIn(dirs), builtinNames()...), dirs)
	}
}

// inFolders reads the profile called name from the first of dirs that has it. It returns the path and the content. If
// no folder has it, file is "". err is an error of reading.
func inFolders(name string, dirs []string) (file string, text []byte, err error) {
	if !validName().MatchString(name) {
		return "", nil, nil
	}
	for _, dir := range dirs {
		file = filepath.Join(dir, name+".yaml")
		if text, err = readFile(file); !errors.Is(err, fs.ErrNotExist) {
			return file, text, err
		}
	}
	return "", nil, nil
}

// besideFile returns a [Source] that looks in the folder of file first, and then in find. It skips file itself, because
// file may have the name of the built-in profile that it extends.
func besideFile(file string, find Source) Source {
	dir := filepath.Dir(file)
	return func(name string) (string, []byte, error) {
		if other, text, err := inFolders(name, []string{dir}); other != "" && other != filepath.Clean(file) {
			return other, text, err
		}
		found, text, err := find(name)
		if m := (*missingProfile)(nil); errors.As(err, &m) {
			return "", nil, newMissing(name, append(namesIn([]string{dir}), m.names...),
				append([]string{dir}, m.folders...))
		}
		return found, text, err
	}
}

// missingProfile is the error for the name of a profile that does not exist.
type missingProfile struct {
	name string
	// names are the names of existing profiles. folders are the folders that were searched.
	names, folders []string
}

func newMissing(name string, names, looked []string) *missingProfile {
	slices.Sort(names)
	return &missingProfile{name, slices.Compact(names), looked}
}

// Error returns a message that callers on other machines may see. It names no folder.
func (m *missingProfile) Error() string {
	return fmt.Sprintf("profile %q%s (profiles: %s): %v", m.name, m.hint(), strings.Join(m.names, ", "), sheaf.ErrNotFound)
}

func (m *missingProfile) Unwrap() error { return sheaf.ErrNotFound }

func (m *missingProfile) hint() string { return prefixed(": ", Hint("profile", m.name, m.names)) }

// places says where Load looked for the missing profile: in folders, and among the built-in profiles. The text is for
// the author of a profile that extends the missing profile.
func (m *missingProfile) places(folders []string) string {
	places := "among the built-in profiles (" + strings.Join(builtinNames(), ", ") + ")"
	if len(folders) > 0 {
		places = "in " + strings.Join(folders, ", in ") + ", and " + places
	}
	return fmt.Sprintf("looked for %s.yaml %s%s", m.name, places, m.hint())
}

// namesIn returns the names of profiles in folders. It does not read the files, so a profile may be invalid.
func namesIn(dirs []string) []string {
	var names []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // no names to suggest
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !e.IsDir() && validName().MatchString(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxBytes || !info.Mode().IsRegular() {
		return nil, &FileError{File: file, Text: fmt.Sprintf("must be a file of at most %d bytes", maxBytes)}
	}
	return os.ReadFile(file)
}

// isFile reports whether the name of a profile is the path of a file.
func isFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// Load reads the profile called name from the source find. If name ends in .yaml or .yml, Load reads this file. For a
// file, it looks for extended profiles first in the folder of the file, then in find.
func Load(name string, find Source) (*Profile, error) {
	if find == nil {
		find = In()
	}
	if isFile(name) {
		text, err := readFile(name)
		if err != nil {
			return nil, err
		}
		return Parse(name, text, besideFile(name, find))
	}
	file, text, err := find(name)
	if err != nil {
		return nil, err
	}
	return Parse(file, text, find)
}

// Parse reads and checks the profile in text. Errors show file as its name. The source find returns the profiles that
// this profile extends. For every fault, Parse returns sheaf.ErrInvalid with file, line and column.
func Parse(file string, text []byte, find Source) (*Profile, error) {
	if find == nil {
		find = In()
	}
	p, err := attempt(func() *Profile { return readProfile(resolve(parseYAML(file, text), find, nil)) })
	if err != nil {
		return nil, err
	}
	standard, most, err := p.limit(nil)
	if err != nil {
		return nil, err
	}
	if standard > most {
		at := p.node.get(limitOptions.name)
		return nil, at.errorf("limits.default is %d, above limits.max, which is %d", standard, most)
	}
	var parameters []string // the digest begins with them; making a plan adds the rest
	for i := range p.Parameters {
		parameters = append(parameters, fmt.Sprintf("%s=%q\n", p.Parameters[i].Name, plainNumber(p.Parameters[i].Default)))
	}
	slices.Sort(parameters)
	digest := &strings.Builder{}
	digest.WriteString(strings.Join(parameters, ""))
	for i, limit := range []int{1, 10, 100} { // numbers may depend on the limit
		d := &decoder{}
		if i == 0 {
			d.digest = digest
		}
		if _, err := p.plan(d, min(limit, most), nil); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256([]byte(digest.String()))
	p.digest = hex.EncodeToString(sum[:16])
	own, err := builtin.ReadFile("builtin/" + p.Name + ".yaml")
	p.unchanged = err == nil && p.Extends == "" && bytes.Equal(own, text)
	return p, nil
}

// resolve merges n with the profile that n extends. above has the names of the profiles that extend n, to find cycles.
func resolve(n *node, find Source, above []string) *node {
	n.want(nodeMapping, "a profile")
	extends := n.get("extends")
	if extends == nil {
		return n
	}
	extends.want(nodeScalar, "extends")
	own := n.get("name")
	if own != nil && own.text == extends.text && !slices.Contains(above, own.text) &&
		slices.Contains(builtinNames(), own.text) {
		find = Builtin // the profile extends the built-in profile of the same name
	} else if own != nil {
		above = append(above, own.text)
	}
	if slices.Contains(above, extends.text) {
		extends.fail("the profile extends itself: %s", strings.Join(append(above, extends.text), " extends "))
	}
	if len(above) > maxExtends {
		extends.fail("more than %d profiles extend one another", maxExtends)
	}
	parent := extended(extends, find)
	if parent.get("name") == nil {
		above = append(above, extends.text) // to detect a cycle
	}
	return overlay(resolve(parent, find, above), n)
}

// extended reads the profile whose name is the value of "extends".
func extended(extends *node, find Source) *node {
	file, text, err := find(extends.text)
	if m := (*missingProfile)(nil); errors.As(err, &m) {
		if isFile(extends.text) {
			plain := strings.TrimSuffix(strings.TrimSuffix(extends.text, ".yaml"), ".yml")
			extends.fail("extends %q: a profile extends another by its name, not by its file: write %q, and put "+
				"both into one folder", extends.text, filepath.Base(plain))
		}
		say := func(looked []string) string {
			return fmt.Sprintf("extends %q: no profile has this name: %s", extends.text, m.places(looked))
		}
		check(&FileError{File: extends.file, Line: extends.line, Column: extends.col, Text: say(nil),
			within: say(m.folders)})
	}
	if errors.Is(err, sheaf.ErrNotFound) {
		extends.fail("extends %v", err)
	}
	check(err)
	return parseYAML(file, text)
}

// overlay merges the mapping child into the mapping parent. A key of child replaces the same key of parent. Parameters
// are merged one by one, by name. Branches are also merged by name, if they are written as a mapping.
func overlay(parent, child *node) *node {
	out := *child
	out.pairs = slices.Clone(child.pairs)
	for _, p := range parent.pairs {
		mine := child.get(p.key.text)
		switch {
		case mine == nil:
			out.pairs = append(out.pairs, p)
		case p.key.text == "parameters" && mine.kind == nodeMapping && p.value.kind == nodeMapping:
			out.set(p.key.text, joinParameters(&p.value, mine))
		case p.key.text == "branches" && mine.kind == nodeMapping && p.value.kind == nodeList:
			out.set(p.key.text, joinBranches(&p.value, mine))
		}
	}
	return &out
}

func (n *node) set(key string, value node) {
	for i := range n.pairs {
		if n.pairs[i].key.text == key {
			n.pairs[i].value = value
			return
		}
	}
	k := value.null()
	k.kind, k.text = nodeScalar, key
	n.pairs = append(n.pairs, pair{k, value})
}

func joinParameters(parent, child *node) node {
	out := *parent
	out.pairs = slices.Clone(parent.pairs)
	var names []string
	for _, p := range parent.pairs {
		names = append(names, p.key.text)
	}
	for i := range child.pairs {
		key, value := &child.pairs[i].key, child.pairs[i].value
		old := parent.get(key.text)
		if value.kind == nodeScalar {
			if old == nil {
				check(key.unknown("parameter of the profile that is extended", names))
			}
			changed := *old
			changed.pairs = slices.Clone(old.pairs)
			changed.set("default", value)
			value = changed
		}
		out.set(key.text, value)
	}
	return out
}

func joinBranches(parent, child *node) node {
	out := *parent
	out.items = slices.Clone(parent.items)
	var names []string
	for i := range parent.items {
		names = append(names, branchName(&parent.items[i]))
	}
	for i := range child.pairs {
		key, changes := &child.pairs[i].key, &child.pairs[i].value
		at := slices.Index(names, key.text)
		if at < 0 {
			check(key.unknown("branch of the profile that is extended", names))
		}
		changes.want(nodeMapping, "the changes of branch "+key.text)
		branch := out.items[at]
		branch.pairs = slices.Clone(branch.pairs)
		for _, p := range changes.pairs {
			branch.set(p.key.text, p.value)
		}
		out.items[at] = branch
	}
	return out
}

func branchName(n *node) string {
	for _, key := range []string{"name", "retrieve"} {
		if v := n.get(key); v != nil {
			return v.text
		}
	}
	return ""
}

// Info describes one profile in the result of [List].
type Info struct {
	Name  string
	About string
	// File is the path of the profile's file. Builtin says that the profile is a part of the program.
	File    string
	Builtin bool
	// Err says why the file is not a valid profile. It is nil for a valid profile.
	Err error
}

// List returns the profiles in the folders dirs and the built-in profiles, sorted by name. If a folder has a profile
// with the name of a built-in profile, List leaves the built-in profile out. List skips folders that do not exist.
func List(dirs ...string) ([]Info, error) {
	for _, dir := range dirs {
		if _, err := os.ReadDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var out []Info
	find := In(dirs...)
	names := append(namesIn(dirs), builtinNames()...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		file, text, err := inFolders(name, dirs)
		own := file == ""
		if own {
			file, text, err = Builtin(name)
		}
		if errors.Is(err, sheaf.ErrNotFound) { // the file was just removed, or is a dead link
			continue
		}
		info := Info{Name: name, File: file, Builtin: own, Err: err}
		var p *Profile
		if err == nil {
			p, info.Err = Parse(file, text, find)
		}
		if info.Err == nil {
			info.About = p.About
		}
		out = append(out, info)
	}
	return out, nil
}

func builtinNames() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		panic(err) // the files are in the binary
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}
