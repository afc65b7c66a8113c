package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes files into a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func data(t *testing.T) string {
	t.Helper()
	return write(t, map[string]string{
		"INDEX.tsv": "name\tkind\tlanguage\tqueries\tsplit\n" +
			"links-a\tlinks\ten\t4\tdev\nlinks-b\tlinks\tde\t4\tdev\n" +
			"links-c\tlinks\ten\t4\theld\nlinks-gone\tlinks\ten\t4\tdev\n",
		"links-a/qrels/test.tsv":     "",
		"links-a/qrels/sections.tsv": strings.Repeat("q\tpage\t1\theading\n", 21),
		"links-b/qrels/sections.tsv": strings.Repeat("q\tpage\t1\theading\n", 20),
		"links-b/qrels/test.tsv":     "",
		"links-c/qrels/test.tsv":     "",
		"xquad/zh/qrels/test.tsv":    "",
		"unknown/qrels/test.tsv":     "",
	})
}

func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSets(t *testing.T) {
	dir := data(t)
	mine := write(t, map[string]string{"INDEX.tsv": "name\tsplit\nmine\theld\n", "mine/queries.yaml": ""})
	got := strings.ReplaceAll(printed(t, "sets", "dev", dir), dir+string(filepath.Separator), "")
	want := "links-a\tlinks-a\ttest\nlinks-a+sections\tlinks-a\tsections\nlinks-b\tlinks-b\ttest\n" +
		"xquad+zh\t" + filepath.FromSlash("xquad/zh") + "\ttest\n"
	if got != want {
		t.Errorf("dev:\n%s\nwant:\n%s", got, want)
	}
	got = printed(t, "sets", "held", dir, mine)
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, filepath.Join(mine, "mine", "queries.yaml")) {
		t.Errorf("held:\n%s", got)
	}
}

// printedJSON is a shortened output of sheaf eval for a set. words and old are the means of these
// columns. words differs from the default in both tests, old in one test.
const printedJSON = `{"datasets": [{"measures": ["RR@10", "nDCG@10"],
"columns": [
 {"name": "sheaf", "profile": "sheaf", "scores": [{"mean": 0}, {"mean": 0.7}], "latency_ms": {"p50": 3},
  "classes": [{"class": "none", "queries": 3, "means": [0, 0.5]}]},
 {"name": "a/words.yaml", "profile": "words", "scores": [{"mean": 0}, {"mean": WORDS}], "latency_ms": {"p50": 2},
  "classes": [{"class": "none", "queries": 3, "means": [0, 0.25]}]},
 {"name": "a/meaning.yaml", "profile": "meaning", "scores": [{"mean": 0}, {"mean": 0.5}], "latency_ms": {"p50": 1}},
 {"name": "run sheaf", "profile": "", "scores": [{"mean": 0}, {"mean": 0.72}]}],
"comparisons": [
 {"measure": "RR@10", "column": "a/meaning.yaml", "difference": 0.2, "p_t_test": 0.01, "p_randomization": 0.01},
 {"measure": "nDCG@10", "column": "a/words.yaml", "difference": DIFFERENCE, "p_t_test": 0.01, "p_randomization": 0.04},
 {"measure": "nDCG@10", "column": "run sheaf", "difference": 0.02, "p_t_test": 0.01, "p_randomization": 0.06}]}]}`

