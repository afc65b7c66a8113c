// Package eval measures the quality of a ranking. It runs the queries of a data set through the usual search
// ([Collection.Run]). Every ranking to compare is a [Column]. It judges the results ([Judge], [Compare]): measures with
// intervals, differences with tests, latency and memory.
//
// Package dataset reads data sets, and indexing indexes them. Package metric computes measures, stats has statistics,
// and report writes the results.
package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/index/catalog"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/text/query"
)

// Collection is a data set with an open index. Package indexing opens it. It is safe for concurrent use.
type Collection struct {
	Dataset *dataset.Dataset
	View    *catalog.View
	// Searcher ranks as in a user's search of the index, but computes no confidence.
	Searcher *search.Searcher
	// Store is the name that reports give the store.
	Store string
	// Hash identifies the version of the documents.
	Hash string
	// Indexed is the duration of indexing. It is 0 if the index existed before.
	Indexed time.Duration
	// Bytes is the size of the index on disk.
	Bytes int64
	// Err returns the first error that occurred when a search read the index.
	Err func() error
	// Close closes the collection. Callers may call it twice.
	Close func()
}

// Column is one of the rankings to compare. It is a profile with parameters.
type Column struct {
	Name       string
	Profile    *profile.Profile
	Parameters map[string]string
}

// Options say how to run queries.
type Options struct {
	// Depth is the largest number of results of a query, 1..profile.MaxLimit. A profile may retrieve more hits for a
	// larger depth. The first ten of a hundred results may therefore differ from the results of a search for ten.
	Depth int
	// Plain says that queries have no syntax: quotes, signs and field names are plain words.
	Plain bool
	// Workers is the number of queries that run at the same time. Latencies mean something only if Workers is 1.
	Workers int
	// Run calls Progress with the number of finished queries, never twice at the same time. Progress may be nil.
	Progress func(done, all int)
}

// Run has the results of one column.
type Run struct {
	// ColumnReport describes the run. [Evaluate] adds what the judgements say.
	ColumnReport
	// Rankings has, by the ID of the query, the targets that the query found, best first and without duplicates.
	Rankings map[string][]metric.Scored
}

// perDocument is the name of a parameter of profiles that limits the results from one document. Run sets the limit to 1
// if only documents are judged. Without this limit, a second result from one document would take another document's
// place.
const perDocument = "per_document"

// Run searches for all queries of the data set with one column.
func (c *Collection) Run(ctx context.Context, col Column, o Options) (*Run, error) {
	col.Parameters = maps.Clone(col.Parameters)
	if col.Parameters == nil {
		col.Parameters = map[string]string{}
	}
	bounded := slices.ContainsFunc(col.Profile.Parameters, func(p profile.Parameter) bool { return p.Name == perDocument })
	if _, set := col.Parameters[perDocument]; bounded && !set && !c.Dataset.Sections {
		col.Parameters[perDocument] = "1"
	}
	plan, err := col.Profile.Plan(o.Depth, col.Parameters)
	if err != nil {
		return nil, err
	}
	queries := c.Dataset.Queries
	computed, err := col.Profile.Show(o.Depth, col.Parameters)
	if err != nil {
		return nil, err
	}
	r := &Run{ColumnReport{Name: col.Name, Profile: col.Profile.Name, Store: c.Store, Parameters: plan.Values,
		ProfileHash: fmt.Sprintf("%016x", xxh3.HashString128(computed).Hi), Notes: []string{}},
		make(map[string][]metric.Scored, len(queries))}
	searcher := c.Searcher
	opt := search.Options{Parameters: col.Parameters}
	for i := range min(warmUp, len(queries)) {
		if _, err := searcher.Search(ctx, c.query(&queries[i], o), col.Profile, opt); err != nil {
			return nil, fmt.Errorf("query %q: %w", queries[i].ID, err)
		}
	}
	results, took := make([]*search.Result, len(queries)), make([]time.Duration, len(queries))
	before := allocated()
	var telling sync.Mutex
	done := 0
	calls, going := errgroup.WithContext(ctx)
	calls.SetLimit(max(o.Workers, 1))
	for i := 0; i < len(queries) && going.Err() == nil; i++ {
		calls.Go(func() error {
			q := c.query(&queries[i], o)
			start := time.Now()
			res, err := searcher.Search(ctx, q, col.Profile, opt)
			took[i] = time.Since(start)
			if err != nil {
				return fmt.Errorf("query %q: %w", queries[i].ID, err)
			}
			results[i] = res
			if o.Progress != nil {
				telling.Lock()
				defer telling.Unlock()
				done++
				o.Progress(done, len(queries))
			}
			return nil
		})
	}
	if err := cmp.Or(calls.Wait(), ctx.Err()); err != nil { // a canceled context may skip calls without an error
		return nil, err
	}
	r.AllocKB = float64(allocated()-before) / float64(max(1, len(queries))) / 1024
	r.Latency = latencyOf(took)
	for i, res := range results {
		r.Rankings[queries[i].ID] = c.targets(queries[i].ID, res.Hits)
		if len(res.Hits) == 0 {
			r.Empty++
		}
		if res.Degraded {
			r.Degraded++
		}
		for _, n := range slices.Concat(res.Warnings, res.Notes) {
			if !slices.Contains(r.Notes, n) && len(r.Notes) < maxNotes {
				r.Notes = append(r.Notes, n)
			}
		}
	}
	return r, c.Err()
}

