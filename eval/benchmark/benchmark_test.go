package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/offheap"
	"sheaf/model"
	"sheaf/model/hashed"
)

// notes creates a folder of Markdown with sections on many subjects.
func notes(t *testing.T) string {
	dir := t.TempDir()
	for i := range 60 {
		var b strings.Builder
		for k := range 5 {
			fmt.Fprintf(&b, "## Subject %d of note%d\n\nThe word%d and the thing%d are told here at some length, see [the "+
				"linked words](x.md).\nMore of the frequent text stands below.\n\n", k, i, i*5+k, k)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte(b.String()), 0o600))
	}
	return dir
}

// TestCorpus checks that the corpus is always the same, has the requested size, and starts with
// real text. Queries have every class, and queries of headings name their chunk.
func TestCorpus(t *testing.T) {
	dir := notes(t)
	c := must.Get(readFolders([]string{dir}, 500))
	again := must.Get(readFolders([]string{dir}, 500))
	a, _ := json.Marshal(c)
	b, _ := json.Marshal(again)
	check.That(t, string(a) == string(b), "two corpora of one folder differ")
	check.That(t, len(c.Documents) == 500 && c.Made == 200, "%d documents, %d made; want 500 and 200", len(c.Documents),
		c.Made)
	byID := map[string]*Document{}
	for i := range c.Documents {
		byID[c.Documents[i].ID] = &c.Documents[i]
	}
	classes := map[string]int{}
	for _, q := range c.Queries {
		classes[q.Class]++
		if d := byID[q.Known]; q.Known != "" && (d == nil || !strings.Contains(plain(d.Title), q.Text)) {
			t.Errorf("%q is no heading of %v", q.Text, d)
		}
	}
	check.That(t, classes["real"] >= 100 && classes["hot"] >= 20, "queries: %v", classes)
	_, err := readFolders([]string{t.TempDir()}, 500)
	check.That(t, err != nil, "an empty folder is no error")
}

// options runs this test program, which is self, as Sheaf's engine: see TestMain.
func options(t *testing.T) (o Options, self string) {
	t.Helper()
	self = must.Get(os.Executable())
	t.Setenv("SHEAF_TEST_ENGINE", "1")
	return Options{Folders: []string{notes(t)}, Ours: Peer{"sheaf", []string{self}}, Work: t.TempDir(), Clients: 2,
		Seconds: 0.05, Embedder: hashed.New(64), Progress: func(string) {}, Step: func(*Report) error { return nil }}, self
}

