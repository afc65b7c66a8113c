package collection

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sheaf"
	"sheaf/search"
)

// packed is hits as they are remembered: in one piece of memory that holds no pointer,
// however many the hits are. What is collected as garbage is found by looking at all that
// is not, pointer by pointer, and remembered answers would be most of it.
type packed struct {
	n int
	// data is the place of each hit in fields, four bytes each, then the fields of one hit
	// after another, then, from text on, their texts: what several texts of one hit say
	// stands there once.
	data         string
	fields, text int
	// explanations are those of the hits, nil when none has any.
	explanations []*sheaf.Explanation
}

// packer is memory to pack hits in. own are the texts of one hit that were written,
// each with its place.
type packer struct {
	places, fields, text []byte
	own                  []writtenText
}

// maxOwn is among how many texts of a hit another is looked for: a note may have
// thousands of tags.
const maxOwn = 32

type writtenText struct {
	text string
	at   int
}

var packers = sync.Pool{New: func() any { return new(packer) }}

// pack copies hits, but for what their confidence was made of.
func pack(hits []search.Hit) packed {
	w := packers.Get().(*packer)
	defer packers.Put(w)
	w.places, w.fields, w.text = w.places[:0], w.fields[:0], w.text[:0]
	p := packed{n: len(hits)}
	for i := range hits {
		w.places = binary.LittleEndian.AppendUint32(w.places, uint32(len(w.fields)))
		w.hit(&hits[i])
		if e := hits[i].Explanation; e != nil {
			if p.explanations == nil {
				p.explanations = make([]*sheaf.Explanation, len(hits))
			}
			p.explanations[i] = e
		}
	}
	p.fields = len(w.places)
	p.text = p.fields + len(w.fields)
	w.places = append(append(w.places, w.fields...), w.text...)
	p.data = string(w.places)
	clear(w.own[:cap(w.own)]) // which are of the hits
	return p
}

