package engine

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"sheaf/analysis"
	"sheaf/engine/segment"
)

// worker turns chunks into a segment under construction. What a raw word stands
// for is looked up by its bytes, so each distinct one is analyzed once.
type worker struct {
	mu       sync.Mutex
	builder  *segment.Builder
	analyzer *analysis.Analyzer
	words    wordCache
	used     atomic.Int64 // bytes, as others may know them
	terms    []analysis.Term
	key      []byte
	// columns are the numbers of the values of columns whose memory several
	// chunks of one call share, as those of a document do.
	columns map[sharedColumn][]uint32
}

// sharedColumn is a column by the memory of its values.
type sharedColumn struct {
	name  string
	first *segment.Value
	count int
}

// token is a term of a raw word.
type token struct {
	term   uint32 // tokenForm marks a form
	offset uint32
}

const tokenForm = 1 << 31

// reset makes the worker ready for the next segment. What it learned of words
// serves the next one too, as long as it takes no more than limit bytes: a large
// collection names things without end.
func (w *worker) reset(limit int64) {
	clear(w.columns)
	if w.builder.TermBytes()+w.words.bytes() > limit {
		w.builder.Forget()
		w.words = wordCache{}
		return
	}
	w.builder.Reset()
}

func (w *worker) bytes() int64 { return w.builder.Bytes() + w.words.bytes() }

func (w *worker) add(c *Chunk, fields []string) error {
	if _, err := w.builder.Begin(c.ID, c.Doc); err != nil {
		return err
	}
	for _, f := range c.Fields {
		w.text(slices.Index(fields, f.Name), f.Text)
	}
	for i := range c.Columns {
		for _, n := range w.column(&c.Columns[i]) {
			w.builder.Mark(n)
		}
	}
	for _, v := range c.Vectors {
		if err := w.builder.Vectors(v.Name, v.Passages); err != nil {
			return err
		}
	}
	return nil
}

// column is the numbers of the values of a column.
func (w *worker) column(c *Column) []uint32 {
	if len(c.Values) == 0 {
		return nil
	}
	key := sharedColumn{c.Name, &c.Values[0], len(c.Values)}
	numbers, ok := w.columns[key]
	if !ok {
		numbers = make([]uint32, len(c.Values))
		for i, v := range c.Values {
			numbers[i] = w.builder.Column(c.Name, v)
		}
		w.columns[key] = numbers
	}
	return numbers
}

func (w *worker) text(field int, text string) {
	position := uint32(0)
	w.analyzer.Words(text, func(start, end int) bool {
		raw := text[start:end]
		if e := w.words.find(raw); e != nil {
			position = w.occur(field, w.words.tokens[e.first:][:e.count], position, uint32(e.positions))
			return true
		}
		tokens, positions := w.learn(raw)
		position = w.occur(field, tokens, position, positions)
		return true
	})
}

// occur adds the tokens of a word at a position; it returns that of the next word.
func (w *worker) occur(field int, tokens []token, position, positions uint32) uint32 {
	for _, t := range tokens {
		if t.term&tokenForm != 0 {
			w.builder.Form(field, t.term&^tokenForm)
		} else {
			w.builder.Token(field, t.term, position+t.offset)
		}
	}
	return position + positions
}

// learn analyzes a raw word that is not known.
func (w *worker) learn(raw string) (tokens []token, positions uint32) {
	w.terms = w.analyzer.Terms(w.terms[:0], raw)
	first := len(w.words.tokens)
	for _, t := range w.terms {
		w.key = w.key[:0]
		flag := uint32(0)
		if t.Form {
			flag = tokenForm
			w.key = append(w.key, segment.FormMark)
		}
		w.key = append(w.key, t.Text...)
		w.words.tokens = append(w.words.tokens, token{term: w.builder.Term(w.key) | flag, offset: uint32(t.Offset)})
	}
	// Positions never fall within a word: tokens of one offset stay in order.
	tokens = w.words.tokens[first:]
	slices.SortStableFunc(tokens, func(a, b token) int { return int(a.offset) - int(b.offset) })
	positions = uint32(w.analyzer.Positions(w.terms))
	if !w.words.insert(raw, first, positions) {
		w.words.tokens = w.words.tokens[:first]
	}
	return tokens, positions
}

// wordCache maps raw words to tokens: a hash table with open addressing, whose
// keys lie one after another in one string of bytes. Words of unusual length or
// with very many tokens are not kept.
type wordCache struct {
	slots  []wordEntry
	count  int
	keys   []byte
	tokens []token
}

type wordEntry struct {
	hash      uint32
	key       uint32 // where its bytes begin in keys
	first     uint32 // of its tokens
	size      uint8  // of its bytes; an entry without any is free
	count     uint8
	positions uint16
}

func (c *wordCache) bytes() int64 {
	return int64(len(c.slots))*16 + int64(cap(c.keys)) + int64(cap(c.tokens))*8
}

func hashWord(s string) uint32 {
	h := uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	if len(s) > 0 {
		w := uint64(0)
		for i := range len(s) {
			w |= uint64(s[i]) << (8 * i)
		}
		h = (h ^ w) * 0x9e3779b97f4a7c15
	}
	return uint32(h >> 32)
}

func (c *wordCache) find(raw string) *wordEntry {
	if len(c.slots) == 0 {
		return nil
	}
	hash, mask := hashWord(raw), uint32(len(c.slots)-1)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := &c.slots[i]
		if e.size == 0 {
			return nil
		}
		if e.hash == hash && string(c.keys[e.key:][:e.size]) == raw {
			return e
		}
	}
}

// insert keeps a word whose tokens are those from first on; false when it is one
// that is not kept.
func (c *wordCache) insert(raw string, first int, positions uint32) bool {
	count := len(c.tokens) - first
	if len(raw) == 0 || len(raw) > math.MaxUint8 || count > math.MaxUint8 || positions > math.MaxUint16 || uint64(len(c.keys)+len(raw)) > math.MaxUint32 {
		return false
	}
	if c.count*4 >= len(c.slots)*3 {
		c.grow()
	}
	e := wordEntry{hash: hashWord(raw), key: uint32(len(c.keys)), first: uint32(first), size: uint8(len(raw)), count: uint8(count), positions: uint16(positions)}
	c.keys = append(c.keys, raw...)
	c.count++
	c.place(e)
	return true
}

func (c *wordCache) place(e wordEntry) {
	mask := uint32(len(c.slots) - 1)
	i := e.hash & mask
	for c.slots[i].size != 0 {
		i = (i + 1) & mask
	}
	c.slots[i] = e
}

func (c *wordCache) grow() {
	old := c.slots
	c.slots = make([]wordEntry, max(1024, 2*len(old)))
	for _, e := range old {
		if e.size != 0 {
			c.place(e)
		}
	}
}
