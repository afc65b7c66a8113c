package vespa

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// judge is the program of scripts/vespa, in which Vespa's own classes check the store's output. All
// tests share one process.
type judge struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

var startJudge = sync.OnceValues(func() (*judge, error) {
	command := strings.Fields(os.Getenv("SHEAF_TEST_VESPA_CLASSES"))
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &judge{in: in, out: bufio.NewReader(out)}, cmd.Start()
})

// classes returns the judge. Without Vespa's classes the test is skipped.
func classes(t testing.TB) *judge {
	t.Helper()
	if os.Getenv("SHEAF_TEST_VESPA_CLASSES") == "" {
		t.Skip("no classes of Vespa: SHEAF_TEST_VESPA_CLASSES is not set; see scripts/vespa/build.sh")
	}
	j := must.Get(startJudge())
	return j
}

// ask sends a task, reads the answer, and returns Vespa's error message.
func (j *judge) ask(t testing.TB, task object, answer any) string {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	line := must.Get(json.Marshal(task))
	must.Get(j.in.Write(append(line, '\n')))
	said, err := j.out.ReadBytes('\n')
	must.That(t, err == nil, "the judge ended: %v", err)
	var failed struct{ Error string }
	err = json.Unmarshal(said, &failed)
	must.That(t, err == nil, "%v: %s", err, said)
	if answer != nil && failed.Error == "" {
		err := json.Unmarshal(said, answer)
		must.That(t, err == nil, "%v: %s", err, said)
	}
	return failed.Error
}

// accept sends a task and fails the test when Vespa returns an error.
func (j *judge) accept(t testing.TB, task object, answer any) {
	t.Helper()
	check.Equal(t, j.ask(t, task, answer), "", "objection of Vespa to %v", task)
}

// testOptions returns options with two vector fields of three dimensions and a ranking of two
// phases.
func testOptions(t testing.TB) Options {
	return Options{Options: storekit.Options{URL: "http://127.0.0.1:1", Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 3}, {Name: "title", Model: "m", Dims: 3}}},
		Schema:  "notes",
		Ranking: &TwoPhases{Alpha: 0.5, KeywordAlpha: 0.2, Ratio: 0.3, Decay: 0.5, Floor: 0.75, Rerank: 1000}}
}

// written returns a folder with an application package.
func written(t testing.TB, o Options) string {
	t.Helper()
	files := must.Get(o.Application())
	dir := t.TempDir()
	must.Do(t, WriteApplication(dir, files))
	return dir
}

// change returns a package with a mistake: fresh replaces old in one file.
func change(t testing.TB, files map[string]string, old, fresh string) map[string]string {
	t.Helper()
	out := maps.Clone(files)
	for name, text := range files {
		if strings.Contains(text, old) {
			out[name] = strings.ReplaceAll(text, old, fresh)
			return out
		}
	}
	t.Fatalf("no file of the package holds %q", old)
	return nil
}

// TestApplicationIsValid checks that Vespa's classes accept each variant of the package. They must
// also refuse mistakes, which shows that they would find them.
func TestApplicationIsValid(t *testing.T) {
	j := classes(t)
	for name, set := range map[string]func(*Options){
		"two phases": func(*Options) {},
		"plain":      func(o *Options) { o.Ranking = nil },
		"graph":      func(o *Options) { o.HNSW = true },
		"words":      func(o *Options) { o.Ranking, o.Vectors = nil, nil },
		"other k1":   func(o *Options) { o.K1, o.B = 1e-7, 1 },
		"odd fields": func(o *Options) {
			o.Ranking = nil
			o.Vectors = []store.VectorField{{Name: "köpfe & more", Dims: 4096}}
		},
	} {
		o := testOptions(t)
		set(&o)
		check.Equal(t, j.ask(t, object{"do": "package", "dir": written(t, o)}, nil), "", "%s", name)
	}
	o := testOptions(t)
	files := must.Get(o.Application())
	for _, mistake := range [][2]string{
		{"attribute(boost) < 0", "attribute(boots) < 0"},
		{"normalize_linear(bm25(title))", "normalize_linear(bm25(titel))"},
		{"query(alpha) *", "query(alpah) *"},
		{"expression: closeness(field, embeddings)", "expression: closeness(field, content)"},
		{"            index: enable-bm25\n", ""},
		{"rerank-count: 1000", "rerank-count: many"},
		{"fields: title, content", "fields: title, contents"},
		{`type="notes_about"`, `type="notes_abuot"`},
		{"<document-api/>", "<document-apy/>"},
	} {
		dir := t.TempDir()
		must.Do(t, WriteApplication(dir, change(t, files, mistake[0], mistake[1])))
		if objection := j.ask(t, object{"do": "package", "dir": dir}, nil); objection == "" {
			t.Errorf("Vespa takes a package with %q instead of %q", mistake[1], mistake[0])
		}
	}
}
