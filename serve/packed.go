package serve

import (
	"encoding/binary"
	"math"
	"strings"
	"sync"

	"sheaf"
	"sheaf/search"
)

// packed is hits as they are remembered: in three pieces of memory, none of which holds
// a pointer, however many the hits are. What is collected as garbage is found by looking
// at all that is not, pointer by pointer, and remembered answers would be most of it.
type packed struct {
	text   string   // of all hits; what several texts of one hit say stands in it once
	fields string   // of one hit after another
	at     []uint32 // where each begins in fields
	// explanations are those of the hits, nil when none has any.
	explanations []*sheaf.Explanation
}

// packer is memory to pack hits in. own are the texts of one hit that were written,
// each with its place.
type packer struct {
	text, fields []byte
	own          []writtenText
}

type writtenText struct {
	text string
	at   int
}

var packers = sync.Pool{New: func() any { return new(packer) }}

// pack copies hits, but for what their confidence was made of.
func pack(hits []search.Hit) *packed {
	w := packers.Get().(*packer)
	defer packers.Put(w)
	w.text, w.fields = w.text[:0], w.fields[:0]
	p := &packed{at: make([]uint32, len(hits))}
	for i := range hits {
		p.at[i] = uint32(len(w.fields))
		w.hit(&hits[i])
		if e := hits[i].Explanation; e != nil {
			if p.explanations == nil {
				p.explanations = make([]*sheaf.Explanation, len(hits))
			}
			p.explanations[i] = e
		}
	}
	p.text, p.fields = string(w.text), string(w.fields)
	clear(w.own[:cap(w.own)]) // which are of the hits
	return p
}

// hit writes one. The longest texts come first: the others are mostly parts of them.
func (w *packer) hit(h *search.Hit) {
	w.own = w.own[:0]
	w.str(h.Breadcrumb)
	w.str(string(h.ID))
	w.str(string(h.Doc))
	w.str(h.Path)
	w.str(h.Title)
	w.strs(h.Hierarchy)
	w.strs(h.Tags)
	w.str(string(h.Level))
	w.int(h.Rank)
	w.span(h.Span)
	w.span(h.Body)
	w.int(h.Depth)
	w.float(h.Score)
	if h.Confidence != nil {
		w.int(1)
		w.float(*h.Confidence)
	} else {
		w.int(0)
	}
	w.length(len(h.Legs), h.Legs == nil)
	for _, l := range h.Legs {
		w.int(l.Rank)
		w.float(l.Score)
	}
	passage := h.Passage << 1
	if h.ByMeaning {
		passage |= 1
	}
	w.int(passage)
	w.length(len(h.Constituents), h.Constituents == nil)
	for i := range h.Constituents {
		c := &h.Constituents[i]
		w.str(string(c.ID))
		w.str(c.Title)
		w.span(c.Span)
		w.float(c.Score)
	}
}

func (w *packer) int(n int) { w.fields = binary.AppendVarint(w.fields, int64(n)) }

func (w *packer) span(s sheaf.Span) {
	w.int(s.Start)
	w.int(s.Len())
}

// float writes a number, which is 0 where a branch did not find a hit, in one byte
// then.
func (w *packer) float(f float64) {
	if math.Float64bits(f) == 0 {
		w.fields = append(w.fields, 0)
		return
	}
	w.fields = binary.LittleEndian.AppendUint64(append(w.fields, 1), math.Float64bits(f))
}

// length writes that of a list, telling none from an empty one.
func (w *packer) length(n int, none bool) {
	if none {
		n = -1
	}
	w.int(n)
}

func (w *packer) strs(list []string) {
	w.length(len(list), list == nil)
	for _, s := range list {
		w.str(s)
	}
}

// str writes a text as a place and a length.
func (w *packer) str(s string) {
	w.fields = binary.AppendUvarint(w.fields, uint64(w.place(s)))
	w.fields = binary.AppendUvarint(w.fields, uint64(len(s)))
}

// place is where a text stands.
func (w *packer) place(s string) int {
	if s == "" {
		return 0
	}
	for i := range w.own {
		t := &w.own[i]
		if strings.HasSuffix(t.text, s) {
			return t.at + len(t.text) - len(s)
		}
		if j := strings.Index(t.text, s); j >= 0 {
			return t.at + j
		}
	}
	at := len(w.text)
	w.text = append(w.text, s...)
	w.own = append(w.own, writtenText{s, at})
	return at
}

