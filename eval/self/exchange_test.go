package self_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/backend/memory"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/knownitem"
	"sheaf/eval/self"
	"sheaf/inference"
	"sheaf/inference/company"
	"sheaf/inference/static/english"
)

// jargon is a folder in which six notes say that k8s is kubernetes, and others
// speak of kubernetes alone.
func jargon(t *testing.T, model *english.Embedder) *eval.Collection {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range []string{"Monday\n\nKubernetes (k8s) took a whole morning.", "Disks\n\nOur k8s, kubernetes that is, needs more of them.",
		"Certificates\n\nRenewed for kubernetes and everything else on k8s.", "Memory\n\nMost of it goes to k8s: kubernetes is hungry.",
		"Lunch\n\nThey talked of nothing but kubernetes or k8s.", "Costs\n\nRented servers are dearer than kubernetes, even with k8s courses."} {
		write(fmt.Sprintf("diary%d.md", i), "# "+text+"\n")
	}
	for i, s := range subjects {
		write(s+".md", fmt.Sprintf("# About %[1]s\n\nWhoever walks past the old %[1]s in autumn will notice how quietly the colours change there.\n", s))
		write(s+"-map.md", fmt.Sprintf("# Map of %[1]s\n\nThe warden drew paths, gates and benches, and sells it at the kiosk.\n", s))
		if i < 10 {
			write(s+"-ship.md", fmt.Sprintf("# Shipping %[1]s\n\nThe team for %[1]s moved every machine behind kubernetes before the long winter came.\n", s))
		}
	}
	c, err := eval.Open(context.Background(), &dataset.Dataset{Name: "jargon", Folder: dir}, eval.Indexing{Cache: t.TempDir(), Language: "en", Embedder: model,
		Store: eval.Store{Name: "memory", Fleeting: true, Open: func(_ string, a *analysis.Analyzer, _ inference.Embedder) (backend.Backend, error) {
			return memory.New(a), nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestRead(t *testing.T) {
	model, err := english.New()
	if err != nil {
		t.Fatal(err)
	}
	c := jargon(t, model)
	words := self.LearnWords(c, model)
	if len(words["k8s"]) == 0 || words["k8s"][0].Word != "kubernetes" {
		t.Fatalf("learned %v", words)
	}
	o := self.Options{Queries: knownitem.Options{PerKind: 12, Seed: 1}, Statistics: eval.Statistics{Confidence: 0.95, Rounds: 1000, Seed: 1}}
	r, err := self.Read(context.Background(), c, columns(t, "sheaf")[0], model, words, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Words != len(words) || r.Exchanged.Queries < 6 || r.Others.Queries < 20 || r.Exchanged.Before == r.Exchanged.After {
		t.Errorf("%+v", r)
	}
	if want := r.Exchanged.After > r.Exchanged.Before && r.Exchanged.P < 0.05 && !(r.Others.After < r.Others.Before && r.Others.P < 0.05); r.Better != want {
		t.Errorf("%+v: better, want %v", r, want)
	}
	// A wrong reading of a word is found out: it does not gain.
	wrong := company.Words{"k8s": {{Word: "kubernetes", Share: 0.01}, {Word: "colours", Share: 0.99}}}
	if w, err := self.Read(context.Background(), c, columns(t, "sheaf")[0], model, wrong, o); err != nil || w.Better || w.Exchanged.After >= w.Exchanged.Before {
		t.Errorf("wrong words: %+v, %v", w, err)
	}
	if none, err := self.Read(context.Background(), c, columns(t, "sheaf")[0], model, nil, o); err != nil || none.Better || none.Exchanged.Queries != 0 || none.Others.Before != none.Others.After {
		t.Errorf("without words: %+v, %v", none, err)
	}
}

// TestExchange: the word that stands for another one is in the query and nowhere in
// the document, the other one not in the query.
func TestExchange(t *testing.T) {
	model, err := english.New()
	if err != nil {
		t.Fatal(err)
	}
	c := jargon(t, model)
	source, err := self.Source(c)
	if err != nil {
		t.Fatal(err)
	}
	items, err := knownitem.Exchange(context.Background(), source, map[string][]string{"kubernetes": {"k8s"}}, knownitem.Options{PerKind: 20, Seed: 1})
	if err != nil || len(items) < 6 {
		t.Fatalf("%d queries, %v", len(items), err)
	}
	for _, item := range items {
		text, err := c.View.Text(item.Doc)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(item.Text, "k8s") || strings.Contains(item.Text, "kubernetes") || strings.Contains(strings.ToLower(string(text)), "k8s") || item.Target == "" || item.Kind != knownitem.Exchanged {
			t.Errorf("%+v", item)
		}
	}
}