const (
	warmUp   = 10 // queries before the clock starts
	maxNotes = 20 // the most notes of a run
)

func (c *Collection) query(q *dataset.Query, o Options) sheaf.Query {
	out := sheaf.Query{Text: q.Text, Words: sheaf.Match{Text: q.Text}, Limit: o.Depth}
	if !o.Plain {
		out = query.Parse(q.Text, query.Options{Now: c.Searcher.Now(), Limit: o.Depth})
	}
	out.Filter = sheaf.Both(out.Filter, q.Filter)
	return out
}

// document returns the document of a hit in the form that judgements use: its ID or its path.
func (c *Collection) document(h *search.Hit) string {
	if c.Dataset.ByID {
		return string(h.Doc)
	}
	return h.Path
}

// Right returns a function that reports whether a hit answers a judged query. A hit is right if its document has a gain
// above 0. It is also right if the hit itself, or a section that contains it, has such a gain.
func (c *Collection) Right(queryID string) func(h *search.Hit) bool {
	wanted := c.Dataset.Qrels[queryID]
	return func(h *search.Hit) bool {
		found := c.targets(queryID, []search.Hit{*h})
		return len(found) > 0 && wanted[found[0].ID] > 0
	}
}

// targets returns the targets of hits, in the order of hits, each target once. The target of a hit is its document. If
// a judgement of the query names a section, the target of a hit is a section: see [Collection.section].
func (c *Collection) targets(queryID string, hits []search.Hit) []metric.Scored {
	out := make([]metric.Scored, 0, len(hits))
	seen := make(map[string]bool, len(hits))
	wanted := c.Dataset.Qrels[queryID]
	sections := c.Dataset.Sections && slices.ContainsFunc(slices.Collect(maps.Keys(wanted)), func(t string) bool {
		return strings.Contains(t, "\x00")
	})
	for i := range hits {
		h := &hits[i]
		target := c.document(h)
		if sections {
			target = c.section(h, wanted)
		}
		if !seen[target] {
			seen[target] = true
			out = append(out, metric.Scored{ID: target, Score: h.Score})
		}
	}
	return out
}

// section returns the target in wanted that is the hit itself, or else the nearest one that contains the hit. If wanted
// has no such target, section returns the hit's own section.
func (c *Collection) section(h *search.Hit, wanted metric.Judgements) string {
	own := ""
	for id := h.ID; id != ""; {
		chunk, ok := c.View.Chunk(id)
		if !ok {
			break
		}
		target := dataset.Section(c.document(h), chunk.Slug)
		if own == "" {
			own = target
		}
		if _, ok := wanted[target]; ok {
			return target
		}
		id = chunk.Parent
	}
	return own
}

// allocated returns how many bytes the process has allocated since it started.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
