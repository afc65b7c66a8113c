// Package rank orders hits. It has the stages of a ranking as pure functions, one file per family. Families are fusion,
// replacing chunks by documents or sections, boosts, cutoffs, normalization, diversity, neighbors, budgets and pins.
//
// A [Stage] is a value with its parameters. Apply takes a ranking and returns another ranking. It never changes its
// input, so a search can store and show every step. A stage reads documents through [Facts]. The package does no input
// or output, reads no clock and does not depend on the order of a map. Equal input gives exactly equal output.
//
// If a hit has an explanation, a stage replaces it by a new explanation. The new explanation says how the score
// changed, and has the old explanation as a part. A hit without an explanation gets none.
//
// Reranking needs a model, so it is in package search.
package rank

import (
	"time"

	"sheaf"
)

// Stage is a step that turns one ranking into another. Stages are values, safe for concurrent use.
type Stage interface {
	// Apply returns another ranking. The input ranking must be sorted, best first. Both rankings may share memory, so
	// callers must change neither afterwards. Each parameter of a stage must be in the range in its field's comment;
	// package profile checks this. Apply returns sheaf.ErrInvalid if parameters do not fit together, or if a score is not
	// finite.
	Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error)
}

// Env has what a stage may know about the query and the documents, besides the ranking.
type Env struct {
	// Facts describes the documents. It may be nil if no stage needs documents.
	Facts Facts
	// Query is the text of the query without operators of the query language.
	Query string
	// Typed is the query as the user typed it, perhaps with operators. "" means the same text as Query.
	Typed string
	// Now is the time of the query. Stages compute ages from it.
	Now time.Time
	// Similarity returns the cosine, -1..1, between the vectors of the query and of a chunk or document. It returns
	// false if no vector branch found the chunk or document. If the query has no vector branch, Similarity is nil.
	Similarity func(sheaf.ID) (float64, bool)
	// Named compares a name with the query. It is nil if the query has no words or the store cannot count words.
	Named func(name string) NameMatch
	// Pairs returns the pairs of neighboring words of the query, and says in [Pair.In] which chunks have the pair. The
	// caller must pass distinct chunks; Pairs does not keep the slice. If the query has no pairs or time runs out, Pairs
	// returns none. Pairs is nil if the store cannot find pairs.
	Pairs func(chunks []sheaf.ID) ([]Pair, error)
}

// check returns an error if a score is not finite, or if Facts is nil. Only stages that need Facts call check.
func (e Env) check(stage string, in sheaf.Ranking) error {
	if e.Facts == nil {
		return sheaf.Invalidf("%s: needs documents, and a run has none", stage)
	}
	return in.Valid(stage)
}

// Facts tells stages about documents. A snapshot of the catalog implements Facts. The answers of Facts do not change
// while a query runs, and callers must not change the answers. Implementations are safe for concurrent use.
type Facts interface {
	// Node returns the position of a chunk in its document. If there is no chunk with this ID, it returns nil.
	Node(id sheaf.ID) *sheaf.Node
	// Outline returns the facts about a document that ranking needs. If no document has this ID, it returns nil.
	Outline(doc sheaf.ID) *sheaf.Outline
	// Chunk returns the whole chunk with this ID. If there is no such chunk, it returns false. It is slower than Node.
	Chunk(id sheaf.ID) (sheaf.Chunk, bool)
	// Document returns the document with this ID and its chunks in order. If there is no such document, it returns false.
	// It is slower than Outline.
	Document(id sheaf.ID) (sheaf.Document, bool)
	// FolderSize returns how many documents are directly in a folder of a tree. A folder of "" is the top of the tree.
	FolderSize(tree, folder string) int
	// Links returns the documents that doc links to, without doc itself and without duplicates, in order of ID.
	Links(doc sheaf.ID) []sheaf.ID
	// Backlinks returns the documents that link to doc, without doc itself and without duplicates, in order of ID.
	Backlinks(doc sheaf.ID) []sheaf.ID
}

// documentOf returns the document of a chunk. If the chunk is unknown, it returns id.
func documentOf(facts Facts, id sheaf.ID) sheaf.ID {
	if n := facts.Node(id); n != nil {
		return n.Doc
	}
	return id
}

// outlineOf returns the outline of a node's document. It returns nil if the document has no outline.
func outlineOf(facts Facts, n *sheaf.Node) *sheaf.Outline {
	if n.Outline != nil {
		return n.Outline
	}
	return facts.Outline(n.Doc)
}