// hit writes one. The longest texts come first: the others are mostly parts of them, and
// identifiers are mostly made of others.
func (w *packer) hit(h *search.Hit) {
	w.own = w.own[:0]
	if slugged(h) {
		w.int(1)
	} else {
		w.int(0)
		w.str(string(h.ID))
	}
	w.str(string(h.Doc))
	w.str(h.Path)
	w.str(h.Breadcrumb)
	w.str(h.Title)
	w.strs(h.Hierarchy)
	w.strs(h.Tags)
	w.level(h.Level)
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

// slugBytes are what the bytes of a title are in most identifiers of chunks, 0 for nothing.
var slugBytes = func() (of [256]byte) {
	for c := range of {
		switch {
		case c >= 'A' && c <= 'Z':
			of[c] = byte(c) + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c >= utf8.RuneSelf:
			of[c] = byte(c)
		case c == ' ':
			of[c] = '-'
		}
	}
	return of
}()

// slugged reports whether the identifier of a hit is what slugID makes of its document and
// title.
func slugged(h *search.Hit) bool {
	end, ok := strings.CutPrefix(string(h.ID), string(h.Doc))
	if !ok || end == "" || end[0] != '#' {
		return false
	}
	end = end[1:]
	n := 0
	for i := range len(h.Title) {
		c := slugBytes[h.Title[i]]
		if c == 0 {
			continue
		}
		if n == len(end) || end[n] != c {
			return false
		}
		n++
	}
	return n == len(end)
}

// slugID is the identifier of a document with a title behind it, as most chunks have it.
func slugID(doc sheaf.ID, title string) sheaf.ID {
	var b strings.Builder
	b.Grow(len(doc) + 1 + len(title))
	b.WriteString(string(doc))
	b.WriteByte('#')
	for i := range len(title) {
		if c := slugBytes[title[i]]; c != 0 {
			b.WriteByte(c)
		}
	}
	return sheaf.ID(b.String())
}

// levels are those that are written as their places.
var levels = [...]search.Level{search.High, search.Medium, search.Low, search.None, ""}

func (w *packer) level(l search.Level) {
	i := slices.Index(levels[:], l)
	if w.int(i); i < 0 {
		w.str(string(l))
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
	if len(w.own) < maxOwn {
		w.own = append(w.own, writtenText{s, at})
	}
	return at
}

// into makes h hit i, which has memory of its own but for its texts, and for its legs: those
// lie where h had some before.
func (p *packed) into(h *search.Hit, i int) {
	legs := h.Legs
	places := unpacker{fields: p.data[4*i:]}
	r := unpacker{p.data[p.text:], p.data[p.fields+int(places.fixed(4)):]}
	slugged, id := r.int() == 1, ""
	if !slugged {
		id = r.str()
	}
	*h = search.Hit{ID: sheaf.ID(id), Doc: sheaf.ID(r.str()), Path: r.str(), Breadcrumb: r.str(), Title: r.str(), Hierarchy: r.strs(), Tags: r.strs(),
		Level: r.level(), Rank: r.int(), Span: r.span(), Body: r.span(), Depth: r.int(), Score: r.float()}
	if slugged {
		h.ID = slugID(h.Doc, h.Title)
	}
	if r.int() == 1 {
		confidence := r.float()
		h.Confidence = &confidence
	}
	if n := r.int(); n >= 0 {
		if legs == nil || cap(legs) < n {
			legs = make([]sheaf.Leg, n)
		}
		h.Legs = legs[:n]
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
}

// bytes is what packed hits take.
func (p *packed) bytes() int64 {
	n := int64(len(p.data) + 8*len(p.explanations))
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
	return math.Float64frombits(r.fixed(8))
}

// fixed is a number of n bytes.
func (r *unpacker) fixed(n int) uint64 {
	bits := uint64(0)
	for i := range n {
		bits |= uint64(r.fields[i]) << (8 * i)
	}
	r.fields = r.fields[n:]
	return bits
}

func (r *unpacker) str() string {
	at, n := r.uint(), r.uint()
	return r.text[at : at+n]
}

func (r *unpacker) level() search.Level {
	if i := r.int(); i >= 0 {
		return levels[i]
	}
	return search.Level(r.str())
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

// snippets are the snippets of a ranking's hits that were shown, packed as the hits are,
// but one after another. They are safe for concurrent use.
type snippets struct {
	mu sync.Mutex
	// data is the place in it of the snippet of each hit, four bytes each, 0 for none,
	// then the snippets; empty before there is one.
	data string
}

// shownSnippet is the snippet of hit i, the line of its first match, the matches, which are
// not nil, and the block.
type shownSnippet struct {
	i       int
	text    string
	line    int
	matches []Span
	block   sheaf.ID
}

// of is the snippet of hit i; false when it was not shown.
func (s *snippets) of(i int) (shownSnippet, bool) {
	s.mu.Lock()
	data := s.data
	s.mu.Unlock()
	if data == "" {
		return shownSnippet{}, false
	}
	places := unpacker{fields: data[4*i:]}
	at := places.fixed(4)
	if at == 0 {
		return shownSnippet{}, false
	}
	r := unpacker{fields: data[at:]}
	shown := shownSnippet{i: i, line: r.int(), matches: make([]Span, r.int())}
	for i := range shown.matches {
		shown.matches[i] = spanOf(r.span())
	}
	n, block := r.int(), r.int()
	shown.text, shown.block = r.fields[:n], sheaf.ID(r.fields[n:n+block])
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
	before := len(s.data)
	w.fields = append(w.fields[:0], s.data...)
	if before == 0 {
		w.fields = slices.Grow(w.fields, 4*n)[:4*n]
		clear(w.fields)
	}
	for _, h := range shown {
		if binary.LittleEndian.Uint32(w.fields[4*h.i:]) != 0 { // of the same text
			continue
		}
		binary.LittleEndian.PutUint32(w.fields[4*h.i:], uint32(len(w.fields)))
		w.int(h.line)
		w.int(len(h.matches))
		for _, m := range h.matches {
			w.span(sheaf.Span(m))
		}
		w.int(len(h.text))
		w.int(len(h.block))
		w.fields = append(append(w.fields, h.text...), h.block...)
	}
	s.data = string(w.fields)
	return int64(len(s.data) - before)
}
