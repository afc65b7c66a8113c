package main

import (
	"bufio"
	"strings"
	"testing"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/collection"
	"sheaf/search"
)

// TestParityCells checks a stage that only one way of counting runs: later stages keep their
// numbers, and all rows have the same number of cells.
func TestParityCells(t *testing.T) {
	r := sheaf.Ranking{{ID: "t:a", Score: 2}, {ID: "t:b", Score: 1}}
	fuse, relax, answer := search.Snapshot{Step: "fuse", Ranking: r}, search.Snapshot{Step: "relax", Ranking: r},
		search.Snapshot{Step: finalStage, Ranking: r}
	engine := &askedStore{address: collection.EngineStore, answers: map[string][]answered{
		config.BM25Exact:  {{trace: []search.Snapshot{fuse, answer}}},
		config.BM25Lucene: {{trace: []search.Snapshot{fuse, relax, answer}}}}}
	server := &askedStore{address: "opensearch://host/notes", answers: map[string][]answered{
		config.BM25Exact: {{trace: []search.Snapshot{fuse, relax, answer}}}}}
	compared := compareCounted([]string{"tea"}, engine, server)
	var exact []string
	for _, s := range compared.Stages {
		exact = append(exact, s.Stage+" "+s.ExactText())
	}
	if got, want := strings.Join(exact, ", "), "fuse 1.0000, relax -, answer 1.0000"; got != want {
		t.Errorf("exact: %s, want %s", got, want)
	}
	var out strings.Builder
	a := &app{streams: streams{stdout: bufio.NewWriter(&out)}}
	a.printParity(&parityJSON{Stores: []*parityStoreJSON{compared}})
	a.stdout.Flush()
	for line := range strings.Lines(out.String()) {
		if name, _, _ := strings.Cut(line, " "); name == "fuse" || name == "relax" {
			if got := len(strings.Fields(line)); got != 9 { // the last cell is empty
				t.Errorf("%d cells in %q, want 9", got, line)
			}
		}
	}
}
