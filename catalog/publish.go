package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"sheaf"
	"sheaf/vfs/manifest"
	"sheaf/vfs/sectionfile"
)

// publish writes the generation that follows view: a segment with the changes,
// together with the newest segments that are not at least twice as large as what
// is written anyway, so that their number stays logarithmic and each document is
// rewritten a logarithmic number of times.
func (c *Catalog) publish(view *View, u Update) (*View, error) {
	p := view.payload
	p.Segments = append([]segmentInfo(nil), p.Segments...)
	generation := view.generation + 1
	changes, err := entriesOf(u)
	if err != nil {
		return nil, err
	}
	if err := p.count(view, changes); err != nil {
		return nil, err
	}
	if len(changes) > 0 {
		keep := len(view.segments)
		for size := len(changes); keep > 0 && view.segments[keep-1].n < 2*size; keep-- {
			size += view.segments[keep-1].n
		}
		entries, err := mergeInto(view.segments[keep:], changes, keep > 0)
		if err != nil {
			return nil, err
		}
		p.Segments = p.Segments[:keep]
		if len(entries) > 0 {
			name := fmt.Sprintf("%s%012x", prefix, generation)
			if err := writeSegment(c.fs, filepath.Join(c.dir, name), entries); err != nil {
				return nil, err
			}
			p.Segments = append(p.Segments, segmentInfo{name, len(entries)})
		}
	}
	if u.Skipped != nil {
		if p.Skipped, err = c.writeSkipped(generation, *u.Skipped); err != nil {
			return nil, err
		}
		p.Skips = len(*u.Skipped)
	}
	if u.Settings != nil {
		p.Settings = *u.Settings
	}
	if u.Pending != nil {
		p.Pending = *u.Pending
	}
	return c.commit(view, p, generation)
}

// count brings the totals up to date with the changes.
func (p *payload) count(view *View, changes []entry) error {
	for i := range changes {
		e := &changes[i]
		s, at, err := view.find(sheaf.ID(e.id))
		if err != nil {
			return err
		}
		if s != nil {
			p.Docs--
			p.Chunks -= s.chunks(at)
			p.Bytes -= s.file(at).Size
		}
		if !e.tombstone() {
			p.Docs++
			p.Chunks += e.chunks
			p.Bytes += e.file.Size
		}
	}
	return nil
}

// commit publishes the manifest and opens the view of it.
func (c *Catalog) commit(view *View, p payload, generation uint64) (*View, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	m := manifest.Manifest{Generation: generation, Payload: data}
	for _, info := range p.Segments {
		m.Files = append(m.Files, info.Name)
	}
	if p.Skipped != "" {
		m.Files = append(m.Files, p.Skipped)
	}
	open := map[string]*segment{}
	for _, s := range view.segments {
		open[s.name] = s
	}
	var segments []*segment
	for _, info := range p.Segments {
		s := open[info.Name]
		if s != nil {
			s.retain()
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
	next := newView(c, m, p, segments)
	next.generation = generation
	return next, nil
}

// writeSkipped writes the list of skipped files and returns its file's name, ""
// for none.
func (c *Catalog) writeSkipped(generation uint64, skipped []Skip) (string, error) {
	if len(skipped) == 0 {
		return "", nil
	}
	data, err := json.Marshal(skipped)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%sskipped-%012x", prefix, generation)
	w, err := sectionfile.Create(c.fs, filepath.Join(c.dir, name), kindSkipped, format)
	if err != nil {
		return "", err
	}
	w.Section("skipped", data)
	_, err = w.Close()
	return name, err
}

// Skipped lists the files that were not indexed, in the order given.
func (v *View) Skipped() ([]Skip, error) {
	if v.payload.Skipped == "" {
		return nil, nil
	}
	r, err := sectionfile.Open(v.catalog.fs, filepath.Join(v.catalog.dir, v.payload.Skipped), kindSkipped, format)
	if err != nil {
		return nil, translate(err)
	}
	defer r.Close()
	data, _ := r.Section("skipped")
	if err := r.Verify("skipped"); err != nil {
		return nil, translate(err)
	}
	var list []Skip
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, errors.Join(sheaf.ErrCorrupt, err)
	}
	return list, nil
}
