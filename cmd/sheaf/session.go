package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/address"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/search/snippet"
	"sheaf/store"
	"sheaf/text/query"
)

// session is an open index with the folder that a command works on.
type session struct {
	*app
	*collection.Index
	// scanner reads the folder when the profile needs no index. Then Catalog is nil, and View and Backend are what
	// the last query found.
	scanner  *scan.Scanner
	files    int              // that the last query looked at
	expander *search.Expander // rewrites queries; nil without such a model
	reranker model.Reranker   // reads the first answers again; nil without such a model
	started  time.Time
	// sureness is what was learned of how sure answers are.
	sureness learnedFile
}

// newSession is the session of a folder and its index, which is not open yet.
func (a *app) newSession(folder string, where location.Location) *session {
	c := a.config
	s := &session{app: a, started: time.Now()}
	s.Index = collection.NewIndex(collection.Site{Folder: folder, Where: where, Address: c.Store.URL, Flag: a.elsewhere,
		In: a.in, Named: a.index != ""}, a.making(), a.events())
	s.Answering = collection.Options{
		ShowComments: c.Comments == config.CommentsSearch, Confidence: s.confidenceNow,
		ProfileDirs: []string{profileFolder()}, Profile: c.Profile, CacheBytes: cacheBytes(c.CacheSize),
		Notice: func(err error) { s.notice("%v", err) },
	}
	return s
}

// making says how the settings make an index.
func (a *app) making() collection.Making {
	c := a.config
	m := collection.Making{
		Language: c.Language, StopWords: c.StopWords, Chunk: a.newChunker, Walk: a.walkOptions(), Workers: c.Workers,
		Engine: engineOptions(c), Update: c.Refresh,
		Embed: func(ctx context.Context, dims int, p collection.Patience) (model.Embedder, error) {
			return newEmbedder(ctx, c, dims, p)
		},
	}
	if c.Embedder.Remote() {
		m.Remote = c.Embedder.Model
	}
	if c.Comments != config.CommentsAuto {
		m.HideComments = func() bool { return c.Comments == config.CommentsHide }
	}
	return m
}

// events tell the person of a command what happens to an index.
func (a *app) events() collection.Events {
	return collection.Events{Notice: a.notice, Warn: a.warn, Quiet: a.json || a.jsonl, Confirm: a.confirm,
		Indexing: a.showIndexing,
		Checking: func() (func(done, total int64), func()) {
			progress := terminal.NewProgress(a.err, "checking")
			return func(done, total int64) { progress.Update(int(done>>10), int(total>>10), done, "kB") }, progress.Done
		}}
}

// door opens the session's index as the doors (HTTP, MCP, the page) see it. Close it before the session.
func (s *session) door() (*collection.Collection, error) {
	_, _ = s.loadTuned(s.config.Profile) // warns of a tuned profile that is not used; requests tell of other faults
	return s.Collection()
}

// cacheBytes is a setting as a collection takes it, whose 0 is a default.
func cacheBytes(size int64) int64 {
	if size == 0 {
		return -1
	}
	return size
}

func (s *session) searcher() *search.Searcher {
	searcher := &search.Searcher{Backend: s.Backend, Store: s.StoreInErrors(), Shared: s.Target != nil, Facts: s.View,
		Embed: s.EmbedQuery()}
	if s.scanner != nil {
		searcher = &search.Searcher{Store: "the scanned files", Scanner: s.scanner, Embed: s.QueryVector()}
	}
	searcher.Expander = s.expander
	if s.View != nil {
		searcher.Text = search.TextOf(s.View, func(doc sheaf.ID) ([]byte, error) { return ingest.Shown(s.View, doc) })
	}
	if s.reranker != nil && s.View != nil {
		searcher.Rerank = s.reranker.Rerank
	}
	searcher.Analyzer, searcher.Confidence = s.Analyzer, s.confidence
	if e := s.LocalModel(); e != nil && s.scanner == nil && searcher.Embed != nil {
		searcher.SetModel(e, s.Analyzer, s.View.Chunks())
	}
	return searcher
}

// file is the absolute path of a document's file, "" when it has none.
func (s *session) file(tree, docPath string) string {
	root := s.View.Settings().Root(tree)
	if root == "" {
		return ""
	}
	return filepath.Join(root, filepath.FromSlash(docPath))
}

// relative is a document's path from the searched folder: what a person can
// open from there, spelt as IDs spell it. Documents of folders that were added
// keep their full path, and those that were given without a file have their tree before it.
func (s *session) relative(tree, docPath string) string {
	return sheaf.PathText(s.named(tree, docPath))
}

