package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Trust stores which files and folders of strangers the user approved. The folder Dir has one small file for each
// approval. The name of the file is the hash of the approved content, so a changed file is no longer approved. Several
// processes can approve at the same time.
type Trust struct {
	Dir string
}

// Approved reports whether the user approved exactly this content at this path. A nil Trust approves nothing.
func (t *Trust) Approved(path string, content []byte) bool {
	return t.has("file", path, content)
}

// Approve records that the user approved this content at this path. The file may then set every key.
func (t *Trust) Approve(path string, content []byte) error {
	return t.add("file", path, content)
}

// Revoke removes the approval of a file. If the file is not approved, Revoke returns fs.ErrNotExist.
func (t *Trust) Revoke(path string, content []byte) error {
	name, err := t.name("file", path, content)
	if err != nil {
		return err
	}
	return os.Remove(name)
}

// FolderApproved reports whether [Trust.ApproveFolder] has recorded this folder.
func (t *Trust) FolderApproved(dir string) bool { return t.has("folder", dir, nil) }

// ApproveFolder records that the program may use the index in this folder.
func (t *Trust) ApproveFolder(dir string) error { return t.add("folder", dir, nil) }

func (t *Trust) has(kind, path string, content []byte) bool {
	if t == nil || t.Dir == "" {
		return false
	}
	name, err := t.name(kind, path, content)
	if err != nil {
		return false
	}
	_, err = os.Stat(name)
	return err == nil
}

func (t *Trust) add(kind, path string, content []byte) error {
	name, err := t.name(kind, path, content)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(t.Dir, 0o700); err == nil {
		err = os.WriteFile(name, []byte(path+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember the approval: %w", err)
	}
	return nil
}

func (t *Trust) name(kind, path string, content []byte) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		real, err = path, nil
	}
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", kind, real)
	h.Write(content)
	return filepath.Join(t.Dir, hex.EncodeToString(h.Sum(nil))), nil
}

// Sensitive lists the settings in a file that need approval, in the form "line 3: key: value (reason)". It returns an
// error if it cannot parse the file.
func Sensitive(path string, content []byte) ([]string, error) {
	parsed, err := parseFile(path, content)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range parsed.entries {
		if key, err := Lookup(e.key); err == nil {
			if reason := key.needsTrust(e.value, filepath.Dir(path)); reason != "" {
				found = append(found, fmt.Sprintf("line %d: %s: %v (%s)", e.line, e.key, e.value, reason))
			}
		}
	}
	return found, nil
}
