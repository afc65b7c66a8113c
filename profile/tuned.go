package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sheaf/index/vfs"
)

// tunedFolder is the folder, inside an index, of profiles tuned to the index.
const tunedFolder = "tuned"

// The first line of a tuned profile names the default ranking that it was tuned for.
const (
	tunedBefore = "# Written by sheaf tune;"
	tunedHeader = "# Written by sheaf tune for a ranking of shares; sheaf tune --undo removes it."
)

// TunedFile returns the file in the index folder dir with the tuned changes of a profile.
func TunedFile(dir, name string) string { return filepath.Join(dir, tunedFolder, name+".yaml") }

// TunedText returns the content of [TunedFile]. It returns fs.ErrNotExist when there is no file, and a
// [FileError] when it is not a regular file or is too large for a profile.
func TunedText(dir, name string) ([]byte, error) { return readFile(TunedFile(dir, name)) }

// LoadTuned reads the profile called name as the index in dir uses it: the tuned profile, or else the one from
// find. A tuned profile is called NAME-tuned and extends NAME. fault is the reason why an existing tuned
// profile is not used, for example because NAME no longer has one of its parameters. A profile that was tuned
// to the previous default ranking is not used, because names changed their meaning. Errors are those of [Load].
func LoadTuned(dir, name string, find Source) (p *Profile, fault, err error) {
	if dir != "" && validName.MatchString(name) {
		text, err := TunedText(dir, name)
		if err == nil {
			p, err = Parse(TunedFile(dir, name), text, find)
		}
		if err == nil && bytes.HasPrefix(text, []byte(tunedBefore)) {
			err = &FileError{File: TunedFile(dir, name),
				Text: "was found before the default ranking changed; run sheaf tune again"}
		}
		if err == nil {
			return p, nil, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			fault = err
		}
	}
	p, err = Load(name, find)
	return p, fault, err
}

// Tuning is a set of changes to a profile.
type Tuning struct {
	// Parameters are new defaults.
	Parameters map[string]string
	// Fields are new weights of the fields of branches.
	Fields map[string]map[string]string
}

// Text writes a profile that extends name with the changes. about is one line with their origin.
func (t Tuning) Text(name, about string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, tunedHeader+"\nname: %s-tuned\nextends: %s\nabout: %s\n", name, quoteYAML(name), quoteYAML(about))
	if len(t.Parameters) > 0 {
		b.WriteString("parameters:\n")
		for _, p := range slices.Sorted(maps.Keys(t.Parameters)) {
			fmt.Fprintf(&b, "  %s: %s\n", p, t.Parameters[p])
		}
	}
	if len(t.Fields) > 0 {
		b.WriteString("branches:\n")
		for _, branch := range slices.Sorted(maps.Keys(t.Fields)) {
			var fields []string
			for _, f := range slices.Sorted(maps.Keys(t.Fields[branch])) {
				fields = append(fields, f+": "+t.Fields[branch][f])
			}
			fmt.Fprintf(&b, "  %s: {fields: {%s}}\n", branch, strings.Join(fields, ", "))
		}
	}
	return []byte(b.String())
}

// WriteTuned stores text as the tuned profile of the index for name. Readers see the old or the new file.
func WriteTuned(dir, name string, text []byte) error {
	file := TunedFile(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write tuned profile: %w", err)
	}
	if err := vfs.WriteFile(file, text, 0); err != nil {
		return fmt.Errorf("write tuned profile: %w", err)
	}
	return nil
}
