package benchmark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/model"
)

// Options say what is measured.
type Options struct {
	// Folders hold Markdown for the corpora; Sizes are their numbers of
	// chunks.
	Folders []string
	Sizes   []int
	Tasks   []Task
	// Ours is our own engine, Peers the others.
	Ours  Peer
	Peers []Peer
	// Work is a folder for corpora and indexes, which are removed at the end.
	Work string
	// Clients is how many clients ask together; Seconds bounds each pass.
	Clients int
	Seconds float64
	// Limit bounds an engine's work on one task of one size; 0 is no limit.
	// An engine that would take longer, going by a smaller size, is left out.
	Limit time.Duration
	// Embedder makes the vectors; those of TaskWide are made of its own.
	Embedder model.Embedder
	// Progress gets the name of what runs; it may be nil.
	Progress func(what string)
	// Step, which may be nil, is given the report after every engine: what
	// it does with it is kept when the run is interrupted.
	Step func(*Report) error
}

// Row is one engine doing one task on one corpus.
type Row struct {
	Peer   string `json:"peer"`
	Task   Task   `json:"task"`
	Chunks int    `json:"chunks"`
	// Made is how many chunks were made of sentences of others.
	Made int `json:"made"`
	// InputBytes are what the engine was given.
	InputBytes int64   `json:"input_bytes"`
	Result     *Result `json:"result,omitempty"`
	Fault      string  `json:"fault,omitempty"`
	// MRR is the reciprocal rank at 10 of the chunk that a heading stands
	// above, over the heading queries; Recall the share of the ten nearest
	// vectors, by float32 and brute force, that was found, where any that is
	// as near as the tenth is as good; Same the share of
	// our own engine's ten that was found too. NaN is not applicable.
	MRR    float64 `json:"-"`
	Recall float64 `json:"-"`
	Same   float64 `json:"-"`
}

// Report is everything that was measured in one run.
type Report struct {
	Machine string `json:"machine"`
	Clients int    `json:"clients"`
	Rows    []Row  `json:"rows"`
}

// Run measures every size with every engine, ours first, one task after another.
// A peer that fails is a row that says so. The report is also returned with an
// error: it holds what was measured until then.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	for _, n := range o.Sizes {
		if n < 100 || n > 10_000_000 {
			return nil, sheaf.Invalidf("%d chunks: must be within 100..10000000", n)
		}
	}
	report := &Report{Machine: fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version()), Clients: o.Clients}
	r := run{Options: o, report: report, began: time.Now(), steps: len(o.Tasks) * len(o.Sizes) * (1 + len(o.Peers))}
	defer func() {
		for _, c := range r.corpora {
			_ = os.RemoveAll(c.dir)
		}
	}()
	for _, n := range o.Sizes {
		if err := r.prepare(ctx, n); err != nil {
			return report, err
		}
	}
	for _, task := range o.Tasks {
		for i := range r.corpora {
			if err := r.measure(ctx, task, &r.corpora[i]); err != nil {
				return report, err
			}
		}
	}
	return report, nil
}

// run is a run of Run.
type run struct {
	Options
	report  *Report
	began   time.Time
	corpora []prepared
	step    int
	steps   int
}

// prepared is a corpus in a folder, and what is known of the right answers.
type prepared struct {
	dir         string
	chunks      int
	made        int
	bytes       int64
	vectorBytes int64
	queries     []Query
	nearest     map[string][]string
	wide        *prepared // the same with longer vectors, if they are asked for
}

// say reports progress, with the time since the beginning.
func (r *run) say(format string, args ...any) {
	r.Progress(fmt.Sprintf("%v, %s", time.Since(r.began).Round(time.Second), fmt.Sprintf(format, args...)))
}

// prepare writes the corpus of n chunks.
func (r *run) prepare(ctx context.Context, n int) error {
	dir, err := os.MkdirTemp(r.Work, fmt.Sprintf("sheaf-bench-%d-", n))
	if err != nil {
		return err
	}
	r.corpora = append(r.corpora, prepared{dir: dir, chunks: n})
	p := &r.corpora[len(r.corpora)-1]
	r.say("corpus of %d chunks", n)
	c, err := ReadFolders(r.Folders, n)
	if err != nil {
		return err
	}
	p.queries, p.made, p.bytes = c.Queries, c.Made, c.Bytes
	if err := c.Write(dir); err != nil {
		return err
	}
	if slices.ContainsFunc(r.Tasks, func(t Task) bool { return t != TaskWide }) {
		if err := p.embed(ctx, r, c, r.Embedder); err != nil {
			return err
		}
	}
	if !slices.Contains(r.Tasks, TaskWide) {
		return nil
	}
	longer := *p
	p.wide = &longer
	if longer.dir, err = os.MkdirTemp(dir, "wide-"); err != nil { // removed with dir
		return err
	}
	if err := linkTexts(dir, longer.dir); err != nil {
		if err := c.Write(longer.dir); err != nil { // a file system without links
			return err
		}
	}
	return longer.embed(ctx, r, c, wide{r.Embedder})
}

