package catalog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"time"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/index/vfs/sectionfile"
)

// publish writes the generation after view: a segment with the changes, and the changed lists. It merges older segments
// into the new segment, the newest first. It stops before a segment that is at least twice as large as everything
// merged so far. Therefore two numbers grow only logarithmically: the number of segments, and how often a document is
// rewritten.
func (c *Catalog) publish(view *View, u Update) (*View, error) {
	p := view.payload
	p.Segments = append([]segmentInfo(nil), p.Segments...)
	changes, err := entriesOf(u)
	if err != nil {
		return nil, err
	}
	before, err := c.begin(view)
	if err != nil {
		return nil, err
	}
	generation := following(before)
	if err := p.count(view, changes); err != nil {
		return nil, err
	}
	if len(changes) > 0 || u.Whole {
		keep := len(view.segments)
		for size := len(changes); keep > 0 && (u.Whole || view.segments[keep-1].n < 2*size); keep-- {
			size += view.segments[keep-1].n
		}
		name := fmt.Sprintf("%s%012x", prefix, generation)
		n, err := writeSegment(c.fs, filepath.Join(c.dir, name), view.segments[keep:], changes, keep > 0,
			u.Whole)
		if err != nil {
			return nil, err
		}
		p.Segments = p.Segments[:keep]
		if n > 0 {
			p.Segments = append(p.Segments, segmentInfo{name, n})
		}
	}
	if u.Skipped != nil {
		if p.Skipped, err = c.writeList(kindSkipped, generation, len(*u.Skipped), *u.Skipped); err != nil {
			return nil, err
		}
		p.Skips = len(*u.Skipped)
	}
	if u.Pending != nil {
		old, err := view.pending()
		if err != nil || !maps.Equal(old, *u.Pending) {
			if p.Pending, err = c.writeList(kindPending, generation, len(*u.Pending), *u.Pending); err != nil {
				return nil, err
			}
		}
	}
	if u.Settings != nil {
		old, next := p.Settings, *u.Settings
		p.Settings = next
		old.Extra, next.Extra = nil, nil // the copy has no Extra
		same := reflect.DeepEqual(old, next) && p.Copy != ""
		if !same || view.readList(kindSettings, p.Copy, new(Settings)) != nil { // also if the copy is unreadable
			if p.Copy, err = c.writeList(kindSettings, generation, 1, next); err != nil {
				return nil, err
			}
		}
	}
	return c.commit(view, p, generation)
}

// following returns the number of the next generation. The first generation gets the current time in milliseconds as
// its number. So a reader of an earlier, removed catalog in this folder can tell the new catalog from the old one.
func following(generation uint64) uint64 {
	if generation == 0 {
		return uint64(time.Now().UnixMilli())
	}
	return generation + 1
}

// count updates the totals in p: it adds what changes add to view, and subtracts what they replace or delete.
func (p *payload) count(view *View, changes []Encoded) error {
	for i := range changes {
		e := &changes[i]
		s, st, err := view.find(sheaf.ID(e.id))
		if err != nil {
			return err
		}
		if s != nil {
			p.Docs--
			p.Chunks -= st.chunks
			p.Bytes -= st.file.Size
		}
		if !e.tombstone() {
			p.Docs++
			p.Chunks += e.chunks
			p.Bytes += e.file.Size
		}
	}
	return nil
}

// commit publishes the manifest with p, and opens the view of the new generation.
func (c *Catalog) commit(view *View, p payload, generation uint64) (*View, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	m := manifest.Manifest{Generation: generation, Files: p.files(), Payload: data}
	open := map[string]*segment{}
	for _, s := range view.segments {
		open[s.name] = s
	}
	var segments []*segment
	for _, info := range p.Segments {
		s := open[info.Name]
		if s != nil {
			s.refs.Add(1)
		} else if s, err = openSegment(c.fs, filepath.Join(c.dir, info.Name)); err != nil {
			break
		}
		segments = append(segments, s)
	}
	if err == nil {
		err = manifest.Publish(c.fs, c.dir, m)
	}
	if err != nil {
		for _, s := range segments {
			s.release()
		}
		return nil, err
	}
	return newView(c, m, p, segments), nil
}

// writeList writes a list of n elements as JSON into a file, and returns the file's name. For an empty list it writes
// no file and returns "".
func (c *Catalog) writeList(kind string, generation uint64, n int, list any) (string, error) {
	if n == 0 {
		return "", nil
	}
	data, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	if len(data) > maxUnpacked {
		return "", sheaf.Invalidf("%s: the list of %d entries has %d bytes: at most %d are allowed", kind, n, len(data),
			maxUnpacked)
	}
	name := fmt.Sprintf("%s-%012x", kind, generation)
	w, err := sectionfile.Create(c.fs, filepath.Join(c.dir, name), kind, format)
	if err != nil {
		return "", err
	}
	w.Section(sectionList, pack(recordPacker(), data))
	w.Section(sectionSize, binary.LittleEndian.AppendUint64(nil, uint64(len(data))))
	_, err = w.Close()
	return name, err
}

// openList opens the file of a list. If the file is missing, the error says whether a newer
// generation replaced it or the catalog is damaged.
func (v *View) openList(kind, name string) (*sectionfile.Reader, error) {
	r, err := sectionfile.Open(v.catalog.fs, filepath.Join(v.catalog.dir, name), kind, format)
	if errors.Is(err, fs.ErrNotExist) {
		if now, readErr := manifest.Generation(v.catalog.fs, v.catalog.dir); readErr == nil && now != v.manifest.Generation {
			return nil, fmt.Errorf("%s: %w: generation %d was replaced by %d", name, sheaf.ErrUnavailable,
				v.manifest.Generation, now)
		}
		return nil, fmt.Errorf("%s: %w: at byte 0: the file is missing, and the manifest names it", name, vfs.ErrCorrupt)
	}
	return r, err
}

// readList reads into list what writeList wrote. If name is "", it leaves list unchanged.
func (v *View) readList(kind, name string, list any) error {
	if name == "" {
		return nil
	}
	r, err := v.openList(kind, name)
	if err != nil {
		return translate(err)
	}
	defer r.Close()
	var packed, size []byte
	for _, section := range []struct {
		name string
		to   *[]byte
	}{{sectionList, &packed}, {sectionSize, &size}} {
		p, err := r.Paged(section.name)
		if err == nil {
			*section.to, err = p.All()
		}
		if err != nil {
			return translate(err)
		}
	}
	if len(size) != 8 {
		return translate(r.Corrupt(sectionSize, 0, "it has %d bytes, not 8", len(size)))
	}
	data, err := unpack(packed, binary.LittleEndian.Uint64(size))
	if err == nil {
		err = json.Unmarshal(data, list)
	}
	if err != nil {
		return translate(r.Corrupt(sectionList, 0, "%v", err))
	}
	return nil
}

// Skipped returns the files that were not indexed, in the order in which the update gave them.
func (v *View) Skipped() ([]Skip, error) {
	var list []Skip
	err := v.readList(kindSkipped, v.payload.Skipped, &list)
	return list, err
}
