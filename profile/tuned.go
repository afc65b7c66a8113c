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

// tunedFolder is a folder in the folder of an index, with the profiles that are tuned to this index.
const tunedFolder = "tuned"

// tunedHeader is the first line of a tuned profile. Its words "a ranking of shares" name the current default ranking.
// The first line of a profile that was tuned for the previous default ranking begins with tunedBefore.
const (
	tunedBefore = "# Written by sheaf tune;"
	tunedHeader = "# Written by sheaf tune for a ranking of shares; sheaf tune --undo removes it."
)

// TunedFile returns the path of the file with the tuned version of a profile. dir is the folder of the index.
func TunedFile(dir, name string) string { return filepath.Join(dir, tunedFolder, name+".yaml") }

// TunedText returns the content of [TunedFile]. If there is no such file, it returns fs.ErrNotExist. If the file is not
// a regular file, or is too large for a profile, it returns a [FileError].
func TunedText(dir, name string) ([]byte, error) { return readFile(TunedFile(dir, name)) }

// LoadTuned reads the profile that the index in dir uses for name. This is the tuned version, called NAME-tuned, or
// else the profile that [Load] reads from find. fault says why an existing tuned version is not used. For example, the
// version sets a parameter that the profile no longer has. A version that was tuned for the previous default ranking is
// not used either, because its parameters had another meaning. err is an error of [Load].
func LoadTuned(dir, name string, find Source) (p *Profile, fault, err error) {
	if dir != "" && validName().MatchString(name) {
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

// Tuning has changes to a profile.
type Tuning struct {
	// Parameters has new defaults of parameters.
	Parameters map[string]string
	// Fields has new weights of fields, by branch and field.
	Fields map[string]map[string]string
}

// Text returns the text of a profile that extends the profile called name and has the changes. The parameter about is a
// line that says where the changes come from.
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

// WriteTuned stores text as the tuned version of the profile called name. A reader sees the old or the new file.
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
