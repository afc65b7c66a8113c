package catalog

import "iter"

// walk visits the IDs of all segments in order, each once. If several segments have an ID, the current entry comes
// from the newest segment. This entry may be a tombstone. Errors wrap vfs.ErrCorrupt.
type walk struct {
	segments []*segment // oldest first
	cursors  []idCursor
	ok       bool // the walk has not ended
	newest   int  // number of the newest segment with the current ID
}

// newWalk returns a walk that begins at the ID start, or at the first ID after it.
func newWalk(segments []*segment, start string) (*walk, error) {
	w := &walk{segments: segments, cursors: make([]idCursor, len(segments))}
	for k, s := range segments {
		w.cursors[k].list = &s.ids
	}
	return w, w.seek(start)
}

// existing yields the documents from the ID start on, with their states, in order of ID. An ID is valid until the next
// step. If the catalog is damaged, the sequence ends early, and Err returns the fault.
func (v *View) existing(start string) iter.Seq2[string, *state] {
	return func(yield func(string, *state) bool) {
		w, err := newWalk(v.segments, start)
		for ; err == nil && w.ok; err = w.next() {
			var st state
			if st, err = w.segment().state(w.number()); err != nil {
				break
			}
			if !st.tombstone() && !yield(view(w.bytes()), &st) {
				return
			}
		}
		v.note(translate(err))
	}
}

// seek moves to the ID start, or to the first ID after it.
func (w *walk) seek(start string) error {
	for k := range w.cursors {
		c := &w.cursors[k]
		i, _, err := c.list.lowerBound(start)
		if err == nil {
			err = c.seek(i)
		}
		if err != nil {
			return err
		}
	}
	w.choose()
	return nil
}

func (w *walk) next() error {
	last := &w.cursors[w.newest]
	for k := range w.cursors {
		c := &w.cursors[k]
		if k == w.newest || c.at == c.list.n || view(c.key) != view(last.key) {
			continue
		}
		if err := c.next(); err != nil {
			return err
		}
	}
	if err := last.next(); err != nil {
		return err
	}
	w.choose()
	return nil
}

func (w *walk) choose() {
	w.ok = false
	for k := len(w.cursors) - 1; k >= 0; k-- {
		c := &w.cursors[k]
		if c.at < c.list.n && (!w.ok || view(c.key) < view(w.cursors[w.newest].key)) {
			w.ok, w.newest = true, k
		}
	}
}

// bytes returns the current ID, which is valid until the next step. The method key returns a copy.
func (w *walk) bytes() []byte { return w.cursors[w.newest].key }

func (w *walk) key() string { return string(w.bytes()) }

func (w *walk) segment() *segment { return w.segments[w.newest] }

// number returns the number of the current entry in its segment.
func (w *walk) number() int { return w.cursors[w.newest].at }
