// Package config reads the settings of a run and records who set each of them. Settings come from flags, then the
// environment, then the project's file, then the user's file, then the defaults. The first source with a key wins.
// [Load] returns the typed [Values] and, for every key, its [Origin].
//
// Another person may have made a project's file. Its settings for endpoints, secrets and outside paths are ignored,
// with a notice, until the user approves them (see [Trust]).
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/edits"
	"sheaf/internal/suggest"
	"sheaf/internal/wording"
)

// Source is a kind of place where a setting can be set. A later source overrides an earlier one.
type Source uint8

// These are the sources of settings.
const (
	SourceDefault Source = iota
	SourceUser
	SourceProject
	SourceEnvironment
	SourceFlag
)

// String returns "default", "user", "project", "environment" or "flag".
func (s Source) String() string {
	return [...]string{"default", "user", "project", "environment", "flag"}[s]
}

// Origin is the place where a setting is set.
type Origin struct {
	Source Source
	// File, Line and Column are set if the user's or project's file has the setting. Lines and columns count from 1.
	File         string
	Line, Column int
	// Name is the environment variable or the flag.
	Name string
}

// String describes the origin for people: "/a/sheaf.yaml:3:8", "$SHEAF_LIMIT", "--limit" or "default".
func (o Origin) String() string {
	switch o.Source {
	case SourceUser, SourceProject:
		return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
	case SourceEnvironment:
		return "$" + o.Name
	case SourceFlag:
		return "--" + o.Name
	}
	return "default"
}

// Flag is a setting from the command line.
type Flag struct {
	Key  string // the key it sets
	Name string // the name of the flag, without dashes
	// Values has one entry, or several entries for a list.
	Values []string
}

// Options say where [Load] looks for settings.
type Options struct {
	// Dir is the folder of the command. The project's file is the first .sheaf.yaml or sheaf.yaml in Dir or in a folder
	// above it. If Dir is "", there is no project.
	Dir string
	// UserFile is the path of the user's settings file, or "" for none. The file need not exist.
	UserFile string
	// Environ has the format of os.Environ.
	Environ []string
	Flags   []Flag
	// Trust knows whether the user approved the project's file. If it is nil, no file is approved.
	Trust *Trust
}

// Config has the settings of one run.
type Config struct {
	Values
	// UserFile and ProjectFile are the files that Load read, or "" for a file that does not exist.
	UserFile, ProjectFile string
	// Notices name the settings that Load ignored, and say why.
	Notices []string
	origins map[string]Origin
}

// Origin returns where the setting called key was set.
func (c *Config) Origin(key string) Origin { return c.origins[key] }

// ProjectFileNames are the names that a project's file may have. Load looks for the first name first.
var ProjectFileNames = []string{".sheaf.yaml", "sheaf.yaml"}