// hit is hit i in memory of its own, but for its texts.
func (p *packed) hit(i int) *search.Hit {
	r := unpacker{p.text, p.fields[p.at[i]:]}
	h := &search.Hit{Breadcrumb: r.str(), ID: sheaf.ID(r.str()), Doc: sheaf.ID(r.str()), Path: r.str(), Title: r.str(), Hierarchy: r.strs(), Tags: r.strs(),
		Level: search.Level(r.str()), Rank: r.int(), Span: r.span(), Body: r.span(), Depth: r.int(), Score: r.float()}
	if r.int() == 1 {
		confidence := r.float()
		h.Confidence = &confidence
	}
	if n := r.int(); n >= 0 {
		h.Legs = make([]sheaf.Leg, n)
		for i := range h.Legs {
			h.Legs[i] = sheaf.Leg{Rank: r.int(), Score: r.float()}
		}
	}
	passage := r.int()
	h.Passage, h.ByMeaning = passage>>1, passage&1 == 1
	if n := r.int(); n >= 0 {
		h.Constituents = make([]search.Constituent, n)
		for i := range h.Constituents {
			h.Constituents[i] = search.Constituent{ID: sheaf.ID(r.str()), Title: r.str(), Span: r.span(), Score: r.float()}
		}
	}
	if p.explanations != nil {
		h.Explanation = p.explanations[i]
	}
	return h
}

// bytes is what packed hits take.
func (p *packed) bytes() int64 {
	n := int64(len(p.text) + len(p.fields) + 4*len(p.at) + 8*len(p.explanations))
	for _, e := range p.explanations {
		n += explanationBytes(e)
	}
	return n
}

// unpacker reads what a packer wrote.
type unpacker struct{ text, fields string }

func (r *unpacker) uint() uint64 {
	n, shift := uint64(0), 0
	for i := range len(r.fields) {
		c := r.fields[i]
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			r.fields = r.fields[i+1:]
			break
		}
		shift += 7
	}
	return n
}

func (r *unpacker) int() int {
	n := r.uint()
	return int(n>>1) ^ -int(n&1)
}

func (r *unpacker) span() sheaf.Span {
	start := r.int()
	return sheaf.Span{Start: start, End: start + r.int()}
}

func (r *unpacker) float() float64 {
	given := r.fields[0]
	r.fields = r.fields[1:]
	if given == 0 {
		return 0
	}
	bits := uint64(0)
	for i := range 8 {
		bits |= uint64(r.fields[i]) << (8 * i)
	}
	r.fields = r.fields[8:]
	return math.Float64frombits(bits)
}

func (r *unpacker) str() string {
	at, n := r.uint(), r.uint()
	return r.text[at : at+n]
}

func (r *unpacker) strs() []string {
	n := r.int()
	if n < 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.str()
	}
	return list
}

// snippets are the snippets of a ranking's hits that were shown, packed as the hits are.
// They are safe for concurrent use.
type snippets struct {
	mu           sync.Mutex
	text, fields string
	at           []uint32 // where that of a hit begins in fields, counted from 1; 0 for none
}

// shownSnippet is the snippet of hit i, the line of its first match, and the matches,
// which are not nil.
type shownSnippet struct {
	i       int
	text    string
	line    int
	matches []Span
}

// of is the snippet of hit i; false when it was not shown.
func (s *snippets) of(i int) (shownSnippet, bool) {
	s.mu.Lock()
	text, fields, at := s.text, s.fields, uint32(0)
	if s.at != nil {
		at = s.at[i]
	}
	s.mu.Unlock()
	if at == 0 {
		return shownSnippet{}, false
	}
	r := unpacker{text, fields[at-1:]}
	shown := shownSnippet{i: i, text: r.str(), line: r.int(), matches: make([]Span, r.int())}
	for i := range shown.matches {
		shown.matches[i] = spanOf(r.span())
	}
	return shown, true
}

// add keeps snippets of a ranking of n hits and tells what memory they take that others
// did not before.
func (s *snippets) add(n int, shown []shownSnippet) int64 {
	if len(shown) == 0 {
		return 0
	}
	w := packers.Get().(*packer)
	defer packers.Put(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.text) + len(s.fields) + 4*len(s.at)
	w.text, w.fields = append(w.text[:0], s.text...), append(w.fields[:0], s.fields...)
	if s.at == nil {
		s.at = make([]uint32, n)
	}
	for _, h := range shown {
		if s.at[h.i] != 0 { // of the same text
			continue
		}
		s.at[h.i] = uint32(len(w.fields)) + 1
		w.own = w.own[:0] // the text of a snippet is like no other
		w.str(h.text)
		w.int(h.line)
		w.int(len(h.matches))
		for _, m := range h.matches {
			w.span(sheaf.Span(m))
		}
	}
	clear(w.own[:cap(w.own)])
	s.text, s.fields = string(w.text), string(w.fields)
	return int64(len(s.text) + len(s.fields) + 4*len(s.at) - before)
}