// named is relative, byte for byte as the file is named.
func (s *session) named(tree, docPath string) string {
	full := s.file(tree, docPath)
	if full == "" { // a file may have the same path
		return tree + ":" + docPath
	}
	if rel, ok := location.Under(s.Folder, full); ok {
		return rel
	}
	return filepath.ToSlash(full)
}

// place is the searched folder, as documents have it, when the index covers more
// than it; "" when it does not.
func (s *session) place() (tree, folder string) {
	if s.Folder == s.Where.Root {
		return "", ""
	}
	for _, t := range s.View.Settings().Trees {
		if rel, ok := location.Under(t.Root, s.Folder); ok {
			return t.Name, rel
		}
	}
	return "", ""
}

// scope bounds a query to the searched folder when the index covers more than it, and leaves
// out the folders that are not there, whose passages would only take the place of those that
// can be shown; nil when there is nothing to bound.
func (s *session) scope() (scope sheaf.Filter) {
	tree, folder := s.place()
	if tree != "" {
		scope = textIn(sheaf.ColumnTree, tree)
	}
	if folder != "" {
		scope = both(scope, textIn(sheaf.ColumnFolder, folder))
	}
	for _, t := range s.View.Settings().Trees {
		if slices.Contains(s.Gone(), t.Root) {
			scope = both(scope, sheaf.Not{Filter: textIn(sheaf.ColumnTree, t.Name)})
		}
	}
	return scope
}

func textIn(column, value string) sheaf.Filter {
	return sheaf.In{Column: column, Values: []sheaf.Value{sheaf.TextValue(value)}}
}

// both joins two filters, either of which may be nil.
func both(a, b sheaf.Filter) sheaf.Filter {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return sheaf.And{a, b}
}

// resolve finds what an address names in this index.
func (s *session) resolve(text string) (address.Target, error) {
	r := &address.Resolver{Documents: s.View, Trees: s.View.Settings().Trees, Folder: s.Folder, Read: s.View.Text,
		Paths: s.paths, Follow: s.View.Resolve}
	t, err := r.Resolve(text)
	var missing *address.NotFound
	if fault := s.View.Err(); fault != nil {
		return t, s.Advise(fmt.Errorf("read index: %w", fault))
	}
	if errors.As(err, &missing) {
		hint := missing.Hint
		switch {
		case s.leftOut(text):
			hint = "that file is there, but it is no document: sheaf status --all says why"
		case missing.Unlike:
			hint += "; sheaf ls lists the documents"
		}
		err = withHint(err, "%s", hint)
	}
	return t, err
}

// leftOut reports whether what a person typed, up to a heading or line in it, is a file of the
// searched folder that is no document.
func (s *session) leftOut(address string) bool {
	name, _, _ := strings.Cut(address, "#")
	lines := regexp.MustCompile(`(:\d+){1,2}$`)
	for _, name := range []string{address, name, lines.ReplaceAllString(name, "")} {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(s.Folder, name)
		}
		info, err := os.Lstat(full)
		if err != nil || info.IsDir() {
			continue
		}
		for _, t := range s.View.Settings().Trees {
			if rel, ok := location.Under(t.Root, full); ok {
				_, known := s.View.Document(sheaf.DocumentID(t.Name, rel))
				return !known
			}
		}
	}
	return false
}

// paths are those of all documents, as results show them.
func (s *session) paths() []string {
	var paths []string
	for id := range s.View.Files() {
		if doc, ok := s.View.Document(id); ok {
			paths = append(paths, s.relative(doc.Tree, doc.Path))
		}
	}
	return paths
}

// parse reads what a person typed.
func (s *session) parse(text string) sheaf.Query {
	var properties []string
	if strings.Contains(text, ":") {
		if counted, err := s.View.Properties(); err == nil {
			for _, p := range counted {
				properties = append(properties, p.Name)
			}
		}
	}
	return query.Parse(text, query.Options{Properties: properties, Spellings: s.spellings, Now: time.Now(),
		Limit: s.config.Limit})
}

// spellings are the ways in which documents write a path that a person typed: from the
// searched folder, as results show it, or from the top of the index.
func (s *session) spellings(written string) []string {
	_, folder := s.place()
	if folder == "" {
		return s.View.Spellings(written)
	}
	below := folder + "/" + written
	return slices.Concat([]string{below}, s.View.Spellings(below), s.View.Spellings(written))
}

