// Package location finds the index for a folder.
//
// An index has its own folder in the user's data folder. The name of this folder ends in a hash of the covered folder's
// real path. If the user wishes, the index is inside the covered folder instead, under [HereName]. A folder without its
// own index uses the index of the nearest folder above.
package location

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/adrg/xdg"

	"sheaf"
	"sheaf/internal/wording"
)

// HereName is the name of an index that is inside the folder that it covers.
const HereName = ".sheaf"

// Location is the place of an index, with the folder that the index covers.
type Location struct {
	// Root is the covered folder, as an absolute path without links.
	Root string
	// Dir is the index's folder.
	Dir string
	// Here means that Dir is inside Root.
	Here bool
	// Exists means that there is an index in Dir.
	Exists bool

	base string // for a store on a server, the folder of the index of the engine
}

// Finder finds the index of a folder.
type Finder struct {
	// Data is the folder that contains all indexes. "" is the default folder.
	Data string
	// Index, unless "", is the index to use for every folder.
	Index string
	// Approved reports whether the user made or adopted the index inside a folder. Find ignores other indexes inside
	// folders: for example, one that came with a copied folder.
	Approved func(root string) bool
}

func (f Finder) data() string {
	if f.Data != "" {
		return f.Data
	}
	return filepath.Join(xdg.DataHome, "sheaf")
}

// Own returns the place of the index that covers exactly this folder, in the data folder. The index may be missing.
func (f Finder) Own(folder string) Location {
	if f.Index != "" {
		return at(folder, f.Index, false)
	}
	sum := sha256.Sum256([]byte(folder))
	name := plainName(filepath.Base(folder)) + "-" + hex.EncodeToString(sum[:8])
	return at(folder, filepath.Join(f.data(), name), false)
}

// Inside returns the place of the index inside folder.
func (f Finder) Inside(folder string) Location {
	return at(folder, filepath.Join(folder, HereName), true)
}

func at(root, dir string, here bool) Location {
	_, err := os.Stat(filepath.Join(dir, recordName))
	return Location{Root: root, Dir: dir, Here: here, Exists: err == nil}
}

// Store returns the place, inside the index, of the data for the server at address.
func (l Location) Store(address string) Location {
	sum := sha256.Sum256([]byte(address))
	dir := filepath.Join(l.Dir, storesName, hex.EncodeToString(sum[:8]))
	place := at(l.Root, dir, l.Here)
	if l.Exists {
		place.base = l.Dir
	}
	return place
}

// Places returns the folders of the stores in an index: the engine's folder first, then one for each server. The caller
// must call Places on the location of the engine.
func (l Location) Places() []string {
	places := []string{l.Dir}
	servers, _ := os.ReadDir(filepath.Join(l.Dir, storesName)) // missing without a server
	for _, s := range servers {
		places = append(places, filepath.Join(l.Dir, storesName, s.Name()))
	}
	return places
}

// Keys returns the path of the file with the access keys of the index. An index on a server uses the file in its own
// folder. If this file does not exist, the index uses the file of the engine's index. So keys stay valid if a folder
// moves to a store on a server.
func (l Location) Keys() string {
	own := filepath.Join(l.Dir, KeysName)
	if l.base == "" {
		return own
	}
	if _, err := os.Stat(own); err == nil {
		return own
	}
	return filepath.Join(l.base, KeysName)
}

// Find returns the index that the user named. If the user named none, Find looks for the index that covers folder, in
// folder and then in each parent. If there is no index, Find returns the place for a new one. The second result has
// notices with the names of indexes that Find ignored. The caller must pass an absolute path without links as folder.
func (f Finder) Find(folder string) (Location, []string, error) {
	if f.Index != "" {
		loc, err := f.atNamed(folder)
		return loc, nil, err
	}
	var notices []string
	for dir := folder; ; dir = filepath.Dir(dir) {
		if here := f.Inside(dir); here.Exists {
			if f.Approved != nil && f.Approved(dir) {
				return here, notices, nil
			}
			notices = append(notices, fmt.Sprintf("the index in %s was not made by you and is not used: to adopt it: sheaf "+
				"init --here --in %s", here.Dir, wording.ShellQuoted(dir)))
		}
		if own := f.Own(dir); own.Exists {
			return own, notices, nil
		}
		if dir == filepath.Dir(dir) {
			return f.Own(folder), notices, nil
		}
	}
}

// atNamed returns the index in the folder that the user named. An existing index that does not cover folder is an
// error.
func (f Finder) atNamed(folder string) (Location, error) {
	dir, err := filepath.Abs(f.Index)
	if err != nil {
		return Location{}, err
	}
	loc := at(folder, dir, false)
	if !loc.Exists {
		return loc, vacant(dir)
	}
	record, err := ReadRecord(dir)
	if errors.Is(err, sheaf.ErrCorrupt) || errors.Is(err, ErrFormat) {
		return loc, nil // the index is remade for this folder
	}
	if err != nil {
		return Location{}, err
	}
	loc.Root = record.Root
	if _, ok := Under(record.Root, folder); !ok {
		return Location{}, sheaf.Invalidf("the index in %s covers %s, not %s: name another with --index, or the "+
			"folder with --in", dir, record.Root, folder)
	}
	return loc, nil
}

// vacant returns an error if dir contains files that do not belong to an index. Then dir cannot become an index.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("open index: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !ours[e.Name()] && e.Name() != storesName {
			return sheaf.Invalidf("%s holds other files (%s) and no index: name an empty or a new folder with --index", dir,
				e.Name())
		}
	}
	return nil
}

// Under returns the path of folder relative to root, with slashes. For root itself the path is "". If folder is not
// below root, Under returns false.
func Under(root, folder string) (string, bool) {
	rel, err := filepath.Rel(root, folder)
	if err != nil || rel != "." && !filepath.IsLocal(rel) {
		return "", false
	}
	if rel == "." {
		return "", true
	}
	return filepath.ToSlash(rel), true
}

// plainName returns a folder's name for use in the name of an index. Characters other than letters, digits, dots,
// dashes and underscores become dashes. An empty result becomes "root", and a long one is cut.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
	name = strings.Trim(name, ".-")
	if name == "" {
		return "root"
	}
	if len(name) > 40 {
		name = strings.ToValidUTF8(name[:40], "")
	}
	return name
}
