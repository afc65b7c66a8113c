package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sheaf/index/vfs/manifest"
)

// stateVersion is the version of the state's format in the manifest.
const stateVersion = 1

// state is the content of the manifest: the settings of the index, its segments, and their deleted chunks.
type state struct {
	generation uint64
	analyzer   string
	vectors    []VectorModel
	next       uint64 // number of the next segment file
	segments   []entry
}

type entry struct {
	name    string
	deleted []byte // runs of ordinals
}

func (s *state) files() []string {
	names := make([]string, len(s.segments))
	for i, e := range s.segments {
		names[i] = e.name
	}
	return names
}

// encode returns the state as the payload of a manifest. Numbers are uvarints, and the length of a string comes before
// the string. The parts are:
//   - the version of the format
//   - the analyzer
//   - the number of the next segment file
//   - the number of vector fields; for each field its name, model and dims
//   - for each segment the runs of its deleted chunks; the manifest itself names the segments
func (s *state) encode() []byte {
	b := binary.AppendUvarint(nil, stateVersion)
	b = appendText(b, s.analyzer)
	b = binary.AppendUvarint(b, s.next)
	b = binary.AppendUvarint(b, uint64(len(s.vectors)))
	for _, v := range s.vectors {
		b = appendText(b, v.Field)
		b = appendText(b, v.Model)
		b = binary.AppendUvarint(b, uint64(v.Dims))
	}
	for _, e := range s.segments {
		b = appendText(b, string(e.deleted))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func decodeState(m manifest.Manifest) (state, error) {
	s := state{generation: m.Generation}
	d := payload{b: m.Payload}
	if v := d.number(); !d.bad && v != stateVersion {
		return s, fmt.Errorf("%s: %w %d, this program reads %d", manifestName, ErrVersion, v, stateVersion)
	}
	s.analyzer = string(d.text())
	s.next = d.number()
	for n := d.number(); n > 0 && !d.bad; n-- {
		v := VectorModel{Field: string(d.text()), Model: string(d.text())}
		v.Dims = int(d.number() & (1<<31 - 1))
		s.vectors = append(s.vectors, v)
	}
	for _, name := range m.Files {
		s.segments = append(s.segments, entry{name: name, deleted: slices.Clone(d.text())})
	}
	if d.bad || len(d.b) > 0 {
		return s, corruptf("%s: payload at byte %d of %d", manifestName, len(m.Payload)-len(d.b), len(m.Payload))
	}
	return s, nil
}

// payload reads numbers and texts from the encoded state. After the first fault, bad is true, and all later reads
// return 0 or nil.
type payload struct {
	b   []byte
	bad bool
}

func (p *payload) number() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *payload) text() []byte {
	n := p.number()
	if n > uint64(len(p.b)) {
		p.bad, p.b = true, nil
		return nil
	}
	t := p.b[:n]
	p.b = p.b[n:]
	return t
}
