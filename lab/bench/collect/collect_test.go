package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository creates a git repository of commits. A commit is an author, a subject and files.
func repository(t *testing.T, commits ...[]string) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_COMMITTER_NAME=tester", "GIT_COMMITTER_EMAIL=tester@example.org",
			"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	for _, c := range commits {
		for i := 2; i+1 < len(c); i += 2 {
			name := filepath.Join(dir, filepath.FromSlash(c[i]))
			if c[i+1] == "" {
				git("rm", "-q", c[i])
				continue
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(c[i+1]), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "--author", c[0]+" <a@example.org>", "-m", c[1])
	}
	return filepath.Join(dir, ".git")
}

func collected(t *testing.T, kind, git, under string) *collection {
	t.Helper()
	c, err := makers[kind](&options{kind: kind, git: git, under: under, queries: 500, records: 12000})
	if err != nil {
		t.Fatal(err)
	}
	c.sort()
	return c
}

// judged returns each query with its relevant records.
func judged(c *collection) []string {
	var out []string
	for _, q := range c.queries {
		out = append(out, q.Text+" -> "+strings.Join(q.relevant, ", "))
	}
	return out
}

func (c *collection) text(id string) string {
	for _, r := range c.records {
		if r.ID == id {
			return r.Text
		}
	}
	return ""
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestLinks(t *testing.T) {
	git := repository(t, []string{"a", "first",
		"docs/index.md", "# Welcome\n\nRead [how snapshots are stored](guide/storage.md#snapshots) and " +
			"[here](guide/storage.md).\nSee [Upgrade plan][up] or [`rest api` tokens](guide/api.md).\n\n" +
			"[up]: /guide/upgrade/\n\n```\n[code link words](guide/storage.md)\n```\n",
		"docs/guide/storage.md", "---\ntitle: Storage engine\n---\n\nFrom the [old release plan](upgrade.html) or " +
			"[how snapshots are stored](https://example.org). [[upgrade|wiki style words]] ![an image text](x.png)\n",
		"docs/guide/upgrade.md", "# Upgrade plan\n\nStop the server first, then start the new version.\n",
		"docs/guide/api.md", "# Interface\n\nSend a bearer token with every call of the server.\n",
		"README.md", "# Read me\n\n[Storage engine internals](docs/guide/storage.md) of the server.\n"})
	c := collected(t, "links", git, "docs/")
	equal(t, judged(c), []string{
		"Upgrade plan -> guide/upgrade.md",
		"how snapshots are stored -> guide/storage.md",
		"old release plan -> guide/upgrade.md",
		"rest api tokens -> guide/api.md",
		"wiki style words -> guide/upgrade.md",
	})
	class := map[string]string{}
	for _, q := range c.queries {
		class[q.Text] = q.Metadata.Class
	}
	if class["Upgrade plan"] != "title" || class["old release plan"] != "low" || class["wiki style words"] != "none" {
		t.Errorf("classes %v", class)
	}
	if want := "# Welcome\n\nRead  and [here](guide/storage.md).\nSee  or .\n\n\n" +
		"```\n[code link words](guide/storage.md)\n```\n"; c.text("index.md") != want {
		t.Errorf("got %q, want %q", c.text("index.md"), want)
	}
	if s := c.text("guide/storage.md"); strings.Contains(s, "snapshots") || strings.Contains(s, "wiki") ||
		!strings.Contains(s, "an image text") {
		t.Errorf("links remain, or an image is gone: %q", s)
	}
}

func TestLinkTextsThatAreDropped(t *testing.T) {
	body := " holds enough words to be a page of its own.\n"
	git := repository(t, []string{"a", "first",
		"a.md", "# A\n\n[many target words](b.md) [outside words here](https://example.org/x) [outside words here](b.md) " +
			"[outside words here](https://example.org/y) [next page](b.md) [single](b.md) [to this page](#a) " +
			"[see `b.md`](b.md) [first kept words](b.md)\n",
		"b.md", "# B\n\n[many target words](c.md)" + body,
		"c.md", "# C\n\n[many target words](a.md)" + body,
		"CHANGELOG.md", "# Changes\n\n[words of a change](b.md)" + body})
	equal(t, judged(collected(t, "links", git, "")), []string{"first kept words -> b.md"})
}

func TestSubjects(t *testing.T) {
	page := "# Retry policy\n\nA client waits before it sends a failed request again. Exponential backoff doubles the " +
		"wait. Jitter spreads clients. The upload limit is ten files.\n"
	git := repository(t,
		[]string{"ann", "docs: explain exponential backoff of clients (#12)", "docs/retry.md", page, "x.go", "package x\n"},
		[]string{"ann", "fix typo in exponential backoff jitter", "docs/retry.md", page + "1\n"},
		[]string{"dependabot[bot]", "limit upload of failed requests", "docs/retry.md", page + "2\n"},
		[]string{"ann", "describe jitter, backoff and waits everywhere", "docs/retry.md", page + "3\n",
			"docs/other.md", page},
		[]string{"ann", "update page", "docs/retry.md", page + "4\n"},
		[]string{"ann", "cover orchards, meadows and rivers", "docs/retry.md", page + "5\n"},
		[]string{"ann", "document upload limit of clients", "docs/gone.md", page},
		[]string{"ann", "remove", "docs/gone.md", ""},
		[]string{"ann", "state the upload file limit", "docs/old.md", page + "6\n"},
		[]string{"ann", "move", "docs/old.md", "", "docs/new.md", page + "6\n"},
	)
	equal(t, judged(collected(t, "subjects", git, "docs/")), []string{
		"explain exponential backoff of clients -> retry.md",
		"state the upload file limit -> new.md",
	})
}

func TestSubjectsNeedHistory(t *testing.T) {
	git := repository(t, []string{"ann", "one", "a.md", "one two three four five six\n"},
		[]string{"ann", "explain exponential backoff of clients", "a.md", "clients with exponential backoff wait longer\n"})
	shallow := filepath.Join(t.TempDir(), "shallow.git")
	clone := exec.Command("git", "clone", "-q", "--bare", "--depth=1", "file://"+git, shallow)
	out, err := clone.CombinedOutput()
	if err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	equal(t, judged(collected(t, "subjects", git, "")), []string{"explain exponential backoff of clients -> a.md"})
	equal(t, judged(collected(t, "subjects", shallow, "")), nil)
}

func TestCleanSubject(t *testing.T) {
	for in, want := range map[string]string{
		"docs(api): add retry limits (#123)":      "add retry limits",
		"[docs] fix: add retry limits. [ci skip]": "add retry limits",
		"Docs - add `retry` limits, closes #9":    "add retry limits",
		":memo: owner/repo#12 add retry limits":   "add retry limits",
		"docs/Some-Page: add retry limits":        "add retry limits",
		"docs(x) add retry limits (fixes #12)":    "add retry limits",
		"add retry limits (see note)":             "add retry limits (see note)",
		"say what a client sees":                  "say what a client sees",
	} {
		if got := cleanSubject(in); got != want {
			t.Errorf("cleanSubject(%q) = %q, want %q", in, got, want)
		}
	}
}

const long = "The server keeps every upload until a worker copies its blocks to cold storage, " +
	"checks their sums and removes the original file from disk.\n\n"

func TestQuestions(t *testing.T) {
	git := repository(t, []string{"a", "first",
		"faq.md", "# Questions\n\n" + long + "- [How long are uploads kept?](#x)\n\n" +
			"## How long are uploads kept?\n\n" + long +
			"## What's next?\n\n" + long + "## Who may delete?\n\nOwners.\n\n## Limits\n\n" + long +
			"```\n## Is this code?\n```\n",
		"more.md", "---\ntitle: More\n---\n" + long + "### Can workers run twice?\n\n" + long +
			"## Why uploads fail {#why}\n\n" +
			long + "## Uploads ?\n\n" + long})
	c := collected(t, "questions", git, "")
	equal(t, judged(c), []string{
		"Can workers run twice? -> more.md#s1",
		"How long are uploads kept? -> faq.md#s1",
		"Why uploads fail -> more.md#s2",
	})
	if s := c.text("faq.md#s1"); s != strings.TrimSpace(long) {
		t.Errorf("the heading remains: %q", s)
	}
	if s := c.text("faq.md#s0"); strings.Contains(s, "How long") || !strings.HasPrefix(s, "# Questions") {
		t.Errorf("a link with the heading's words remains: %q", s)
	}
	if s := c.text("faq.md#s4"); !strings.HasPrefix(s, "## Limits") {
		t.Errorf("the heading of another section is gone: %q", s)
	}
}

func TestSections(t *testing.T) {
	git := repository(t, []string{"a", "first",
		"a.md", "# Cold storage of uploads\n\n" + long + "## Copy `blocks` to tape\n\n" + long +
			"## Repeated heading words\n\n" +
			long + "## Short words\n\n" + long + "Underlined heading of four words\n---\n\n" + long +
			"## Version 1.2 changes things\n\n" +
			long,
		"b.md", "# B\n\n" + long + "## Repeated heading words\n\n" + long})
	equal(t, judged(collected(t, "sections", git, "")), []string{
		"Copy blocks to tape -> a.md#s1",
		"Underlined heading of four words -> a.md#s4",
	})
}

func TestCode(t *testing.T) {
	git := repository(t, []string{"a", "first",
		"x/x.go", "package x\n\n// Sum returns the total weight of all parcels. It never fails.\n" +
			"func Sum(a []int) (n int) {\n" +
			"\tfor _, v := range a {\n\t\tn += v\n\t}\n\treturn n\n}\n\n// Box is a parcel that two workers share.\n" +
			"type Box struct {\n\tn int // items\n}\n\n" +
			"// Deprecated: counts the parcels of the first worker.\nfunc (b *Box) Old() {\n\tb.n++\n}\n\n" +
			"func (b *Box) plain() {\n\tb.n--\n}\n",
		"x/x_test.go", "package x\n\n// helper compares the total weight of parcels.\nfunc helper() {\n\tpanic(1)\n}\n",
		"x/gen.go", "// Code generated by x. DO NOT EDIT.\n\npackage x\n\n" +
			"// G returns the total weight of boxes.\nfunc G() {\n\tpanic(1)\n}\n",
	})
	c := collected(t, "code", git, "")
	equal(t, judged(c), []string{
		"a parcel that two workers share -> x/x.go#Box",
		"returns the total weight of all parcels -> x/x.go#Sum",
	})
	var ids []string
	for _, r := range c.records {
		ids = append(ids, r.ID)
	}
	equal(t, ids, []string{"x/x.go#Box", "x/x.go#Box.Old", "x/x.go#Box.plain", "x/x.go#Sum"})
	if s := c.text("x/x.go#Sum"); !strings.HasPrefix(s, "func Sum(") || !strings.HasSuffix(s, "}") {
		t.Errorf("record %q", s)
	}
}

func TestCommand(t *testing.T) {
	git := repository(t, []string{"a", "first",
		"docs/a.md", "# Alpha\n\nThis page has [several useful words](sub/b.md) in it.\n",
		"docs/sub/b.md", "# Beta\n\nThis page has no links but some words.\n"})
	folder := t.TempDir()
	index := filepath.Join(folder, "INDEX.tsv")
	make := func(name string) []byte {
		t.Helper()
		var out bytes.Buffer
		err := run([]string{"make", "-kind", "links", "-git", git, "-under", "docs/", "-source", "some/docs",
			"-licence", "MIT", "-out", filepath.Join(folder, name), "-index", index}, &out)
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, file := range []string{"corpus.jsonl.gz", "queries.jsonl", "qrels/test.tsv"} {
			text, err := os.ReadFile(filepath.Join(folder, name, file))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
		}
		return all
	}
	if !bytes.Equal(make("one"), make("two")) {
		t.Error("two runs differ")
	}
	if err := os.RemoveAll(filepath.Join(folder, "one")); err != nil {
		t.Fatal(err)
	}
	make("one") // replaces its line
	again := []string{"make", "-kind", "links", "-git", git, "-out", filepath.Join(folder, "one")}
	if err := run(again, os.Stderr); err == nil {
		t.Error("a collection was overwritten")
	}
	text, err := os.ReadFile(filepath.Join(folder, "one", "queries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var q query
	if err := json.Unmarshal(text, &q); err != nil || q.ID != "q00001" || q.Text != "several useful words" ||
		!slices.Equal(q.Metadata.Sources, []string{"a.md"}) {
		t.Errorf("query %s: %v", text, err)
	}
	readme, _ := os.ReadFile(filepath.Join(folder, "one", "README.md"))
	for _, part := range []string{"some/docs docs/", "Licence: MIT", "2 records, 1 queries, 1 judgements"} {
		if !strings.Contains(string(readme), part) {
			t.Errorf("README.md lacks %q:\n%s", part, readme)
		}
	}
	rows, _ := os.ReadFile(index)
	lines := strings.Split(strings.TrimSpace(string(rows)), "\n")
	if len(lines) != 3 || lines[0] != indexHeader ||
		strings.TrimPrefix(lines[1], "one") != strings.TrimPrefix(lines[2], "two") {
		t.Errorf("index:\n%s", rows)
	}
	var out bytes.Buffer
	tree := filepath.Join(folder, "tree")
	if err := run([]string{"tree", filepath.Join(folder, "one"), tree}, &out); err != nil {
		t.Fatal(err)
	}
	page, _ := os.ReadFile(filepath.Join(tree, "a.md"))
	if want := "# Alpha\n\nThis page has  in it.\n"; string(page) != want {
		t.Errorf("got %q, want %q", page, want)
	}
}

func TestSplit(t *testing.T) {
	var rows [][]string
	count := map[string]int{}
	for _, source := range []string{"a/a", "b/b", "c/c", "d/d"} {
		split := splitFor(rows, "links", source)
		count[split]++
		rows = append(rows, []string{"n", "links", "en", "1", "1", source, "MIT", split})
		if again := splitFor(rows, "subjects", source); again != split {
			t.Errorf("%s is in both splits", source)
		}
	}
	if count["dev"] != 2 || count["held"] != 2 {
		t.Errorf("splits %v", count)
	}
}

func TestLimit(t *testing.T) {
	c := &collection{queries: []query{{relevant: []string{"z"}}}}
	for _, id := range []string{"a", "b", "c", "z"} {
		c.records = append(c.records, record{ID: id})
	}
	c.limit(2)
	if len(c.records) != 2 || c.records[0].ID != "z" {
		t.Errorf("records %v", c.records)
	}
}

func TestWords(t *testing.T) {
	equal(t, content("How do the users' 12 file-names change?"), []string{"users", "file", "names", "change"})
	equal(t, words("浅い Vue オ"), []string{"浅い", "vue", "オ"})
	for text, want := range map[string]int{"rest api": 2, "全局注册": 2, "快速": 1, "the api": 1} {
		if got := weight(text); got != want {
			t.Errorf("weight(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"**Use** `a_b()` with [links](x.md) {#id}":   "Use a_b() with links",
		"Copy <br/> &amp; paste {/* id */}":          "Copy & paste",
		"{{< new-in >}} snake_case and _emphasized_": "snake_case and emphasized",
		"[[Page#Part|shown]] text":                   "shown text",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}
