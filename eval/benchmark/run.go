package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/model"
)

// Options say what to measure.
type Options struct {
	// Folders have Markdown files for the corpora. Sizes has the number of chunks of each corpus.
	Folders []string
	Sizes   []int
	Tasks   []Task
	// Ours is Sheaf's engine. Peers are the other engines.
	Ours  Peer
	Peers []Peer
	// Work is a folder for corpora and indexes. Run removes its files there at the end.
	Work string
	// Clients is the number of clients that ask at the same time. Seconds is the time limit of each pass.
	Clients int
	Seconds float64
	// Limit is the longest time of an engine for one task and size. 0 means no limit. If an engine's time for a smaller
	// size shows that the engine would exceed the limit, Run skips the engine.
	Limit time.Duration
	// Embedder computes the vectors. For TaskWide, wideEmbedder makes them longer.
	Embedder model.Embedder
	// Run calls Progress with the name of each step.
	Progress func(what string)
	// Run calls Step with the report after every engine, so that an interrupted run keeps its results.
	Step func(*Report) error
}

// Row is the result of one engine for one task on one corpus.
type Row struct {
	Peer   string `json:"peer"`   // the name of the engine
	Task   Task   `json:"task"`   // what the queries look for
	Chunks int    `json:"chunks"` // how many chunks the engine indexed
	// Made is how many chunks are made from sentences of other documents.
	Made int `json:"made"`
	// InputBytes is the size of what the engine indexes.
	InputBytes int64   `json:"input_bytes"`
	Result     *Result `json:"result,omitempty"` // what the engine reported; absent when it failed
	Fault      string  `json:"fault,omitempty"`  // why the engine failed
	// These three numbers are the quality of the hits. NaN means that a number does not apply.
	//   - MRR is for queries that are headings: the mean of 1/rank of their chunks, within ten hits.
	//   - Recall is for vectors: the share of the ten nearest vectors that the engine found. Brute force over float32
	//     finds the nearest vectors. A vector as near as the tenth counts too.
	//   - Same is the share of the ten hits of Sheaf's engine that the engine found.
	MRR    float64 `json:"-"`
	Recall float64 `json:"-"`
	Same   float64 `json:"-"`
}

// Report has all measurements of one run.
type Report struct {
	Machine string `json:"machine"`
	Clients int    `json:"clients"`
	Rows    []Row  `json:"rows"`
}

// Run measures the engines, task by task. It measures every engine at every size, Sheaf's engine first. If a peer
// fails, its row has a fault. If Run returns an error, it also returns the report of what it measured before.
func Run(ctx context.Context, o Options) (*Report, error) {
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
			if c := &r.corpora[i]; c.wide == (task == TaskWide) {
				if err := r.measure(ctx, task, c); err != nil {
					return report, err
				}
			}
		}
	}
	return report, nil
}

type run struct {
	Options
	report  *Report
	began   time.Time
	corpora []preparedCorpus
	step    int
	steps   int
}

// preparedCorpus is a corpus in a folder, and the nearest documents of some queries.
type preparedCorpus struct {
	dir            string
	chunks         int
	made           int
	bytes          int64
	vectorBytes    int64
	queries        []Query
	nearestByQuery map[string][]string
	wide           bool // with the longer vectors of TaskWide
}

func (r *run) say(format string, args ...any) {
	r.Progress(fmt.Sprintf("%v, %s", time.Since(r.began).Round(time.Second), fmt.Sprintf(format, args...)))
}

// prepare writes a corpus of n chunks. If the tasks need vectors of two lengths, it writes the corpus twice.
func (r *run) prepare(ctx context.Context, n int) error {
	r.say("corpus of %d chunks", n)
	c, err := readFolders(r.Folders, n)
	if err != nil {
		return err
	}
	for _, e := range []model.Embedder{r.Embedder, wideEmbedder{r.Embedder}} {
		_, wider := e.(wideEmbedder)
		if !slices.ContainsFunc(r.Tasks, func(t Task) bool { return (t == TaskWide) == wider }) {
			continue
		}
		dir, err := os.MkdirTemp(r.Work, fmt.Sprintf("sheaf-bench-%d-", n))
		if err != nil {
			return err
		}
		r.corpora = append(r.corpora, preparedCorpus{dir: dir, chunks: n, made: c.Made, bytes: c.Bytes,
			queries: c.Queries, vectorBytes: 4 * int64(e.Dims()) * int64(n), wide: wider})
		if err := c.Write(dir); err != nil {
			return err
		}
		if r.corpora[len(r.corpora)-1].nearestByQuery, err = r.vectors(ctx, c, dir, e); err != nil {
			return err
		}
	}
	return nil
}

// measure runs a task with every engine on one corpus, and adds the rows to the report.
func (r *run) measure(ctx context.Context, task Task, c *preparedCorpus) error {
	var ours *Result
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
		case errors.Is(err, errNoTask):
			continue
		case err != nil:
			return err
		case row.Result == nil && i == 0:
			return errors.New(row.Fault)
		case i == 0:
			ours = row.Result
		}
		if row.Result != nil {
			row.judge(c.queries, c.nearestByQuery, ours)
		}
		r.report.Rows = append(r.report.Rows, row)
		if err := r.Step(r.report); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a task with one engine, and stops the engine at the time limit. If the engine gives no result, fault says
