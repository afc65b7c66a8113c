package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
)

// Wreck is a catalog that is damaged or that another version of the program made. It gives access to the readable
// parts. Only settings that people made, and texts without a file, must be saved; other documents can be indexed again.
// A Wreck holds the writer's lock until Close.
type Wreck struct {
	// Settings are the catalog's settings, from the manifest or its copy. SettingsFound reports whether they could be
	// read.
	Settings      Settings
	SettingsFound bool
	// Kept is the number of documents that the new catalog gets. Lost lists the documents that should be kept, but
	// cannot be read.
	Kept int
	Lost []sheaf.ID
	// Unread is the number of documents and tombstones whose ID or state cannot be read. Some of them may also be in
	// Lost.
	Unread int

	catalog    *Catalog
	lock       io.Closer
	generation uint64
	segments   []*segment // newest first
	kept       []Encoded
}

// Examine reads the readable parts of the catalog in a folder and does not change the folder. The function keep decides
// whether to keep a document with a stored text; keep gets the settings that were found. If another process is writing,
// the error wraps sheaf.ErrUnavailable. Other errors come from the file system.
func Examine(fsys vfs.FS, dir string, keep func(doc sheaf.ID, settings *Settings) bool) (*Wreck, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("examine catalog: %w", err)
	}
	lock, err := fsys.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("examine catalog: %w", translate(err))
	}
	w := &Wreck{lock: lock, catalog: &Catalog{fs: fsys, dir: dir}}
	if err := w.examine(keep); err != nil {
		return nil, errors.Join(fmt.Errorf("examine catalog: %w", err), w.Close())
	}
	return w, nil
}

// Close ends the use of the wreck and releases the lock.
func (w *Wreck) Close() error {
	for _, s := range w.segments {
		s.release()
	}
	w.segments, w.kept = nil, nil
	return w.lock.Close()
}

func (w *Wreck) examine(keep func(sheaf.ID, *Settings) bool) error {
	names, err := w.find()
	if err != nil {
		return err
	}
	for _, info := range slices.Backward(names) {
		s, err := openSegment(w.catalog.fs, filepath.Join(w.catalog.dir, info.Name))
		switch {
		case err == nil:
			w.segments = append(w.segments, s)
		case errors.Is(err, vfs.ErrCorrupt), errors.Is(err, vfs.ErrVersion), errors.Is(err, fs.ErrNotExist):
			w.Unread += max(info.Records, 1)
		default:
			return err
		}
	}
	seen := map[string]bool{}
	for _, s := range w.segments {
		for from := 0; from < s.n; from += idGroup {
			w.group(s, from, seen, func(id sheaf.ID) bool { return keep(id, &w.Settings) })
		}
	}
	slices.SortFunc(w.kept, func(a, b Encoded) int { return strings.Compare(a.id, b.id) })
	slices.Sort(w.Lost)
	w.Kept = len(w.kept)
	return nil
}

// find sets the settings of w, and returns the segments, oldest first. If the manifest is unreadable, it returns the
// segment files that exist.
func (w *Wreck) find() ([]segmentInfo, error) {
	m, err := manifest.Read(w.catalog.fs, w.catalog.dir)
	if err == nil {
		var p payload
		w.generation = m.Generation
		if json.Unmarshal(m.Payload, &p) == nil {
			w.Settings, w.SettingsFound = p.Settings, true
			return p.Segments, nil
		}
	} else if !errors.Is(err, vfs.ErrCorrupt) && !errors.Is(err, vfs.ErrVersion) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names, err := w.catalog.fs.List(w.catalog.dir)
	if err != nil {
		return nil, err
	}
	var segments []segmentInfo
	for _, name := range names { // sorted by name: generations have a fixed width
		kind, number := name, ""
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			kind, number = name[:i], name[i+1:]
		}
		generation, err := strconv.ParseUint(number, 16, 64)
		if err != nil {
			continue
		}
		w.generation = max(w.generation, generation)
		switch kind {
		case kindSegment:
			segments = append(segments, segmentInfo{Name: name})
		case kindSettings:
			var s Settings
			if (&View{catalog: w.catalog}).readList(kindSettings, name, &s) == nil {
				w.Settings, w.SettingsFound = s, true
			}
		}
	}
	return segments, nil
}

// group reads one group of IDs; from is the number of its first ID. It adds documents that keep accepts to w.kept, or
// to w.Lost if they are damaged. It adds the number of unreadable entries to w.Unread. group skips the IDs in seen,
// which newer segments have, and adds the others to seen.
func (w *Wreck) group(s *segment, from int, seen map[string]bool, keep func(sheaf.ID) bool) {
	c := idCursor{list: &s.ids}
	err := c.seek(from)
	for i := from; i < min(from+idGroup, s.n); i++ {
		if err == nil && i > from {
			err = c.next()
		}
		if err != nil {
			w.Unread += min(from+idGroup, s.n) - i
			return
		}
		id := string(c.key)
		if seen[id] {
			continue
		}
		seen[id] = true
		st, err := s.state(i)
		switch {
		case err != nil:
			w.Unread++
		case st.tombstone() || st.text == 0 || !keep(sheaf.ID(id)):
		default:
			e, err := s.entry(id, i, true)
			if err == nil {
				_, err = s.readText(&st) // verifies every byte
			}
			if err != nil {
				w.Lost = append(w.Lost, sheaf.ID(id))
			} else {
				w.kept = append(w.kept, e)
			}
		}
	}
}

// Replace publishes an undamaged catalog in place of the wreck in one step. The new catalog has the kept documents, and
// the settings after change has edited them. Its lists of skipped files and pending documents are empty. Replace
// removes the files of the wreck.
func (w *Wreck) Replace(change func(*Settings)) error {
	c := w.catalog
	generation := max(following(w.generation), following(0)) // higher than any generation that a process has seen
	empty := newView(c, manifest.Manifest{Generation: generation - 1}, payload{Format: format}, nil)
	settings := w.Settings
	change(&settings)
	view, err := c.publish(empty, Update{Encoded: w.kept, Settings: &settings})
	if err != nil {
		return fmt.Errorf("replace catalog: %w", translate(err))
	}
	defer view.Close()
	// If a file remains, the next writer tries again.
	_ = manifest.Sweep(c.fs, c.dir, view.manifest, func(name string) bool { return strings.HasPrefix(name, prefix) })
	return nil
}