// TestRun measures Sheaf's engine and peers, each in its own process, on every task. It checks that
// peers are compared with Sheaf, and that a failing peer is a row.
func TestRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the peers of this test are shell scripts")
	}
	o, self := options(t)
	bin := t.TempDir()
	for name, script := range map[string]string{
		"peer-twin":   "exec '" + self + "' \"$@\"",
		"peer-broken": "echo out of order >&2; exit 1",
		"peer-words":  "[ \"$2\" = words ] || exit 3; exec '" + self + "' \"$@\"",
		"peer-idle":   "echo '{}'",
		"peer-slow":   "[ \"$2\" = words ] || exit 3; exec sleep 60",
		"note.txt":    "",
	} {
		must.Do(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	peers, err := FindPeers(bin)
	must.That(t, err == nil && len(peers) == 5, "peers: %v %v", peers, err)
	steps := 0
	o.Sizes, o.Tasks, o.Peers, o.Limit = []int{300}, Tasks, peers, 5*time.Second
	o.Step = func(r *Report) error {
		if steps++; len(r.Rows) != steps {
			t.Errorf("after step %d there are %d rows", steps, len(r.Rows))
		}
		return nil
	}
	report := must.Get(Run(context.Background(), o))
	rows := map[string]Row{}
	for _, r := range report.Rows {
		rows[r.Peer+" "+string(r.Task)] = r
	}
	for _, task := range Tasks {
		ours, twin := rows["sheaf "+string(task)], rows["twin "+string(task)]
		if ours.Result == nil || twin.Result == nil || twin.Same < 0.999 {
			t.Errorf("%s: %+v, and a twin of it %+v", task, ours, twin)
			continue
		}
		c := ours.Result.Classes["real"]
		check.That(t, c != nil && c.Quantile(0.5) > 0 && c.QPS > 0 && c.ClientsQPS > 0 && ours.Result.IndexBytes > 0,
			"%s: %+v", task, ours.Result)
		r := rows["broken "+string(task)]
		check.That(t, strings.Contains(r.Fault, "out of order"), "%s: the broken peer: %+v", task, r)
		r = rows["idle "+string(task)]
		check.That(t, r.Fault != "", "%s: a peer that does nothing has a result", task)
		_, ok := rows["words "+string(task)]
		check.That(t, ok == (task == TaskWords), "%s: the peer for words alone: %v", task, ok)
	}
	check.Equal(t, rows["slow words"].Fault, "stopped after 5s", "the slow peer")
	r := rows["sheaf words"]
	check.That(t, r.MRR > 0.5 && math.IsNaN(r.Recall), "words: MRR %v, recall %v", r.MRR, r.Recall)
	for _, task := range []Task{TaskVectors, TaskWide} {
		r := rows["sheaf "+string(task)]
		check.That(t, r.Recall > 0.95, "%s: recall %v", task, r.Recall)
	}
	short, long := rows["sheaf vectors"].InputBytes, rows["sheaf vectors384"].InputBytes
	check.That(t, short == 300*64*4 && long == 300*96*4, "%d and %d bytes of vectors", short, long)
	var text, svg strings.Builder
	err = report.Text(&text)
	check.That(t, err == nil && strings.Contains(text.String(), "| sheaf "), "%v\n%s", err, text.String())
	err = report.SVG(&svg)
	check.That(t, err == nil && !strings.Contains(svg.String(), "NaN") && strings.HasSuffix(svg.String(), "</svg>\n"),
		"%v\n%s", err, svg.String())
}

// TestNearest checks that rows as near as the last of the nearest are right answers, too, each once.
func TestNearest(t *testing.T) {
	rows := [][]float32{{0, 1, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0.5, 0, 0, 0}, {0, 1, 0, 0}}
	for _, c := range []struct {
		q    []float32
		k    int
		want []int
	}{
		{[]float32{1, 0.5, 0, 0}, 2, []int{1, 0, 2, 3, 4}},
		{[]float32{1, 0.5, 0, 0}, 1, []int{1}},
		{[]float32{0, 1, 0, 0}, 2, []int{0, 2, 4}},
		{[]float32{1, 0, 0, 0}, 2, []int{1, 3}},
		{[]float32{1, 0, 0, 0}, 9, []int{1, 3, 0, 2, 4}},
	} {
		check.List(t, nearestOf(c.q, rows, c.k), c.want, "the %d nearest to %v", c.k, c.q)
	}
	want := strings.Fields("a b c d e f g h i j k l")
	for got, share := range map[string]float64{"a b c d e f g h i l": 1, "l k j i h g f e d c b a": 1, "a b x": 0.2,
		"": 0} {
		check.Equal(t, recallOf(want, strings.Fields(got)), share, "recall of %q", got)
	}
}

// TestWiderVectors checks that wide vectors have unit length and 1.5 times the dimensions; nil stays nil.
func TestWiderVectors(t *testing.T) {
	e := wideEmbedder{hashed.New(64)}
	list, err := e.Embed(t.Context(), model.Passage, []string{"one title\nand its text", "one title", "\n, ."})
	must.That(t, err == nil && len(list) == 3 && list[2] == nil, "%v %v", list, err)
	for _, v := range list[:2] {
		var square float64
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		check.That(t, len(v) == e.Dims() && e.Dims() == 96 && math.Abs(square-1) <= 1e-5, "%d of %d numbers, length %v",
			len(v), e.Dims(), square)
	}
}

// TestInterrupted checks that an interrupted run reports its finished measurements.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o, _ := options(t)
	o.Sizes, o.Tasks, o.Step = []int{200, 300}, []Task{TaskWords}, func(*Report) error { cancel(); return nil }
	report, err := Run(ctx, o)
	check.That(t, errors.Is(err, context.Canceled) && len(report.Rows) == 1 && report.Rows[0].Result != nil, "%v, %+v",
		err, report.Rows)
}