func TestTables(t *testing.T) {
	dir := data(t)
	better := strings.NewReplacer("WORDS", "0.6", "DIFFERENCE", "-0.1").Replace(printedJSON)
	worse := strings.NewReplacer("WORDS", "0.75", "DIFFERENCE", "0.05").Replace(printedJSON)
	results := write(t, map[string]string{
		"sets/links-a.json": better, "sets/links-a+sections.json": worse, "sets/links-b.json": worse,
		"sets/xquad+zh.json": better,
		"old/links-a.json":   `{"datasets": [{"columns": [{"name": "sheaf", "latency_ms": {"p50": 1.5}}]}]}`,
		"confidence.json": `{"datasets": [{"dataset": "` + filepath.Join(dir, "links-b") + `", "questions": 10, "right": 5,
			"first_error": 0.1, "error": 0.2, "brier": 0.3, "found": {"queries": 8, "answerable": 6},
			"unanswerable": {"queries": 4, "answerable": 1}}]}`,
	})
	got := printed(t, "tables", results, "dev", dir)
	for _, want := range []string{
		"| kind | sets | sheaf | words | meaning | old | against words | against meaning | against old |",
		"| links | 1 | 0.7000 | 0.6000 | 0.5000 | 0.7200 | 1, 0 | 0, 0 | 0, 0 |",
		"| sections in pages | 1 | 0.7000 | 0.7500 | 0.5000 | 0.7200 | 0, 1 | 0, 0 | 0, 0 |",
		"| **mean over kinds** | 2 | **0.7000** | **0.6750** | **0.5000** | **0.7200** | **1, 1** | **0, 0** | **0, 0** |",
		"| the better of words and meaning | links-a+sections | -0.0500 |",
		"| old | links-a | -0.0200 |",
		"| links-b | de | 0.7000 | 0.7500* | 0.5000 | 0.7200 | -0.0500 |",
		"| none | 3 | 0.5000 | 0.2500 | 0.0000 | 0.0000 |",
		"| links-a+sections | sections in pages | words | -0.0500* |\n| links-b | links | words | -0.0500* |",
		"| links-a | links | old | -0.0200 |",
		"| sheaf | 1.50 | 1.50 |",
		"| old | 0.75 | 0.75 |",
		"| links-b | 10 | 50.0 % | 0.100 | 0.200 | 0.300 | 75.0 % | 25.0 % |",
		"| xquad+zh | 0.7000 | 0.6000* | 0.5000 | 0.7200 |",
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no line %s in:\n%s", want, got)
		}
	}
}

// TestAcross checks that a translation of an English set gives two sets, and one row of the table.
func TestAcross(t *testing.T) {
	dir := write(t, map[string]string{
		"xquad/en/qrels/test.tsv": "q\td\t1\n", "xquad/en/corpus.jsonl": "English texts",
		"xquad/en/queries.jsonl":  "English questions",
		"xquad/zh/qrels/test.tsv": "q\td\t1\n", "xquad/zh/corpus.jsonl.gz": "Chinese texts",
		"xquad/zh/queries.jsonl":  "Chinese questions",
		"xquad/de/qrels/test.tsv": "q\tother\t1\n", "adi/qrels/test.tsv": "q\td\t1\n",
	})
	out := filepath.Join(t.TempDir(), "across")
	if got := printed(t, "across", out, "dev", dir); got != "" {
		t.Errorf("printed %q", got)
	}
	for name, want := range map[string]string{
		"xquad-zh-over-en/corpus.jsonl": "English texts", "xquad-zh-over-en/queries.jsonl": "Chinese questions",
		"xquad-en-over-zh/corpus.jsonl.gz": "Chinese texts", "xquad-en-over-zh/queries.jsonl": "English questions",
	} {
		if got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name))); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got := printed(t, "sets", "dev", out); strings.Count(got, "\n") != 2 ||
		!strings.HasPrefix(got, "xquad-zh-over-en\t") {
		t.Errorf("sets:\n%s", got)
	}
	result := func(recall string) string {
		return `{"datasets": [{"measures": ["nDCG@10", "R@10"], "columns": [
			{"name": "sheaf", "profile": "sheaf", "scores": [{"mean": 0}, {"mean": ` + recall + `}], "latency_ms": {"p50": 3}},
			{"name": "words", "profile": "words", "scores": [{"mean": 0}, {"mean": 0.25}], "latency_ms": {"p50": 3}},
			{"name": "meaning", "profile": "meaning", "scores": [{"mean": 0}, {"mean": 0.75}], "latency_ms": {"p50": 3}}]}]}`
	}
	results := write(t, map[string]string{"sets/xquad-zh-over-en.json": result("0.5"),
		"sets/xquad-en-over-zh.json": result("0.625")})
	got := printed(t, "tables", results, "dev", out)
	for _, name := range []string{"zh", "**mean**"} {
		if want := "| " + name + " | 0.5000 | 0.2500 | 0.7500 | 0.6250 | 0.2500 | 0.7500 |\n"; !strings.Contains(got, want) {
			t.Errorf("no line %s in:\n%s", want, got)
		}
	}
}

func TestRefused(t *testing.T) {
	dir := data(t)
	results := write(t, map[string]string{"sets/links-c.json": `{"datasets": []}`})
	for _, args := range [][]string{
		{}, {"sets", "dev"}, {"sets", "other", dir}, {"sets", "dev", t.TempDir()},
		{"tables", results, "dev", dir}, {"tables", results, "held", dir},
	} {
		if err := run(args, &strings.Builder{}); err == nil {
			t.Errorf("no error of %q", args)
		}
	}
}
