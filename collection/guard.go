package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/lru"
	"sheaf/rank"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/chunk"
)

// guard is the access check of a Reader. A Reader reads the store and the catalog only through its guard. The guard
// adds the grant's filter to every request to the store, and hides documents of the catalog. For restricted callers, it
// counts words over visible documents only. An idf over all documents would reveal words of hidden ones.
type guard struct {
	view      *catalog.View
	store     store.Backend
	at        stamp // the states of view and store
	counts    *lru.Cache[answerKey, int]
	o         *Options
	filter    sheaf.Filter // nil lets everything through
	visibleTo string       // fingerprint of what the caller sees; "" for everything
	hides     bool         // comments are not shown
	viewer    store.Viewer
	seen      sync.Map // whether a document is visible, by its ID
	folders   sync.Map // the number of visible documents, by the ID of the folder
}

var (
	_ store.Backend   = (*guard)(nil)
	_ store.Explainer = (*guard)(nil)
	_ store.Counter   = (*guard)(nil)
	_ store.Batcher   = (*guard)(nil)
	_ store.Selective = (*guard)(nil)
	_ store.Faceter   = (*guard)(nil)
	_ store.Sorter    = (*guard)(nil)
	_ rank.Facts      = (*guard)(nil)
)

// Chunks returns the number of chunks that the caller may see. If the store cannot count them, it returns 0.
func (g *guard) Chunks(ctx context.Context) int {
	if g.filter == nil {
		return g.view.Chunks()
	}
	n, _ := g.Count(ctx, store.Request{Limit: 1, Text: search.AnyField(sheaf.Bool{})}) // 0 with an error
	return n
}

// plainGuard is a guard without the methods that count, for stores that cannot count.
type plainGuard struct {
	store.Backend
	store.Explainer
	store.Selective
}

func (g *guard) withGrant(req store.Request) store.Request {
	if g.filter == nil {
		return req
	}
	req.Filter = sheaf.Both(g.filter, req.Filter)
	if req.Text != nil {
		text := *req.Text
		req.Text = &text
		text.Among = g.filter
		if g.o.SharedStatistics && g.unsupportedError(req) != nil {
			text.Among = nil
		}
	}
	return req
}

// boundAll returns copies of requests, each with the grant's filter added.
func (g *guard) boundAll(reqs []store.Request) []store.Request {
	if g.filter == nil {
		return reqs
	}
	bound := make([]store.Request, len(reqs))
	for i := range reqs {
		bound[i] = g.withGrant(reqs[i])
	}
	return bound
}

// unsupportedError returns why the store cannot answer requests like req, or nil. req already has the grant's filter.
func (g *guard) unsupportedError(req store.Request) error {
	if s, ok := g.store.(store.Selective); ok {
		return s.Supports(req)
	}
	return nil
}

// unsupportedBy returns the error of a store that lacks an operation.
func unsupportedBy(operation string) error {
	return fmt.Errorf("%s: %w by this store: use the store embedded", operation, sheaf.ErrUnsupported)
}

func (g *guard) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	hits, err := g.store.Retrieve(store.WithViewer(ctx, g.viewer), g.withGrant(req))
	return hits, fromRemote(store.Gone(err))
}

func (g *guard) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	st, ok := g.store.(store.Explainer)
	if !ok {
		return nil, unsupportedBy("explain")
	}
	explanations, err := st.Explain(store.WithViewer(ctx, g.viewer), g.withGrant(req), ids)
	return explanations, fromRemote(store.Gone(err))
}

// Supports implements store.Selective. It adds the grant's filter to the requests.
func (g *guard) Supports(req store.Request) error {
	bound := g.withGrant(req)
	err := g.unsupportedError(bound)
	if err == nil || bound.Text == nil || bound.Text.Among == nil {
		return err
	}
	text := *bound.Text
	text.Among = nil
	if bound.Text = &text; g.unsupportedError(bound) == nil {
		return fmt.Errorf("%w: it counts rare words in all documents, so scores would reveal hidden ones; the server "+
			"allows it with sheaf serve --shared-statistics",
			sheaf.ErrUnsupported)
	}
	return err
}