// Load reads the settings. For an unknown key or a value out of range, it returns sheaf.ErrInvalid and names the place.
func Load(opts Options) (*Config, error) {
	c := &Config{Values: defaults(), origins: map[string]Origin{}}
	if err := c.loadFile(opts.UserFile, SourceUser, nil); err != nil {
		return nil, err
	}
	if opts.Dir != "" {
		file, second, err := findProjectFile(opts.Dir)
		if err != nil {
			return nil, err
		}
		if second != "" {
			c.Notices = append(c.Notices, fmt.Sprintf("%s is ignored, because %s stands beside it: join the two", second,
				filepath.Base(file)))
		}
		if file != "" && file != c.UserFile {
			if err := c.loadFile(file, SourceProject, opts.Trust); err != nil {
				return nil, err
			}
		}
	}
	if err := c.loadEnvironment(opts.Environ); err != nil {
		return nil, err
	}
	for _, f := range opts.Flags {
		key, err := Lookup(f.Key)
		if err == nil {
			err = c.set(key, key.join(f.Values), Origin{Source: SourceFlag, Name: f.Name})
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// set parses value, stores it under key and records its origin. In a settings file, a relative path starts at the
// folder of the file. Elsewhere it starts at the working folder.
func (c *Config) set(key *Key, value any, origin Origin) error {
	parsed, err := key.parse(value)
	switch {
	case err != nil && origin.Source == SourceFlag: // the flag has the name of the key
		return sheaf.Invalidf("%s %w", origin, err)
	case err != nil:
		return sheaf.Invalidf("%s: %s: %w", origin, key.Name, err)
	}
	if p, ok := parsed.(string); ok && key.Path && p != "" {
		if parsed, err = resolvePath(p, origin); err != nil {
			return sheaf.Invalidf("%s: %s: %w", origin, key.Name, err)
		}
	}
	key.assign(&c.Values, parsed)
	c.origins[key.Name] = origin
	return nil
}

func resolvePath(p string, origin Origin) (string, error) {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(p) {
		return filepath.Clean(p), nil
	}
	if origin.File != "" {
		return filepath.Join(filepath.Dir(origin.File), p), nil
	}
	return filepath.Abs(p)
}

func (c *Config) loadFile(path string, source Source, trust *Trust) error {
	if path == "" {
		return nil
	}
	content, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) && source == SourceUser {
		return nil
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read configuration: %w: %s is a link to a file that does not exist", sheaf.ErrNotFound, path)
	case err != nil:
		return fmt.Errorf("read configuration: %w", err)
	}
	parsed, err := parseFile(path, content)
	if err != nil {
		return err
	}
	trusted := source == SourceUser || trust.Approved(path, content)
	for _, e := range parsed.entries {
		key, err := lookup(fmt.Sprintf("%s:%d:%d: ", path, e.keyLine, e.keyColumn), e.key)
		if err != nil {
			return err
		}
		origin := Origin{Source: source, File: path, Line: e.line, Column: e.column}
		if !trusted {
			if reason := key.needsTrust(e.value, filepath.Dir(path)); reason != "" {
				c.Notices = append(c.Notices, fmt.Sprintf("%s:%d: %s is ignored, because %s: read the file, then approve it "+
					"with: sheaf config trust %s",
					path, e.line, key.Name, reason, wording.ShellQuoted(path)))
				continue
			}
		}
		if err := c.set(key, e.value, origin); err != nil {
			return err
		}
	}
	if source == SourceUser {
		c.UserFile = path
	} else {
		c.ProjectFile = path
	}
	return nil
}

// loadEnvironment reads SHEAF_LIMIT, SHEAF_EMBEDDER_URL and so on. If a variable looks like a misspelled key, it adds a
// notice. It ignores other SHEAF_ variables, which belong to other programs.
func (c *Config) loadEnvironment(environ []string) error {
	byVariable := map[string]*Key{}
	var names []string
	for i := range keys {
		byVariable[keys[i].Variable()] = &keys[i]
		names = append(names, keys[i].Variable())
		if keys[i].Name == embedderKey {
			byVariable["SHEAF_"+strings.ToUpper(embedderGroup)] = &keys[i] // short form, as in files
		}
	}
	environ = slices.Clone(environ)
	slices.Sort(environ)
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "SHEAF_") || value == "" {
			continue
		}
		key, ok := byVariable[name]
		if !ok {
			if near := suggest.Nearest(name, names); near != "" && edits.Distance([]rune(name), []rune(near), 2) <= 2 {
				c.Notices = append(c.Notices, fmt.Sprintf("$%s is not a setting: did you mean $%s?", name, near))
			}
			continue
		}
		if err := c.set(key, value, Origin{Source: SourceEnvironment, Name: name}); err != nil {
			return err
		}
	}
	return nil
}

// unknownKey returns the error for an unknown key at a place. The error names the most similar key. Without a similar
// key, it lists the keys of the same section, or all keys.
func unknownKey(place, name string) error {
	names := Names()
	for _, secret := range []string{"api_key", "apikey", "key", "token", "secret", "password"} {
		if head, ok := strings.CutSuffix(name, secret); ok && slices.Contains(names, head+"key_env") {
			return sheaf.Invalidf("%sunknown key %q: settings hold no secrets: %q names the environment variable that does, "+
				"%q the file", place, name, head+"key_env", head+"key_file")
		}
	}
	section, last, _ := strings.Cut(name, ".")
	var beside []string
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, section+"."); ok && last != "" {
			beside = append(beside, rest)
		}
	}
	if near := suggest.Nearest(last, beside); near != "" {
		return sheaf.Invalidf("%sunknown key %q: did you mean %q?", place, name, section+"."+near)
	}
	if len(beside) > 0 {
		return sheaf.Invalidf("%sunknown key %q: the keys of %s are %s", place, name, section, strings.Join(beside, ", "))
	}
	if near := suggest.Nearest(name, names); near != "" {
		return sheaf.Invalidf("%sunknown key %q: did you mean %q?", place, name, near)
	}
	return sheaf.Invalidf("%sunknown key %q: the keys are %s", place, name, strings.Join(names, ", "))
}

// findProjectFile looks for a project's file in dir, then in each folder above it. If the folder has files with both
// [ProjectFileNames], second is the file with the second name. Without a project's file, file and second are "".
func findProjectFile(dir string) (file, second string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	for {
		for _, name := range ProjectFileNames {
			path := filepath.Join(dir, name)
			if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() && st.Mode().Type() != fs.ModeSymlink {
				continue // a link that leads nowhere is an error: the settings in its file may exclude documents
			}
			if file != "" {
				return file, path, nil
			}
			file = path
		}
		parent := filepath.Dir(dir)
		if file != "" || parent == dir {
			return file, "", nil
		}
		dir = parent
	}
}

// maxFileBytes limits the size of configuration files.
const maxFileBytes = 1 << 20

func readSmall(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxFileBytes {
		return nil, sheaf.Invalidf("%s has %d bytes: a configuration has at most %d", path, st.Size(), maxFileBytes)
	}
	return os.ReadFile(path)
}
