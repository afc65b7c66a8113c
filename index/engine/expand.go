package engine

import (
	"bytes"

	"sheaf"
	"sheaf/index/engine/segment"
	"sheaf/text/analysis"
)

// planExpand finds chunks that have a term which a prefix or fuzzy query accepts. In each field, the score of a chunk
// is the best score of these terms.
type planExpand struct {
	plan   *plan
	fields []int
	factor float64
	accept acceptor
	forms  bool // also search forms; see segment.FormMark
	terms  map[string]*expandedTerm
	views  []expansion
}

// expandedTerm is a term that a prefix or fuzzy query accepts, with its weight.
type expandedTerm struct {
	weight float64 // 1, or less for an edit distance
	df     []int   // by index in fields
	idf    []float64
}

// acceptor decides which terms a prefix or fuzzy query accepts. Its caller passes the terms in order.
type acceptor interface {
	// accept returns the weight of a term, or 0 to reject it. If skip is not nil, no term before skip is accepted. If
	// done is true, no later term is accepted.
	accept(term []byte) (weight float64, skip []byte, done bool)
	// start returns the first term that the query may accept.
	start() []byte
}

func (p *plan) resolvePrefix(q sheaf.Prefix, factor float64) (part, error) {
	return p.resolvePieces(p.analyzer.PrefixPieces(q.Text), q.Field, factor, func(folded string) acceptor {
		return prefixAcceptor(folded)
	})
}

// resolvePieces returns the part for a prefix or fuzzy query. A chunk must match all pieces of the query. The function
// accept makes the acceptor for the text of a piece. An exact piece is a phrase and needs no acceptor.
func (p *plan) resolvePieces(pieces []analysis.Piece, field string, factor float64,
	accept func(folded string) acceptor) (part, error) {
	all := &planBool{}
	for _, piece := range pieces {
		var one part
		var err error
		if piece.Exact {
			one, err = p.resolvePhrase(sheaf.Phrase{Text: piece.Text, Field: field}, factor)
		} else {
			one, err = p.expand(accept(piece.Text), p.inFields(field), factor, true)
		}
		if err != nil {
			return nil, err
		}
		all.must = append(all.must, one)
	}
	switch len(all.must) {
	case 0:
		return planNothing{}, nil
	case 1:
		return all.must[0], nil
	}
	return all, nil
}

func (p *plan) expandPrefix(prefix string, fields []int, factor float64, forms bool) (part, error) {
	if prefix == "" {
		return planNothing{}, nil
	}
	return p.expand(prefixAcceptor(prefix), fields, factor, forms)
}

func (p *plan) expand(a acceptor, fields []int, factor float64, forms bool) (part, error) {
	e := &planExpand{plan: p, fields: fields, factor: factor, accept: a, forms: forms,
		terms: map[string]*expandedTerm{},
		views: make([]expansion, len(p.snapshot.views))}
	for i := range p.snapshot.views {
		err := e.walk(i, func(key []byte, weight float64, t *segment.Term) error {
			x := e.terms[string(key)]
			if x == nil {
				x = &expandedTerm{weight: weight, df: make([]int, len(fields))}
				e.terms[string(key)] = x
			}
			return p.addDF(x.df, i, t, fields)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, x := range e.terms {
		x.idf = p.idfs(x.df, fields)
	}
	return e, nil
}

// walk calls f for every accepted term of a view.
func (e *planExpand) walk(view int, f func(key []byte, weight float64, t *segment.Term) error) error {
	reader := e.plan.snapshot.views[view].reader
	if err := e.walkPart(reader, nil, f); err != nil || !e.forms {
		return err
	}
	return e.walkPart(reader, []byte{segment.FormMark}, f)
}

// walkPart calls f for each key of the dictionary that consists of mark and an accepted term. mark is empty to find
// terms, and segment.FormMark to find forms.
func (e *planExpand) walkPart(reader *segment.Reader, mark []byte,
	f func(key []byte, weight float64, t *segment.Term) error) error {
	walk := reader.Terms()
	key := append(bytes.Clone(mark), e.accept.start()...)
	if len(mark) == 0 && len(key) == 0 {
		key = []byte{segment.FormMark + 1}
	}
	for ok := walk.Seek(key); ok; {
		if !bytes.HasPrefix(walk.Key(), mark) {
			break
		}
		weight, skip, done := e.accept.accept(walk.Key()[len(mark):])
		if done {
			break
		}
		if weight > 0 {
			if err := f(walk.Key(), weight, walk.Term()); err != nil {
				return err
			}
		}
		if skip != nil {
			ok = walk.Seek(append(append(key[:0], mark...), skip...))
		} else {
			ok = walk.Next()
		}
	}
	return walk.Err()
}

func (e *planExpand) flat() ([]*planTerm, bool) { return nil, len(e.terms) == 0 }

// node returns a node that finds the chunks of a view with an accepted term. The first call for a view scores all these
// chunks.
func (e *planExpand) node(_ *plan, view int) (node, error) {
	x, err := e.inView(view)
	return &expandNode{expansion: x}, err
}

// prefixAcceptor is a prefix. It accepts the terms that begin with this prefix.
type prefixAcceptor string

func (a prefixAcceptor) start() []byte { return []byte(a) }

func (a prefixAcceptor) accept(term []byte) (weight float64, skip []byte, done bool) {
	if len(term) >= len(a) && string(term[:len(a)]) == string(a) {
		return 1, nil, false
	}
	return 0, nil, true
}
