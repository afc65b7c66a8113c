package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sheaf/eval"
	"sheaf/eval/confidence"
)

// These are columns of the tables: the default ranking, and the default ranking of an older program.
const (
	usual = "sheaf"
	old   = "old"
)

var columns = []string{usual, "words", "meaning", "bm25", old}

// result has the measurements of a set.
type result struct {
	set
	values map[string]float64 // of the measure of the set, by column
	p50    map[string]float64 // milliseconds, by column
	// signs is, by column, 1 if the default ranking is better than the column, and -1 if it is worse. It is 0 unless both
	// paired tests find a difference at 5 %.
	signs   map[string]int
	classes map[string]map[string]class // by class and column
}

type class struct {
	queries int
	value   float64
}

// measure returns the measure of a set.
func (s *set) measure() string {
	switch s.kind {
	case notes:
		return "nDCG@5"
	case across:
		return "R@10"
	}
	return "nDCG@10"
}

// readResults reads the results of sets from a folder.
func readResults(folder string, sets []set) ([]result, error) {
	var all []result
	for _, s := range sets {
		r := result{set: s}
		found, err := readDatasets[eval.Report](filepath.Join(folder, "sets", s.key()+".json"))
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d data sets; want one", len(found))
		}
		if err == nil {
			err = r.read(&found[0])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.key(), err)
		}
		// The column of a run has no latency. The older program measured its own latency.
		older, err := readDatasets[eval.Report](filepath.Join(folder, "old", s.key()+".json"))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: %w", s.key(), err)
		case len(older) == 1 && len(older[0].Columns) == 1 && older[0].Columns[0].Latency != nil:
			r.p50[old] = older[0].Columns[0].Latency.P50
		}
		all = append(all, r)
	}
	return all, nil
}

// readDatasets reads the data sets in the JSON output of sheaf eval.
func readDatasets[T any](file string) ([]T, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var in struct {
		Datasets []T `json:"datasets"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return in.Datasets, nil
}

func (r *result) read(d *eval.Report) error {
	at := slices.Index(d.Measures, r.measure())
	if at < 0 {
		return fmt.Errorf("no measure %s", r.measure())
	}
	r.values, r.p50, r.signs = map[string]float64{}, map[string]float64{}, map[string]int{}
	r.classes = map[string]map[string]class{}
	names := map[string]string{}
	for i := range d.Columns {
		c := &d.Columns[i]
		if at >= len(c.Scores) {
			return fmt.Errorf("column %s has %d scores", c.Name, len(c.Scores))
		}
		name := c.Profile
		if c.Latency == nil {
			name = old
		} else {
			r.p50[name] = c.Latency.P50
		}
		names[c.Name] = name
		r.values[name] = c.Scores[at].Mean
		for _, k := range c.Classes {
			if r.classes[k.Class] == nil {
				r.classes[k.Class] = map[string]class{}
			}
			r.classes[k.Class][name] = class{k.Queries, k.Means[at]}
		}
	}
	for _, c := range d.Comparisons {
		if c.Measure != r.measure() || c.TTest >= 0.05 || c.Randomization >= 0.05 {
			continue
		}
		r.signs[names[c.Column]] = 1
		if c.Difference > 0 { // the other column is better
			r.signs[names[c.Column]] = -1
		}
	}
	return nil
}

// lead returns the default's value minus the value of a column. ok is false if the set lacks the column.
func (r *result) lead(name string) (by float64, ok bool) {
	value, ok := r.values[name]
	return r.values[usual] - value, ok
}

// quality says how well a calibration fitted to other sets fits this set.
type quality struct {
	Dataset string `json:"dataset"`
	confidence.Quality
}

// readConfidence reads the output of sheaf eval confidence. If there is none, it returns nil.
func readConfidence(folder string, sets []set) ([]quality, error) {
	all, err := readDatasets[quality](filepath.Join(folder, "confidence.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for i := range all {
		for _, s := range sets {
			if s.path == all[i].Dataset && s.kind != inPages {
				all[i].Dataset = s.key()
			}
		}
	}
	return all, err
}