// TestSlowPeerIsSkipped checks that a peer is skipped when its time for a smaller size shows that it is too slow.
func TestSlowPeerIsSkipped(t *testing.T) {
	r := run{Options: Options{Limit: time.Minute}, report: &Report{Rows: []Row{
		{Peer: "a", Task: TaskWords, Chunks: 1000, Result: &Result{BuildSeconds: 7}},
		{Peer: "a", Task: TaskVectors, Chunks: 1000, Result: &Result{BuildSeconds: 5}},
		{Peer: "b", Task: TaskWords, Chunks: 1000, Fault: "out of order"},
	}}}
	check.Contains(t, r.tooLong(Peer{Name: "a"}, TaskWords, 10_000), "1m10s")
	for _, c := range []struct {
		peer string
		task Task
	}{{"a", TaskVectors}, {"a", TaskHybrid}, {"b", TaskWords}} {
		check.Equal(t, r.tooLong(Peer{Name: c.peer}, c.task, 10_000), "", "%v", c)
	}
}

// TestVerdicts checks that the report names a peer that finds clearly less than the best peer. It does not name
// failed or close peers.
func TestVerdicts(t *testing.T) {
	nan := math.NaN()
	row := func(name string, task Task, mrr, recall float64) Row {
		return Row{Peer: name, Task: task, MRR: mrr, Recall: recall, Result: &Result{}}
	}
	vectors := verdicts([]Row{row("a", TaskVectors, nan, 0.998), row("b", TaskVectors, nan, 0.99),
		row("c", TaskVectors, nan, 0.92), {Peer: "d", Task: TaskVectors, MRR: nan, Recall: nan, Fault: "ill"}})
	check.That(t, len(vectors) == 1 && strings.HasPrefix(vectors[0], "c finds 0.920 of the nearest where a finds 0.998"),
		"%q", vectors)
	words := verdicts([]Row{row("a", TaskWords, 0.47, nan), row("b", TaskWords, 0.37, nan),
		row("c", TaskHybrid, 0.2, nan)})
	check.That(t, len(words) == 1 &&
		strings.HasPrefix(words[0], "c finds known chunks with an MRR of 0.200 where a has 0.470"), "%q", words)
}

// TestGrowth checks that the report shows times of two sizes side by side, with their ratio.
func TestGrowth(t *testing.T) {
	class := func(micros, together float64) map[string]*Class {
		return map[string]*Class{"hot": {Micros: [][]float64{{micros}}, ClientsMicros: []float64{together}, QPS: 100,
			ClientsQPS: 150}}
	}
	report := Report{Clients: 8, Rows: []Row{
		{Peer: "a", Task: TaskWords, Chunks: 1000, Result: &Result{Classes: class(20, 30)}},
		{Peer: "a", Task: TaskWords, Chunks: 10_000, Result: &Result{Classes: class(50, 60)}},
		{Peer: "b", Task: TaskWords, Chunks: 10_000, Fault: "out of order"},
	}}
	var b strings.Builder
	report.growth(&b)
	check.Contains(t, b.String(),
		"| a      |     20.0 us |      50.0 us |  2.50 |     20.0 us |      50.0 us |  "+
			"2.50 |           1.20 | 1.20 | 1.50 |\n")
}

// TestMain runs Sheaf's engine when TestRun starts this program as a peer.
func TestMain(m *testing.M) {
	if os.Getenv("SHEAF_TEST_ENGINE") != "" && len(os.Args) == 4 && !strings.HasPrefix(os.Args[1], "-") {
		Main(Own)
		return
	}
	os.Exit(m.Run())
}

// TestStoppedBuildReleasesMemory checks that a build that ends early releases its memory.
func TestStoppedBuildReleasesMemory(t *testing.T) {
	before := offheap.InUse()
	e := &ownTask{task: TaskWords}
	docs := slices.Repeat([]Document{{ID: "a", Title: "one", Text: "some words"}}, 2*batchChunks)
	docs[len(docs)-1].ID = ""
	err := e.Build(t.Context(), t.TempDir(), docs, nil)
	must.That(t, errors.Is(err, sheaf.ErrInvalid), "a chunk without an ID: %v", err)
	left := offheap.InUse() - before
	check.That(t, left == 0, "%d bytes are not given back", left)
	must.Do(t, e.Close())
}
