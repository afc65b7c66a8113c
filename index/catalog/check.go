package catalog

import (
	"bytes"

	"sheaf"
	"sheaf/index/vfs/sectionfile"
)

// Check reads everything and returns one error for each fault, each wrapping sheaf.ErrCorrupt. If
// only the tables are wrong, the errors also wrap ErrMisfiled.
func (v *View) Check() []error {
	var faults []error
	for _, s := range v.segments {
		found := s.r.Check()
		if len(found) == 0 { // otherwise every record on a damaged page would be a separate fault
			found = s.check()
		}
		for _, err := range found {
			faults = append(faults, translate(err))
		}
	}
	p := &v.payload
	faults = append(faults, v.checkList(kindSkipped, p.Skipped, new([]Skip))...)
	faults = append(faults, v.checkList(kindPending, p.Pending, new(map[sheaf.ID]string))...)
	return append(faults, v.checkList(kindSettings, p.Copy, new(Settings))...)
}

// checkList reads a list that has its own file, such as the skipped files, into list. It verifies the checksum, and
// returns the faults.
func (v *View) checkList(kind, name string, list any) []error {
	if name == "" {
		return nil
	}
	if err := v.readList(kind, name, list); err != nil {
		return []error{err}
	}
	r, err := v.openList(kind, name)
	if err != nil {
		return []error{translate(err)}
	}
	defer r.Close()
	faults := r.Check()
	for i, err := range faults {
		faults[i] = translate(err)
	}
	return faults
}

// check decodes every record, compares the stored tables with new tables, and returns the faults.
func (s *segment) check() []error {
	var faults []error
	t := tables{labels: labelSet{}}
	c := idCursor{list: &s.ids}
	err := c.seek(0)
	last := ""
	for ; err == nil && c.at < s.n; err = c.next() {
		id := string(c.key)
		if c.at > 0 && id <= last {
			faults = append(faults, s.ids.data.Corrupt(0, "%q comes after %q", id, last))
		}
		last = id
		st, err := s.state(c.at)
		if err == nil && !st.tombstone() {
			err = s.checkDocument(id, c.at, &st, &t)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	if err != nil {
		return append(faults, err)
	}
	if len(faults) > 0 {
		return faults // the tables would differ
	}
	for _, table := range []struct {
		section *sectionfile.Paged
		want    []byte
	}{{s.names.data, encodeKeys(t.names)}, {s.targets.data, encodeKeys(t.targets)}, {s.labels, t.labels.encode()}} {
		if got, err := table.section.All(); err != nil || !bytes.Equal(got, table.want) {
			fault := table.section.Corrupt(0, "it does not fit the records")
			if err == nil {
				fault = sheaf.WithCategory(ErrMisfiled, fault)
			}
			faults = append(faults, fault)
		}
	}
	return faults
}

func (s *segment) checkDocument(id string, i int, st *state, t *tables) error {
	r, err := s.record(sheaf.ID(id), st)
	if err != nil {
		return err
	}
	if len(r.Document.Chunks) != st.chunks {
		return s.states.Corrupt(i*stateBytes, "%s has %d chunks, not %d", id, len(r.Document.Chunks), st.chunks)
	}
	if st.aliases != (len(r.Document.Aliases) > 0) {
		return s.states.Corrupt(i*stateBytes, "%s has %d aliases", id, len(r.Document.Aliases))
	}
	if st.text > 0 {
		if _, err := s.readText(st); err != nil {
			return err
		}
	}
	f := filingOf(&r.Document)
	t.add(i, &f)
	return nil
}
