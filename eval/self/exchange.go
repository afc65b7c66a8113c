package self

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/eval"
	"sheaf/eval/knownitem"
	"sheaf/eval/stats"
	"sheaf/inference"
	"sheaf/inference/company"
)

// ReadingReport says whether reading words by their company serves a collection.
type ReadingReport struct {
	// Words is how many were learned.
	Words int `json:"words"`
	// Exchanged are queries in which a learned word stands for one that it is
	// read as; Others those of [Evaluate].
	Exchanged Change `json:"exchanged"`
	Others    Change `json:"others"`
	// Better is whether the exchanged queries gain by more than chance, and the
	// others do not lose so.
	Better bool `json:"better"`
}

// Change is a measure without and with the learned words; P is that of the paired
// randomization test, 1 without queries.
type Change struct {
	Queries int     `json:"queries"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	P       float64 `json:"p"`
}

// Read says what the learned words change for a ranking of c, whose model is
// model.
func Read(ctx context.Context, c *eval.Collection, column eval.Column, model company.Weigher, words company.Words, o Options) (*ReadingReport, error) {
	source, err := Source(c)
	if err != nil {
		return nil, err
	}
	others := map[string][]string{}
	for word, friends := range words {
		others[friends[0].Word] = append(others[friends[0].Word], word)
	}
	for _, list := range others {
		slices.Sort(list)
	}
	exchanged, err := knownitem.Exchange(ctx, source, others, o.Queries)
	if err != nil {
		return nil, err
	}
	items, err := knownitem.Make(ctx, source, o.Queries)
	if err != nil {
		return nil, err
	}
	r := &ReadingReport{Words: len(words)}
	with := company.Embedder{Weigher: model, Words: words}
	for _, part := range []struct {
		items []knownitem.Item
		to    *Change
	}{{exchanged, &r.Exchanged}, {items, &r.Others}} {
		if *part.to, err = change(ctx, c, column, part.items, []inference.Embedder{model, with}, o); err != nil {
			return nil, err
		}
	}
	gains := r.Exchanged.After > r.Exchanged.Before && r.Exchanged.P < significance
	loses := r.Others.After < r.Others.Before && r.Others.P < significance
	r.Better = gains && !loses
	return r, nil
}

// change is the measure of items under two models.
func change(ctx context.Context, c *eval.Collection, column eval.Column, items []knownitem.Item, models []inference.Embedder, o Options) (Change, error) {
	d := Dataset(items)
	out := Change{Queries: len(d.Queries), P: 1}
	if out.Queries == 0 {
		return out, nil
	}
	values := make([][]float64, len(models))
	for i, model := range models {
		asked := *c
		asked.Dataset, asked.Embedder = d, model
		run, err := asked.Run(ctx, column, eval.Options{Depth: depth, Plain: true, Workers: 1, Progress: o.Progress})
		if err != nil {
			return out, err
		}
		values[i] = Values(d, run)
	}
	out.Before, out.After = stats.Mean(values[0]), stats.Mean(values[1])
	out.P = stats.Randomization(values[1], values[0], o.Statistics.Rounds, o.Statistics.Seed)
	return out, nil
}

// LearnWords learns the words of c that model does not know.
func LearnWords(c *eval.Collection, model inference.Knower) company.Words {
	return company.Learn(company.Source{Split: c.Analyzer.Words, Known: model.Known, Texts: func(yield func(string, string) bool) {
		for id := range c.View.Files() {
			doc, ok := c.View.Document(id)
			if !ok {
				continue
			}
			text, err := c.View.Text(id)
			if err == nil && !yield(sheaf.PathText(doc.Path), string(text)) {
				return
			}
		}
	}})
}