// linkTexts gives the texts of one corpus to another, which takes no space.
func linkTexts(from, to string) error {
	for _, name := range []string{corpusFile, queriesFile} {
		if err := os.Link(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// embed writes the vectors of c into the folder of p.
func (p *prepared) embed(ctx context.Context, r *run, c *Corpus, e model.Embedder) (err error) {
	p.vectorBytes = 4 * int64(e.Dims()) * int64(p.chunks)
	p.nearest, err = r.vectors(ctx, c, p.dir, e)
	return err
}

// measure lets every engine do a task on a corpus.
func (r *run) measure(ctx context.Context, task Task, c *prepared) error {
	var ours *Result
	if task == TaskWide {
		c = c.wide
	}
	for i, p := range append([]Peer{r.Ours}, r.Peers...) {
		r.step++
		row := Row{Peer: p.Name, Task: task, Chunks: c.chunks, Made: c.made, MRR: math.NaN(), Recall: math.NaN(),
			Same: math.NaN()}
		if !task.nearest() {
			row.InputBytes += c.bytes
		}
		if task != TaskWords {
			row.InputBytes += c.vectorBytes
		}
		r.say("step %d of %d: %s, %d chunks: %s", r.step, r.steps, task, c.chunks, p.Name)
		var err error
		row.Result, row.Fault, err = r.ask(ctx, p, task, c)
		switch {
		case errors.Is(err, ErrNoTask):
			continue
		case err != nil:
			return err
		case row.Result == nil && i == 0:
			return errors.New(row.Fault)
		case i == 0:
			ours = row.Result
		}
		if row.Result != nil {
			row.judge(c.queries, c.nearest, ours)
		}
		r.report.Rows = append(r.report.Rows, row)
		if r.Step != nil {
			if err := r.Step(r.report); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask lets an engine do a task within the limit. A fault is the engine's, an error
// ends the run.
func (r *run) ask(ctx context.Context, p Peer, task Task, c *prepared) (result *Result, fault string, err error) {
	if why := r.tooLong(p, task, c.chunks); why != "" {
		return nil, why, nil
	}
	limited := ctx
	if r.Limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, r.Limit)
		defer cancel()
	}
	result, err = p.Run(limited, c.dir, task)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Sprintf("stopped after %v", r.Limit), nil
	case errors.Is(err, ErrNoTask):
		return nil, "", err
	case err != nil:
		return nil, err.Error(), nil
	}
	return result, "", nil
}

// tooLong says why an engine would not be done within the limit, going by its last
// smaller size: building takes at least as long for each chunk.
func (r *run) tooLong(p Peer, task Task, chunks int) string {
	for _, row := range slices.Backward(r.report.Rows) {
		if r.Limit <= 0 || row.Peer != p.Name || row.Task != task || row.Chunks >= chunks {
			continue
		}
		if row.Result == nil {
			return ""
		}
		build := time.Duration(row.Result.BuildSeconds * float64(time.Second))
		if want := time.Duration(float64(build) * float64(chunks) / float64(row.Chunks)); want > r.Limit {
			return fmt.Sprintf("left out: building took %v for %d chunks, which makes %v here, and the limit is %v",
				build.Round(time.Second), row.Chunks, want.Round(time.Second), r.Limit)
		}
		return ""
	}
	return ""
}

// Recall is judged by brute force on at least minJudged queries, and on more as
// long as that takes at most about maxProducts products.
const (
	minJudged   = 100
	maxProducts = 40_000_000
)

// vectors embeds the corpus and finds the ten nearest of queries, evenly spread, by
// brute force.
func (o *run) vectors(ctx context.Context, c *Corpus, dir string, e model.Embedder) (nearest map[string][]string,
	err error) {
	m := Meta{Dims: e.Dims(), Documents: len(c.Documents), Queries: len(c.Queries), Clients: o.Clients, Seconds: o.Seconds}
	var documents, queries [][]float32
	if slices.ContainsFunc(o.Tasks, func(t Task) bool { return t != TaskWords }) {
		o.say("vectors of %d chunks, %d dimensions", len(c.Documents), m.Dims)
		texts := make([]string, len(c.Documents))
		for i := range c.Documents {
			texts[i] = c.Documents[i].Title + "\n" + c.Documents[i].Text
		}
		if documents, err = e.Embed(ctx, model.Passage, texts); err != nil {
			return nil, err
		}
	}
	texts := make([]string, len(c.Queries))
	for i := range c.Queries {
		texts[i] = c.Queries[i].Text
	}
	if queries, err = e.Embed(ctx, model.Query, texts); err != nil {
		return nil, err
	}
	for _, rows := range [][][]float32{documents, queries} {
		for i := range rows {
			if rows[i] == nil { // the model knows nothing of it
				rows[i] = make([]float32, m.Dims)
				rows[i][0] = 1
			}
		}
	}
	nearest = map[string][]string{}
	if documents != nil {
		judged := min(len(queries), max(minJudged, maxProducts/max(1, len(documents))))
		o.say("nearest vectors of %d queries by brute force", judged)
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		ids := make([][]string, judged)
		at := func(k int) int { return k * len(queries) / judged }
		for k := range ids {
			group.Go(func() error {
				for _, d := range nearestOf(queries[at(k)], documents, Top) {
					ids[k] = append(ids[k], c.Documents[d].ID)
				}
				return ctx.Err()
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		for k := range ids {
			nearest[c.Queries[at(k)].ID] = ids[k]
		}
	}
	return nearest, WriteVectors(dir, documents, queries, m)
}

// nearestOf are the k rows with the largest dot product, the earlier of equals
// first, and after them those that are as near as the last: rows may be alike.
func nearestOf(q []float32, rows [][]float32, k int) []int {
	type scored struct {
		row   int
		score float32
	}
	best := make([]scored, 0, k+1)
	for i, row := range rows {
		var a, b, c, d float32
		for j := 0; j+3 < len(q); j += 4 {
			a += q[j] * row[j]
			b += q[j+1] * row[j+1]
			c += q[j+2] * row[j+2]
			d += q[j+3] * row[j+3]
		}
		s := scored{i, a + b + c + d}
		if len(best) >= k && s.score < best[k-1].score {
			continue
		}
		at := len(best)
		for at > 0 && best[at-1].score < s.score {
			at--
		}
		best = slices.Insert(best, at, s)
		for len(best) > k && best[len(best)-1].score < best[k-1].score {
			best = best[:len(best)-1]
		}
	}
	out := make([]int, len(best))
	for i, s := range best {
		out[i] = s.row
	}
	return out
}

// judge says how good the hits are. Of the queries only those count that the
// engine got to.
func (r *Row) judge(queries []Query, nearest map[string][]string, ours *Result) {
	var found, recall, same mean
	for _, q := range queries {
		hits, asked := r.Result.Hits[q.ID]
		if !asked {
			continue
		}
		if q.Known != "" && !r.Task.nearest() {
			if i := slices.Index(hits, q.Known); i >= 0 {
				found.add(1 / float64(i+1))
			} else {
				found.add(0)
			}
		}
		if want := nearest[q.ID]; len(want) > 0 && r.Task.nearest() {
			recall.add(recallOf(want, hits))
		}
		if len(ours.Hits[q.ID]) > 0 {
			same.add(share(ours.Hits[q.ID], hits))
		}
	}
	r.MRR, r.Recall, r.Same = found.value(), recall.value(), same.value()
}

// mean is that of what is added; NaN of nothing.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

func (m *mean) value() float64 { return m.sum / float64(m.n) }

// recallOf is the share of the nearest Top that is among got; want are those and
// others that are as near as the last of them.
func recallOf(want, got []string) float64 {
	n := 0
	for _, id := range got[:min(len(got), Top)] {
		if slices.Contains(want, id) {
			n++
		}
	}
	return float64(n) / float64(min(len(want), Top))
}

// share is the part of want that is among got; 0 of nothing.
func share(want, got []string) float64 {
	n := 0
	for _, id := range want {
		if slices.Contains(got, id) {
			n++
		}
	}
	return float64(n) / float64(max(len(want), 1))
}

// PeersFolder is the folder of peers by default: bench/bin in the
// repository that dir is in, "" when there is none.
func PeersFolder(dir string) string {
	for {
		found := filepath.Join(dir, "bench", "bin")
		if info, err := os.Stat(found); err == nil && info.IsDir() {
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