// why, and the run goes on. err ends the run, unless it is errNoTask.
func (r *run) ask(ctx context.Context, p Peer, task Task, c *preparedCorpus) (result *Result, fault string, err error) {
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
	case errors.Is(err, errNoTask):
		return nil, "", err
	case err != nil:
		return nil, err.Error(), nil
	}
	return result, "", nil
}

// tooLong says why an engine would need more time than the limit, or returns "". It assumes that each chunk takes at
// least as long as in the last smaller corpus.
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

// minJudged is the smallest number of queries for which brute force computes the right answers. In a small corpus,
// brute force answers more queries, until it has computed about maxProducts dot products.
const (
	minJudged   = 100
	maxProducts = 40_000_000
)

// vectors embeds the corpus and writes the vectors. It finds the ten nearest documents for some of c.Queries, evenly
// spaced, by brute force. nearest maps the ID of such a query to the IDs of its documents.
func (r *run) vectors(ctx context.Context, c *Corpus, dir string, e model.Embedder) (nearest map[string][]string,
	err error) {
	m := Meta{Dims: e.Dims(), Documents: len(c.Documents), Queries: len(c.Queries), Clients: r.Clients, Seconds: r.Seconds}
	var documents, queries [][]float32
	if slices.ContainsFunc(r.Tasks, func(t Task) bool { return t != TaskWords }) {
		r.say("vectors of %d chunks, %d dimensions", len(c.Documents), m.Dims)
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
			if rows[i] == nil { // the model does not know it
				rows[i] = make([]float32, m.Dims)
				rows[i][0] = 1
			}
		}
	}
	nearest = map[string][]string{}
	if documents != nil {
		judged := min(len(queries), max(minJudged, maxProducts/max(1, len(documents))))
		r.say("nearest vectors of %d queries by brute force", judged)
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
	return nearest, writeVectors(dir, documents, queries, m)
}

// nearestOf returns the indexes of the k rows with the largest dot products with q. It adds rows whose product equals
// the k-th product. If rows have equal products, the earlier row comes first.
func nearestOf(q []float32, rows [][]float32, k int) []int {
	scores, order := make([]float32, len(rows)), make([]int, len(rows))
	for i, row := range rows {
		order[i] = i
		for j := range q {
			scores[i] += q[j] * row[j]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	end := min(k, len(order))
	for end < len(order) && scores[order[end]] == scores[order[end-1]] {
		end++
	}
	return order[:end]
}

// judge computes the quality of the hits of a row. It counts only queries that the engine ran. nearest maps the IDs of
// some queries to their nearest documents. ours is the result of Sheaf's engine.
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
		if want := ours.Hits[q.ID]; len(want) > 0 {
			same.add(recallOf(want, hits))
		}
	}
	r.MRR, r.Recall, r.Same = found.value(), recall.value(), same.value()
}

// quality is the quality by which engines are compared: the recall for vectors, otherwise the MRR.
func (r *Row) quality() float64 {
	if r.Task.nearest() {
		return r.Recall
	}
	return r.MRR
}

// mean is the mean of values that add adds one by one. Without values, the mean is NaN.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

func (m *mean) value() float64 { return m.sum / float64(m.n) }

// recallOf returns the share of the documents in want that are among the first Top hits in got. want is longer than Top
// if several documents are as near as the last of the Top nearest. Then recallOf divides by Top.
func recallOf(want, got []string) float64 {
	n := 0
	for _, id := range got[:min(len(got), Top)] {
		if slices.Contains(want, id) {
			n++
		}
	}
	return float64(n) / float64(min(len(want), Top))
}

// PeersFolder returns the default folder of peers: the folder bench/bin in dir or in the nearest folder above dir. If
// there is none, it returns "".
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

// wideEmbedder computes vectors with 1.5 times the dimensions of another embedder. From 256 dimensions it makes 384, as
// many as transformers often have. The added part is the first half of the vector of the text's first line.
type wideEmbedder struct{ model.Embedder }

func (w wideEmbedder) Dims() int { return w.Embedder.Dims() + w.Embedder.Dims()/2 }

func (w wideEmbedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	whole, err := w.Embedder.Embed(ctx, purpose, texts)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i], _, _ = strings.Cut(text, "\n")
	}
	first, err := w.Embedder.Embed(ctx, purpose, lines)
	if err != nil {
		return nil, err
	}
	for i, v := range whole {
		if v == nil {
			continue
		}
		v = append(make([]float32, 0, w.Dims()), v...)
		if first[i] != nil {
			v = append(v, first[i][:w.Dims()-len(v)]...)
		}
		whole[i] = unit(v[:w.Dims()])
	}
	return whole, nil
}

// unit scales v to length 1 and overwrites v. The caller must not pass a zero vector.
func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(square))
	}
	return v
}
