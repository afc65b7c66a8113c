package collection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sheaf"
)

// The files and folders of an index.
const (
	recordName  = "collection.json"
	catalogName = "catalog"
	engineName  = "engine"
	lockName    = "lock"
)

var ours = map[string]bool{recordName: true, catalogName: true, engineName: true, lockName: true}

// RecordFormat is the version of the record and of how an index's folder is
// laid out. An index of another format is made again from the files.
const RecordFormat = 1

// Record says what an index covers. It is a small JSON file that is replaced
// as a whole.
type Record struct {
	Format int `json:"format"`
	// Root is the folder that the index was made for; Trees holds it first,
	// then the folders that were added.
	Root  string `json:"root"`
	Trees []Tree `json:"trees"`
}

// Tree is a folder with the name that its documents' IDs begin with.
type Tree struct {
	Name string `json:"name"`
	Root string `json:"root"`
}

// NewRecord covers the folder at root, under its own name.
func NewRecord(root string) Record {
	r := Record{Format: RecordFormat, Root: root}
	r.Add(root)
	return r
}

// Add covers one more folder and returns its tree; a folder that is covered
// already keeps its name.
func (r *Record) Add(root string) (tree Tree, added bool) {
	for _, t := range r.Trees {
		if t.Root == root {
			return t, false
		}
	}
	name := TreeName(root)
	for n := 2; slices.ContainsFunc(r.Trees, func(t Tree) bool { return t.Name == name }); n++ {
		name = TreeName(root) + "-" + strconv.Itoa(n)
	}
	tree = Tree{Name: name, Root: root}
	r.Trees = append(r.Trees, tree)
	return tree, true
}

// TreeName is the name of a folder as it begins IDs: its last part, without
// colons, which end a tree's name.
func TreeName(root string) string {
	name := strings.ReplaceAll(filepath.Base(root), ":", "-")
	if name == "/" || name == "." || name == `\` {
		return "root"
	}
	return strings.ToValidUTF8(name, "-")
}

// ReadRecord reads the record in dir. A record that says nothing usable is
// sheaf.ErrCorrupt; one of another format is [ErrFormat].
func ReadRecord(dir string) (Record, error) {
	path := filepath.Join(dir, recordName)
	file, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", sheaf.ErrNotFound, err)
		}
		return Record{}, fmt.Errorf("open index: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, 1<<20))
	if err != nil {
		return Record{}, fmt.Errorf("open index: %w", err)
	}
	var r Record
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(&r); err != nil {
		return Record{}, fmt.Errorf("open index: %w: %s: %w", sheaf.ErrCorrupt, path, err)
	}
	if r.Format != RecordFormat {
		return Record{}, fmt.Errorf("open index: %s: %w: it has format %d, this program writes %d", path, ErrFormat, r.Format, RecordFormat)
	}
	for i, t := range r.Trees {
		named := slices.ContainsFunc(r.Trees[:i], func(u Tree) bool { return u.Name == t.Name })
		if named || t.Name == "" || strings.Contains(t.Name, ":") || !filepath.IsAbs(t.Root) {
			return Record{}, fmt.Errorf("open index: %w: %s: tree %d is %q in %q", sheaf.ErrCorrupt, path, i, t.Name, t.Root)
		}
	}
	if len(r.Trees) == 0 || r.Trees[0].Root != r.Root {
		return Record{}, fmt.Errorf("open index: %w: %s: its first tree is not its root", sheaf.ErrCorrupt, path)
	}
	return r, nil
}

// ErrFormat says that an index was made by a version of this program that
// lays it out otherwise. It can be made again from the files.
var ErrFormat = errors.New("made by another version")

// Write puts the record into dir, which must exist.
func (r Record) Write(dir string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "."+recordName+"-*")
	if err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(content, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	if err := os.Rename(tmp.Name(), filepath.Join(dir, recordName)); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// All reads the records of every index in the data folder, by folder name.
// Indexes that cannot be read are left out.
func (f Finder) All() ([]Location, []Record, error) {
	entries, err := os.ReadDir(f.data())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list indexes: %w", err)
	}
	var locations []Location
	var records []Record
	for _, e := range entries {
		dir := filepath.Join(f.data(), e.Name())
		if r, err := ReadRecord(dir); err == nil {
			locations = append(locations, Location{Root: r.Root, Dir: dir, Exists: true})
			records = append(records, r)
		}
	}
	return locations, records, nil
}
