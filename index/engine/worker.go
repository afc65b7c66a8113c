package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"sheaf"
	"sheaf/index/engine/segment"
	"sheaf/text/analysis"
)

// worker turns chunks into a segment in memory. It looks up the tokens of each raw word in a cache, so that it
// analyzes each distinct word once.
type worker struct {
	mu       sync.Mutex
	ended    bool
	begins   bool // the next chunk is the first of a call
	builder  *segment.Builder
	analyzer *analysis.Analyzer
	words    wordCache
	used     atomic.Int64 // bytes, as other goroutines may read them
	terms    []analysis.Term
	found    []segment.Token // of one text
	late     []segment.Token // of one text: parts of names that share a position with later words
	key      []byte
	// columns caches the numbers of a column's values during one call. Several chunks of a call can share the memory
	// of a column, for example the chunks of a document.
	columns map[sharedColumn][]uint32
}

// sharedColumn is a key: it identifies a column by the memory of its values.
type sharedColumn struct {
	name  string
	first *sheaf.Value
	count int
}

// reset prepares the worker for the next segment. It keeps up to limit bytes of the word cache.
func (w *worker) reset(limit int64) {
	clear(w.columns)
	if w.builder.TermBytes()+w.words.bytes() > limit {
		w.forget()
		return
	}
	w.builder.Reset()
}

func (w *worker) forget() {
	w.builder.Forget()
	w.words.free()
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

// column returns the numbers that the builder gave to the values of a column.
func (w *worker) column(c *Column) []uint32 {
	if len(c.Values) == 0 {
		return nil
	}
	key := sharedColumn{c.Name, &c.Values[0], len(c.Values)}
	numbers, ok := w.columns[key]
	if !ok {
		for _, v := range c.Values {
			if !v.IsZero() {
				numbers = append(numbers, w.builder.Column(c.Name, valueOf(v)))
			}
		}
		w.columns[key] = numbers
	}
	return numbers
}

// textTokens is the approximate number of tokens that the worker passes to the builder in one call.
const textTokens = 1 << 12

func (w *worker) text(field int, text string) {
	position := uint32(0)
	found := w.found[:0]
	w.analyzer.Words(text, func(start, end int) bool {
		if len(found) > textTokens {
			w.builder.Tokens(field, found)
			found = found[:0]
		}
		raw, head := text[start:end], wordHead(text, start, end)
		known := w.words.find(raw, head)
		if known != nil && known.count == singleToken && len(w.late) == 0 {
			found = append(found, segment.Token{Term: known.first, Position: position})
			position += uint32(known.positions)
			return true
		}
		var tokens []segment.Token
		var positions uint32
		switch {
		case known == nil:
			tokens, positions = w.learn(raw, head)
		case known.count == singleToken:
			tokens, positions = []segment.Token{{Term: known.first}}, uint32(known.positions)
		default:
			tokens, positions = w.words.tokens.Items[known.first:][:known.count], uint32(known.positions)
		}
		if n := len(tokens); len(w.late) > 0 || n > 0 && tokens[n-1].Position >= positions {
			found = w.inOrder(found, tokens, position, position+positions)
		} else {
			found = appendTokens(found, tokens, position)
		}
		position += positions
		return true
	})
	w.found = append(found, w.late...)
	w.late = w.late[:0]
	w.builder.Tokens(field, w.found)
}

// inOrder appends the tokens of a word, and waiting tokens of earlier words, to found, by position. It appends only
// tokens before the position next, where the next word begins. Later tokens wait.
func (w *worker) inOrder(found, tokens []segment.Token, position, next uint32) []segment.Token {
	w.late = appendTokens(w.late, tokens, position)
	slices.SortStableFunc(w.late, func(a, b segment.Token) int { return int(a.Position) - int(b.Position) })
	n := 0
	for n < len(w.late) && w.late[n].Position < next {
		n++
	}
	found = append(found, w.late[:n]...)
	w.late = w.late[:copy(w.late, w.late[n:])]
	return found
}

// appendTokens appends to found the tokens of a word at a position.
func appendTokens(found, tokens []segment.Token, position uint32) []segment.Token {
	for _, t := range tokens {
		found = append(found, segment.Token{Term: t.Term, Position: position + t.Position})
	}
	return found
}

// learn analyzes and caches a raw word that the cache lacks. head is the result of wordHead for the word. The positions
// of the tokens are relative to the word's position. The result positions is how many positions the word takes.
func (w *worker) learn(raw string, head uint64) (tokens []segment.Token, positions uint32) {
	w.terms = w.analyzer.Terms(w.terms[:0], raw)
	first := len(w.words.tokens.Items)
	for _, t := range w.terms {
		if t.Text == "" {
			continue // a dictionary has no place for an empty term
		}
		w.key = w.key[:0]
		flag := uint32(0)
		if t.Form {
			flag = segment.FormToken
			w.key = append(w.key, segment.FormMark)
		}
		w.key = append(w.key, t.Text...)
		w.words.tokens.Add(segment.Token{Term: w.builder.Term(w.key) | flag, Position: uint32(t.Offset)})
	}
	// Positions never fall within a word: tokens of one offset stay in order.
	tokens = w.words.tokens.Items[first:]
	slices.SortStableFunc(tokens, func(a, b segment.Token) int { return int(a.Position) - int(b.Position) })
	positions = uint32(w.analyzer.Positions(w.terms))
	if !w.words.insert(raw, head, first, positions) {
		w.words.tokens.Items = w.words.tokens.Items[:first]
	}
	return tokens, positions
}
