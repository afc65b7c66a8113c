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

// tunedFolder is the folder, in that of an index, of profiles tuned to it.
const tunedFolder = "tuned"

// The first line of a tuned profile says for which default ranking it was found.
const (
	tunedBefore = "# Written by sheaf tune;"
	tunedHeader = "# Written by sheaf tune for a ranking of shares; sheaf tune --undo removes it."
)

// TunedFile is the file in the index's folder dir that, when there is one, holds
// what is changed of the profile called name for this index.
func TunedFile(dir, name string) string { return filepath.Join(dir, tunedFolder, name+".yaml") }

// TunedText is the content of [TunedFile]. Errors are fs.ErrNotExist where there is none,
// and a [FileError] where it is no file, or too large for a profile.
func TunedText(dir, name string) ([]byte, error) { return readFile(TunedFile(dir, name)) }

// LoadTuned reads the profile called name as the index in dir uses it: tuned to
// it, or from find when it is not. A tuned profile is called NAME-tuned and
// extends NAME. fault says why a tuned one that is there is not used, such as a
// parameter that NAME does not have any more. What was found for the default ranking of
// before is not used: names has another meaning now. Errors are those of [Load].
func LoadTuned(dir, name string, find Source) (p *Profile, fault, err error) {
	if dir != "" && validName.MatchString(name) {
		text, err := TunedText(dir, name)
		if err == nil {
			p, err = Parse(TunedFile(dir, name), text, find)
		}
		if err == nil && p.root == Default && bytes.HasPrefix(text, []byte(tunedBefore)) {
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

// Tuning is what is changed of a profile.
type Tuning struct {
	// Parameters are new defaults.
	Parameters map[string]string
	// Fields are new weights of the fields of branches.
	Fields map[string]map[string]string
}

// Text writes the profile that extends name by the changes. about says where they
// come from, in one line.
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

// WriteTuned makes text what the index in dir uses for the profile called name.
// Readers see the old file or the new one.
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
