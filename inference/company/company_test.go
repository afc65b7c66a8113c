package company_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"sheaf/inference"
	"sheaf/inference/company"
	"sheaf/inference/static/english"
)

func split(text string, yield func(start, end int) bool) {
	start := -1
	for i, r := range text + " " {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case word && start < 0:
			start = i
		case !word && start >= 0:
			if !yield(start, i) {
				return
			}
			start = -1
		}
	}
}

// text is many words of which n windows say that k8s is kubernetes.
func texts(n int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	common := strings.Fields("network storage report engine window letter garden signal market bridge random people system number paper music river stone cloud table")
	out := map[string]string{}
	for d := range 40 {
		var b strings.Builder
		for range 300 {
			b.WriteString(common[r.IntN(len(common))] + " ")
		}
		if d < n {
			b.WriteString("We upgrade the kubernetes cluster, k8s for short, with care. ")
		}
		for range 300 {
			b.WriteString(common[r.IntN(len(common))] + " ")
		}
		out[fmt.Sprintf("note%02d.md", d)] = b.String()
	}
	return out
}

func learn(t testing.TB, docs map[string]string) company.Words {
	t.Helper()
	e, err := english.New()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range docs {
		names = append(names, name)
	}
	slices.Sort(names)
	return company.Learn(company.Source{Split: split, Known: e.Known, Texts: func(yield func(string, string) bool) {
		for _, name := range names {
			if !yield(name, docs[name]) {
				return
			}
		}
	}})
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestK8s(t *testing.T) {
	words := learn(t, texts(8))
	friends := words["k8s"]
	if !slices.ContainsFunc(friends, func(f company.Friend) bool { return f.Word == "kubernetes" || f.Word == "cluster" }) {
		t.Fatalf("k8s is read as %+v; learned %v", friends, words)
	}
	sum := 0.0
	for _, f := range friends {
		sum += f.Share
		if f.Together < 3 || !strings.HasPrefix(f.Where, "note") {
			t.Errorf("friend %+v", f)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("shares sum to %v", sum)
	}

	model, err := english.New()
	if err != nil {
		t.Fatal(err)
	}
	e := company.Embedder{Weigher: model, Words: words}
	vector := func(m inference.Embedder, p inference.Purpose, text string) []float32 {
		v, err := m.Embed(context.Background(), p, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		return v[0]
	}
	passage := vector(model, inference.Passage, "upgrading a cluster of machines for containers")
	before, after := cosine(vector(model, inference.Query, "K8s?"), passage), cosine(vector(e, inference.Query, "K8s?"), passage)
	if after < before+0.1 {
		t.Errorf("the cosine of k8s to a passage about clusters is %.3f, and was %.3f", after, before)
	}
	if got, was := e.Known("k8s"), model.Known("k8s"); got != 1 || was >= 0.7 {
		t.Errorf("the known share of k8s is %v, and was %v", got, was)
	}
	if notes := e.Reads("upgrade K8s"); len(notes) != 1 || !strings.Contains(notes[0], "because they occur together") {
		t.Errorf("notes %q", notes)
	}
	// Passages, and queries without such a word, are read as before.
	for _, c := range []struct {
		purpose inference.Purpose
		text    string
	}{{inference.Passage, "k8s"}, {inference.Query, "upgrade a cluster"}} {
		if !slices.Equal(vector(e, c.purpose, c.text), vector(model, c.purpose, c.text)) {
			t.Errorf("%q changed", c.text)
		}
	}
}

// TestNothingToLearn: words that stand with every word, or too rarely, are not read
// as anything, and odd texts do no harm.
func TestNothingToLearn(t *testing.T) {
	for name, docs := range map[string]map[string]string{
		"too rare":    texts(2),
		"nothing":     {},
		"empty":       {"a.md": ""},
		"one word":    {"a.md": strings.Repeat("zzyzx ", 1000)},
		"one text":    {"a.md": strings.Repeat("zzyzx road ", 1000)},
		"broken":      {"a.md": strings.Repeat("\xff\xfe k8s \x00", 100)},
		"long word":   {"a.md": strings.Repeat("x", 1<<20)},
		"no letters":  {"a.md": strings.Repeat("12345 6789 ", 1000)},
		"other words": {"a.md": strings.Repeat("検索の仕組み ", 1000)},
	} {
		if words := learn(t, docs); len(words["k8s"])+len(words["zzyzx"]) > 0 {
			t.Errorf("%s: %v", name, words)
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	docs := texts(8)
	size := 0
	for _, text := range docs {
		size += len(text)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		learn(b, docs)
	}
}