// searchOptions are the flags that every searching command has.
type searchOptions struct {
	set     []string
	explain bool
	// terms are further words that score.
	terms []string
	// label replaces the query in the answer, for a query that the command made. alike asks for similar passages.
	label string
	alike bool
	// columns are further flags of search.
	columns columnOptions
	narrow  narrowOptions
}

// narrowOptions are the flags that narrow a query by time and by sets of documents.
type narrowOptions struct {
	created, updated string
	sets             []string
}

func addNarrowFlags(f *pflag.FlagSet, o *narrowOptions) {
	f.StringVar(&o.created, "created", "", "documents created from START..END, as in 2024-05..2024-08; those without "+
		"a date pass")
	f.StringVar(&o.updated, "updated", "", "documents updated from START..END; those without a date count as 90 days old")
	f.StringSliceVar(&o.sets, "sets", nil, "documents of any of these sets")
}

// filter is what the flags let through; nil when none is given.
func (o *narrowOptions) filter(now time.Time) (sheaf.Filter, error) {
	created, err := query.CreatedIn(o.created, now)
	if err != nil {
		return nil, fmt.Errorf("--created: %w", err)
	}
	updated, err := query.UpdatedIn(o.updated, now)
	if err != nil {
		return nil, fmt.Errorf("--updated: %w", err)
	}
	sets, err := query.InSets(o.sets)
	if err != nil {
		return nil, fmt.Errorf("--sets: %w", err)
	}
	return both(both(created, updated), sets), nil
}

// answer runs a query and makes what is shown of it.
func (s *session) answer(ctx context.Context, q sheaf.Query, o searchOptions) (*searchJSON, error) {
	p, parameters, err := s.profileOf(o.set)
	if err != nil {
		return nil, err
	}
	q.Limit = s.config.Limit // which is that of the profile only now
	scope := s.scope()
	narrow, err := o.narrow.filter(time.Now())
	if err != nil {
		return nil, err
	}
	q.Filter = both(both(q.Filter, narrow), scope)
	order, err := o.columns.order()
	if err != nil {
		return nil, err
	}
	result, err := s.searcher().Search(ctx, q, p,
		search.Options{Parameters: parameters, Explain: o.explain, Terms: o.terms, Order: order, Facets: o.columns.names(),
			Scope: scope})
	if err != nil {
		return nil, err
	}
	if err := s.scanned(result); err != nil {
		return nil, err
	}
	if err := s.View.Err(); err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	out := &searchJSON{Schema: searchSchema, Query: q.Text, Profile: result.Profile, Total: result.Total,
		Degraded: result.Degraded,
		Warnings: orEmpty(result.Warnings), Notes: orEmpty(slices.Concat(result.Notes, result.Unmet)), unmet: result.Unmet,
		Results: []resultJSON{}, Facets: facetsJSON(result.Facets)}
	if o.label != "" {
		out.Query = o.label
	}
	out.Answerable = result.Answerable
	h := snippet.New(s.Analyzer, q.Words, s.rarity(ctx))
	gone := 0
	for i := range result.Hits {
		r, there, err := s.result(h, &result.Hits[i])
		if err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		if !there {
			gone++
			continue
		}
		r.Rank = len(out.Results) + 1
		out.Results = append(out.Results, r)
	}
	if gone > 0 {
		out.Warnings = append(out.Warnings, wording.Plural(gone, "result was", "results were")+" left out: the file is gone")
	}
	out.TookMS = millis(time.Since(s.started).Seconds())
	return out, nil
}

// result fills in what is shown of a hit: its file, line and snippet. there is
// false when the file has gone since it was indexed; damage is an error.
func (s *session) result(h *snippet.Highlighter, hit *search.Hit) (r resultJSON, there bool, err error) {
	tree := hit.Doc.Tree()
	r = resultJSON{
		Rank: hit.Rank, ID: hit.ID, Doc: hit.Doc, Path: s.relative(tree, hit.Path), Title: hit.Title,
		Breadcrumb: hit.Breadcrumb,
		Span:       spanOf(hit.Span), Line: 1, Score: collection.Finite(hit.Score), Confidence: rounded(hit.Confidence),
		Level: hit.Level, Matches: []span{}, Tags: orEmpty(hit.Tags), Explanation: hit.Explanation,
		hierarchy: hit.Hierarchy, file: s.file(tree, hit.Path),
	}
	for _, c := range hit.Constituents {
		r.Constituents = append(r.Constituents, constituentJSON{c.ID, c.Title, spanOf(c.Span), collection.Finite(c.Score)})
	}
	if s.scanner != nil {
		r.Signals = search.SignalsOf(hit)
	}
	doc, ok := s.View.Document(hit.Doc)
	if !ok {
		return r, true, s.View.Err()
	}
	content, err := ingest.Shown(s.View, doc.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, false, nil
	case errors.Is(err, sheaf.ErrCorrupt):
		return r, true, err
	case err != nil:
		s.warn("%s: no snippet: %v", r.Path, err)
		return r, true, nil
	}
	spans, own := collection.SnippetSpans(&doc, hit, content, s.Passages())
	best := h.Best(content, spans, own, snippet.Width)
	r.Snippet, r.Line = best.Text, catalog.Line(content, best.At)
	if len(best.Matches) > 0 {
		r.Block = collection.BlockOf(doc.ID, content, best.At)
	}
	for _, m := range best.Matches {
		r.Matches = append(r.Matches, spanOf(m))
	}
	return r, true, nil
}