func (g *guard) Count(ctx context.Context, req store.Request) (int, error) {
	counts, err := g.CountAll(ctx, []store.Request{req})
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// Batches reports whether the store answers several requests in one round trip.
func (g *guard) Batches() bool { return store.Batches(g.store) }

func (g *guard) RetrieveAll(ctx context.Context, reqs []store.Request) ([]sheaf.Ranking, error) {
	rankings, err := store.RetrieveAll(store.WithViewer(ctx, g.viewer), g.store, g.boundAll(reqs))
	return rankings, fromRemote(store.Gone(err))
}

func (g *guard) Scores(ctx context.Context, reqs []store.Request, ids []sheaf.ID) ([][]float64, error) {
	st, ok := g.store.(store.Scorer)
	if !ok {
		return nil, unsupportedBy("scores of given chunks")
	}
	scores, err := st.Scores(store.WithViewer(ctx, g.viewer), g.boundAll(reqs), ids)
	return scores, fromRemote(store.Gone(err))
}

func (g *guard) CountAll(ctx context.Context, reqs []store.Request) ([]int, error) {
	out := make([]int, len(reqs))
	keys := make([]answerKey, len(reqs))
	cached := make([]bool, len(reqs))
	var asked []int
	var bound []store.Request
	for i := range reqs {
		known := false
		req := &reqs[i]
		// A request of search.AnyField without a filter repeats: every snippet of an answer needs the same counts as the
		// search.
		if cached[i] = req.Filter == nil && req.Within == nil && req.Text != nil &&
			req.Text.Combine == store.CombineBM25F && slices.Equal(req.Text.Fields, anyField); cached[i] {
			keys[i] = keyOf(g.at, g.visibleTo, req.Text.Query)
			out[i], known = g.counts.Get(keys[i])
		}
		if !known {
			asked, bound = append(asked, i), append(bound, g.withGrant(reqs[i]))
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	st, ok := g.store.(store.Counter)
	if !ok {
		return nil, unsupportedBy("count")
	}
	counts, err := store.CountAll(store.WithViewer(ctx, g.viewer), st, bound)
	if err != nil {
		return nil, fromRemote(store.Gone(err))
	}
	for k, i := range asked {
		if out[i] = counts[k]; cached[i] {
			g.counts.Put(keys[i], counts[k], 1)
		}
	}
	return out, nil
}

// maxCounts limits the cached counts of visible chunks that contain a word.
const maxCounts = 20_000

var anyField = search.AnyField(nil).Fields

func (g *guard) Matches() bool { return store.Matches(g.store) }

// Lists reports whether the store can count chunks by value.
func (g *guard) Lists() bool { return store.Lists(g.store) != nil }

func (g *guard) Facets(ctx context.Context, req store.Request, columns []string, limit int) ([]store.Facet, error) {
	st, ok := g.store.(store.Faceter)
	if !ok {
		return nil, unsupportedBy("facets")
	}
	facets, err := st.Facets(store.WithViewer(ctx, g.viewer), g.withGrant(req), columns, limit)
	return facets, fromRemote(store.Gone(err))
}

func (g *guard) Sorted(ctx context.Context, req store.Request, by store.Order) (sheaf.Ranking, error) {
	st, ok := g.store.(store.Sorter)
	if !ok {
		return nil, unsupportedBy("order by " + by.Column)
	}
	hits, err := st.Sorted(store.WithViewer(ctx, g.viewer), g.withGrant(req), by)
	return hits, fromRemote(store.Gone(err))
}

// errReadOnly means that a reader cannot write.
var errReadOnly = fmt.Errorf("%w: a reader does not write", sheaf.ErrUnsupported)

func (g *guard) Write(context.Context, store.Batch) error { return errReadOnly }

// Close implements store.Backend. It does not close the store.
func (g *guard) Close() error { return nil }

func (g *guard) visible(doc sheaf.ID) bool {
	if g.filter == nil {
		return true
	}
	if seen, ok := g.seen.Load(doc); ok {
		return seen.(bool)
	}
	seen := false
	if rec, err := g.view.Head(doc); err == nil { // Head takes as long for a hidden document as for a missing one
		c := store.Chunk{Columns: ingest.Columns(&rec.Document, rec.Date)}
		seen = g.filter.Match(&c)
	}
	g.seen.Store(doc, seen)
	return seen
}

func (g *guard) sees(id sheaf.ID) bool {
	if g.filter == nil {
		return true
	}
	at := strings.LastIndexByte(string(id), '#')
	return at >= 0 && g.visible(id[:at]) || g.visible(id)
}

func (g *guard) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if !g.sees(id) {
		return sheaf.Chunk{}, false
	}
	c, ok := g.view.Chunk(id)
	if !ok || !g.visible(c.Doc) {
		return sheaf.Chunk{}, false
	}
	return c, true
}

func (g *guard) Document(id sheaf.ID) (sheaf.Document, bool) {
	if !g.visible(id) {
		return sheaf.Document{}, false
	}
	return g.view.Document(id)
}

// SharedDocument returns a visible document without copying it, or nil. The caller must not change the document.
func (g *guard) SharedDocument(id sheaf.ID) *sheaf.Document {
	if !g.visible(id) {
		return nil
	}
	return g.view.SharedDocument(id)
}

func (g *guard) Node(id sheaf.ID) *sheaf.Node {
	if !g.sees(id) {
		return nil
	}
	n := g.view.Node(id)
	// Without a filter, skip reading the node, which is usually not in the processor cache.
	if g.filter == nil || n != nil && g.visible(n.Doc) {
		return n
	}
	return nil
}

func (g *guard) Outline(id sheaf.ID) *sheaf.Outline {
	if !g.visible(id) {
		return nil
	}
	return g.view.Outline(id)
}

// FolderSize returns the number of visible documents in a folder. It implements rank.Facts.
func (g *guard) FolderSize(tree, folder string) int {
	if g.filter == nil {
		return g.view.FolderSize(tree, folder)
	}
	of := sheaf.DocumentID(tree, folder)
	if n, ok := g.folders.Load(of); ok {
		return n.(int)
	}
	n := 0
	for id := range g.view.InFolder(tree, folder) {
		if g.visible(id) {
			n++
		}
	}
	g.folders.Store(of, n)
	return n
}

// Resolve returns the visible target of a link, or false if no visible document is the target. It chooses
// only among visible documents, so that the result reveals nothing of hidden documents.
func (g *guard) Resolve(from sheaf.ID, link sheaf.Link) (sheaf.ID, bool) {
	if g.filter == nil {
		return g.view.ResolveAmong(nil, from, link)
	}
	return g.view.ResolveAmong(g.visible, from, link)
}

// Links implements rank.Facts. It returns the visible documents to which doc links, as Resolve finds them.
func (g *guard) Links(doc sheaf.ID) []sheaf.ID {
	switch {
	case !g.visible(doc):
		return nil
	case g.filter == nil:
		return g.view.Links(doc)
	}
	return g.view.LinksAmong(g.visible, doc)
}

// Backlinks implements rank.Facts. It returns the visible documents that link to doc.
func (g *guard) Backlinks(doc sheaf.ID) []sheaf.ID {
	switch {
	case !g.visible(doc):
		return nil
	case g.filter == nil:
		return g.view.Backlinks(doc)
	}
	return g.view.BacklinksAmong(g.visible, doc)
}

// Err returns the first error of a catalog lookup, or nil.
func (g *guard) Err() error { return g.view.Err() }

// record returns the catalog's record of a document, or sheaf.ErrNotFound if the document is missing or hidden.
func (g *guard) record(doc sheaf.ID) (*catalog.Record, error) {
	if !g.visible(doc) {
		return nil, cmp.Or(g.view.Err(), notFound(doc))
	}
	rec, err := g.view.Record(doc)
	if errors.Is(err, sheaf.ErrNotFound) {
		return nil, notFound(doc)
	}
	return rec, err
}

func (g *guard) text(doc sheaf.ID) ([]byte, error) {
	if !g.visible(doc) {
		return nil, notFound(doc)
	}
	content, err := ingest.Shown(g.view, doc)
	if g.hides && err == nil {
		content = chunk.WithoutComments(doc.Path(), content)
	}
	switch { // only a local person sees the path of the file
	case g.o.Local != nil:
	case errors.Is(err, catalog.ErrStale):
		err = fmt.Errorf("%s: %w: ask again in a moment", doc, catalog.ErrStale)
	case errors.Is(err, catalog.ErrUnread):
		err = fmt.Errorf("%s: %w", doc, catalog.ErrUnread)
	}
	return content, err
}

func notFound(id sheaf.ID) error {
	return fmt.Errorf("%w: nothing is called %q", sheaf.ErrNotFound, id)
}

// Properties returns [catalog.View.Properties], which includes properties of hidden documents. Do not show the result
// to the caller: an answer may show only properties of visible documents.
func (g *guard) Properties() ([]catalog.Counted, error) { return g.view.Properties() }

// visibleFiles scans files for a caller. It returns only files whose documents are in the catalog and visible. It
// checks the access rules again in the current content of each file.
type visibleFiles struct {
	scanner search.Scanner
	guard   *guard
}

func (v visibleFiles) Scan(ctx context.Context, req search.ScanRequest) (*search.Scanned, error) {
	if v.guard.filter != nil {
		req.Visible, req.Shown = v.guard.visible, v.guard.filter
		req.Filter = sheaf.Both(v.guard.filter, req.Filter)
	}
	req.HideComments = v.guard.hides || ingest.HidesComments(v.guard.view)
	return v.scanner.Scan(ctx, req)
}
