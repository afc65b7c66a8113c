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

	"sheaf"
	"sheaf/inference"
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
	// Embedder makes the vectors.
	Embedder inference.Embedder
	// Progress is told what runs, and may be nil.
	Progress func(what string)
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
	// vectors, by float32 and brute force, that was found; Same the share of
	// our own engine's ten that was found too. NaN is not applicable.
	MRR    float64 `json:"-"`
	Recall float64 `json:"-"`
	Same   float64 `json:"-"`
}

// Report is everything that was measured in one run.
type Report struct {
	Machine string `json:"machine"`
	Rows    []Row  `json:"rows"`
}

// Run measures every task on every size with every engine, ours first. A peer
// that fails is a row that says so.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	for _, n := range o.Sizes {
		if n < 100 || n > 10_000_000 {
			return nil, sheaf.Invalidf("%d chunks: must be within 100..10000000", n)
		}
	}
	report := &Report{Machine: fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())}
	for _, n := range o.Sizes {
		if err := o.size(ctx, n, report); err != nil {
			return report, err
		}
	}
	return report, nil
}

func (o *Options) size(ctx context.Context, n int, report *Report) error {
	dir, err := os.MkdirTemp(o.Work, fmt.Sprintf("sheaf-bench-%d-", n))
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	o.Progress(fmt.Sprintf("corpus of %d chunks", n))
	c, err := ReadFolders(o.Folders, n)
	if err != nil {
		return err
	}
	if err := c.Write(dir); err != nil {
		return err
	}
	nearest, err := o.vectors(ctx, c, dir)
	if err != nil {
		return err
	}
	queries, made, textBytes := c.Queries, c.Made, c.Bytes
	c = nil // engines want the memory
	dims := o.Embedder.Dims()
	for _, task := range o.Tasks {
		var ours *Result
		for i, p := range append([]Peer{o.Ours}, o.Peers...) {
			o.Progress(fmt.Sprintf("%d chunks, %s: %s", n, task, p.Name))
			r, err := p.Run(ctx, dir, task)
			if errors.Is(err, ErrNoTask) {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			row := Row{Peer: p.Name, Task: task, Chunks: n, Made: made, Result: r, MRR: math.NaN(), Recall: math.NaN(), Same: math.NaN()}
			if task != TaskVectors {
				row.InputBytes += textBytes
			}
			if task != TaskWords {
				row.InputBytes += int64(4 * dims * n)
			}
			if err != nil {
				row.Fault, row.Result = err.Error(), nil
				if i == 0 {
					return err
				}
			} else {
				if i == 0 {
					ours = r
				}
				row.judge(queries, nearest, ours)
			}
			report.Rows = append(report.Rows, row)
		}
	}
	return nil
}

// vectors embeds the corpus and finds the ten nearest of every query by brute
// force.
func (o *Options) vectors(ctx context.Context, c *Corpus, dir string) (nearest map[string][]string, err error) {
	m := Meta{Dims: o.Embedder.Dims(), Documents: len(c.Documents), Queries: len(c.Queries), Clients: o.Clients, Seconds: o.Seconds}
	var documents, queries [][]float32
	if slices.ContainsFunc(o.Tasks, func(t Task) bool { return t != TaskWords }) {
		o.Progress(fmt.Sprintf("vectors of %d chunks", len(c.Documents)))
		texts := make([]string, len(c.Documents))
		for i := range c.Documents {
			texts[i] = c.Documents[i].Title + "\n" + c.Documents[i].Text
		}
		if documents, err = o.Embedder.Embed(ctx, inference.Passage, texts); err != nil {
			return nil, err
		}
	}
	texts := make([]string, len(c.Queries))
	for i := range c.Queries {
		texts[i] = c.Queries[i].Text
	}
	if queries, err = o.Embedder.Embed(ctx, inference.Query, texts); err != nil {
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
		o.Progress("nearest vectors by brute force")
		for i, q := range queries {
			for _, d := range nearestOf(q, documents, Top) {
				nearest[c.Queries[i].ID] = append(nearest[c.Queries[i].ID], c.Documents[d].ID)
			}
		}
	}
	return nearest, WriteVectors(dir, documents, queries, m)
}

// nearestOf are the k rows with the largest dot product, the earlier of equals
// first.
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
		if len(best) == k && s.score <= best[k-1].score {
			continue
		}
		at := len(best)
		for at > 0 && best[at-1].score < s.score {
			at--
		}
		best = slices.Insert(best, at, s)
		best = best[:min(len(best), k)]
	}
	out := make([]int, len(best))
	for i, s := range best {
		out[i] = s.row
	}
	return out
}

// judge says how good the hits are.
func (r *Row) judge(queries []Query, nearest map[string][]string, ours *Result) {
	known, found := 0, 0.0
	recall, same, asked := 0.0, 0.0, 0
	for _, q := range queries {
		hits := r.Result.Hits[q.ID]
		if q.Known != "" {
			known++
			if i := slices.Index(hits, q.Known); i >= 0 {
				found += 1 / float64(i+1)
			}
		}
		recall += share(nearest[q.ID], hits)
		if len(ours.Hits[q.ID]) > 0 {
			same += share(ours.Hits[q.ID], hits)
			asked++
		}
	}
	if known > 0 && r.Task != TaskVectors {
		r.MRR = found / float64(known)
	}
	if r.Task == TaskVectors {
		r.Recall = recall / float64(max(len(queries), 1))
	}
	r.Same = same / float64(max(asked, 1))
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

// PeersFolder is the folder of peers when nobody names one: bench/bin in the
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