// rounded is a confidence with three decimals; more would pretend.
func rounded(confidence *float64) *float64 {
	if confidence == nil {
		return nil
	}
	c := math.Round(*confidence*1000) / 1000
	return &c
}

// usualLimit returns the limit of the settings, or that of the profile when no setting has one.
func usualLimit(c *config.Config, p *profile.Profile, set map[string]string) int {
	if n := p.DefaultLimit(set); n > 0 && c.Origin("limit").Source == config.SourceDefault {
		return n
	}
	return c.Limit
}

// profileOf loads the profile in force and reads the parameters set for it. It sets the limit of the settings to
// the profile's, unless a source set one.
func (s *session) profileOf(set []string) (*profile.Profile, map[string]string, error) {
	p, err := s.loadTuned(s.config.Profile)
	if err != nil {
		return nil, nil, err
	}
	parameters, err := parseSet(set, p)
	s.config.Limit = usualLimit(s.config, p, parameters)
	return p, parameters, err
}

// checkProfile is nil when the store can do what the profile asks of it.
func (s *session) checkProfile(set []string) error {
	p, parameters, err := s.profileOf(set)
	if err != nil {
		return err
	}
	plan, err := p.Plan(s.config.Limit, parameters)
	if err != nil {
		return err
	}
	if err := s.checkLimit(plan); err != nil {
		return err
	}
	return (&search.Searcher{Backend: s.Backend, Store: s.StoreInErrors()}).CheckStore(plan)
}

// checkLimit refuses a limit that somebody set and the plan cannot reach.
func (s *session) checkLimit(plan *profile.Plan) error {
	if s.config.Origin("limit").Source == config.SourceDefault {
		return nil
	}
	return plan.CheckLimit(s.config.Limit)
}

// loadTuned reads a profile as this index uses it.
func (s *session) loadTuned(name string) (*profile.Profile, error) {
	if _, err := os.Stat(profile.TunedFile(s.Where.Dir, name)); s.Where.Dir == "" || err != nil {
		return loadProfile(name)
	}
	p, fault, err := profile.LoadTuned(s.Where.Dir, name, profile.In(profileFolder()))
	if fault != nil {
		s.warn("what sheaf tune found is not used: %v; remove it with sheaf tune --undo", fault)
	}
	return p, err
}

// rarity tells snippets how rare a word is, by its idf; nil when the store
// cannot count.
func (s *session) rarity(ctx context.Context) func(word string) float64 {
	if _, ok := s.Backend.(store.Counter); !ok {
		return nil
	}
	size := float64(s.View.Chunks())
	return func(word string) float64 {
		df, err := s.count(ctx, word)
		if err != nil {
			return 1
		}
		return math.Log(1 + (max(size, float64(df))-float64(df)+0.5)/(float64(df)+0.5))
	}
}

// count is the number of chunks with a word in any field.
func (s *session) count(ctx context.Context, word string) (int, error) {
	counter, ok := s.Backend.(store.Counter)
	if !ok {
		return 0, fmt.Errorf("count words: %w by this store", sheaf.ErrUnsupported)
	}
	fields := make([]store.FieldWeight, len(sheaf.Fields))
	for i, f := range sheaf.Fields {
		fields[i] = store.FieldWeight{Name: f, Weight: 1}
	}
	return counter.Count(ctx, store.Request{Limit: 1, Text: &store.TextRequest{
		Query: sheaf.Match{Text: word}, Fields: fields, K1: store.DefaultK1, B: store.DefaultB,
	}})
}
