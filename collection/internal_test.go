package collection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

// TestWhenFreeRetriesWhenLockIsReleased checks that whenFree retries long work when the other process releases its
// lock, and only then.
func TestWhenFreeRetriesWhenLockIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "lock")
		x := &Index{}
		for _, c := range []struct {
			name  string
			freed bool
			tries int
		}{{"freed meanwhile", true, 2}, {"held", false, 1}} {
			held, err := vfs.Disk{}.Lock(name)
			must.Do(t, err)
			tries := 0
			err = x.whenFree(t.Context(), NeedAnswer, nil, func() error {
				tries++
				time.Sleep(NeedAnswer + lockStep)
				if tries == 1 && c.freed {
					time.AfterFunc(lockStep+lockStep/2, func() { _ = held.Close() })
				}
				lock, err := vfs.Disk{}.Lock(name)
				if err != nil {
					return fmt.Errorf("write: %w", err)
				}
				return lock.Close()
			})
			check.That(t, tries == c.tries && c.freed == (err == nil) && (c.freed || errors.Is(err, vfs.ErrLocked)),
				"%s: tried %d times, %v", c.name, tries, err)
			if !c.freed {
				must.Do(t, held.Close())
			}
		}
	})
}

// TestWhenFreeRetriesAfterWorkOfLockHolder checks that whenFree retries after a lock holder, as in a merge, has done
// the work.
func TestWhenFreeRetriesAfterWorkOfLockHolder(t *testing.T) {
	dir, known := t.TempDir(), func(dir string) *catalog.Catalog {
		c := must.Get(catalog.Open(vfs.Disk{}, dir, catalog.Options{}))
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	mine, other := known(dir), known(dir)
	x := &Index{Stores: Stores{Catalog: mine}}
	name := filepath.Join(dir, "held")
	held, err := vfs.Disk{}.Lock(name)
	must.Do(t, err)
	defer held.Close()
	tries, updated := 0, make(chan error, 1)
	err = x.whenFree(t.Context(), NeedFresh, nil, func() error {
		if tries++; tries > 1 {
			return nil
		}
		time.AfterFunc(lockStep+lockStep/2, func() {
			updated <- other.Update(t.Context(), catalog.Update{Pending: &map[sheaf.ID]string{"t:a": "vectors"}})
		})
		_, err := vfs.Disk{}.Lock(name)
		return err
	})
	check.That(t, err == nil && tries == 2, "tried %d times, %v; want 2", tries, err)
	if err := <-updated; err != nil { // other processes may see a change before Update returns
		t.Error(err)
	}
}

// TestRetryGivesUp checks that Retry gives up after repeated errors, and does not repeat work after other errors.
func TestRetryGivesUp(t *testing.T) {
	root, dir, ignore := t.TempDir(), t.TempDir(), func(string, ...any) {}
	must.Do(t, os.WriteFile(filepath.Join(root, "a.md"), []byte("# A\n"), 0o600))
	x := NewIndex(Site{Folder: root, Where: location.Location{Root: root, Dir: dir}},
		Making{Language: "en", Update: true}, Events{Notice: ignore, Warn: ignore, Quiet: true})
	defer x.Close()
	must.Do(t, x.Open(t.Context(), nil, IndexOptions{Make: true, Refresh: true}))
	for _, c := range []struct {
		err   error
		tries int
	}{{ingest.ErrRebuilt, mostTries}, {sheaf.ErrCorrupt, 2}, {fs.ErrPermission, 1},
		{StoreError{fmt.Errorf("ask: %w", sheaf.ErrCorrupt)}, 1}} {
		tries := 0
		err := x.Retry(t.Context(), func() error {
			tries++
			_, open := x.View.Document(sheaf.DocumentID(catalog.TreeName(root), "a.md"))
			check.That(t, open, "%v, attempt %d: the index is not open", c.err, tries)
			return fmt.Errorf("index: %w", c.err)
		})
		check.That(t, tries == c.tries && errors.Is(err, c.err) && errors.As(err, new(*HintError)) == (tries == mostTries),
			"%v: %d attempts, want %d: %v", c.err, tries, c.tries, err)
	}
}

// TestDamagedIndexNoticesRemake checks that an open, damaged index also notices when another process remakes it.
func TestDamagedIndexNoticesRemake(t *testing.T) {
	c := &Collection{}
	c.watchHealth()
	c.noteDamage(errors.New("another fault"))
	check.That(t, c.damaged.Err() == nil && c.replaced.Err() == nil, "a fault that is no damage counts as damage")
	damage := fmt.Errorf("read: %w", vfs.ErrCorrupt)
	c.noteDamage(damage)
	c.noteDamage(vfs.ErrCorrupt)
	if c.damaged.Err() == nil || c.replaced.Err() != nil || c.Damage() != damage ||
		errors.Is(c.shut(), ingest.ErrRebuilt) {
		t.Errorf("%v, %v", c.Damage(), c.shut())
	}
	c.noteDamage(ingest.ErrRebuilt)
	check.That(t, c.replaced.Err() != nil && errors.Is(c.shut(), ingest.ErrRebuilt),
		"the fault of another process is not reported")
}

// TestFileOf checks that a file name may contain a #.
func TestFileOf(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.md", "C# course/b.md"} {
		must.Do(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	for _, c := range []struct {
		path, file string
		is         bool
	}{
		{"a.md", "a.md", true},
		{"a.md#x#y", "a.md", true},
		{"C# course/b.md#x", "C# course/b.md", true},
		{"C# course/gone.md#x", "C", false},
		{"gone.md#x", "gone.md", false},
	} {
		file, is := fileOf(root, c.path)
		check.That(t, file == c.file && is == c.is, "%s is of %q, %v: want %q, %v", c.path, file, is, c.file, c.is)
	}
	_, is := fileOf("", "given.md")
	check.That(t, is, "a text that came without a file was missed")
}

// TestAnswersAreBounded checks that the cache keeps its byte limit, but always the last answer with a cursor.
func TestAnswersAreBounded(t *testing.T) {
	s := newAnswers(1 << 20)
	sized := func(bytes int) *answer {
		hits := []search.Hit{{Explanation: &sheaf.Explanation{Label: strings.Repeat("x", bytes)}}}
		return &answer{key: randomKey(), result: &search.Result{Hits: hits}}
	}
	known := func(a *answer) bool { return s.lookUp(a.key.cursor()) == a }
	huge := sized(2 << 20)
	s.put(huge, false)
	check.That(t, !known(huge), "an answer larger than the bound is in the cache")
	if s.put(huge, true); !known(huge) || s.state().Entries != 1 {
		t.Errorf("an answer larger than the bound has no cursor: %+v", s.state())
	}
	wide := sized(1)
	wide.result.Hits[0].Tags = slices.Repeat([]string{"tag"}, 1000)
	wide.result.Facets = []store.Facet{{Values: slices.Repeat([]store.FacetValue{{Chunks: 1}}, 1000)}}
	check.That(t, wide.bytes() > sized(1).bytes()+60_000, "1,000 tags and 1,000 values take %d bytes", wide.bytes())
	last := sized(1)
	if s.put(last, true); !known(last) || known(huge) || s.state().Bytes != last.bytes() {
		t.Errorf("after it: %+v", s.state())
	}
}

// TestAuditComparesWholeNames checks a visible name that begins or ends like a hidden name. It is no
// leak, and it does not mask a hidden name beside it.
func TestAuditComparesWholeNames(t *testing.T) {
	public := []string{"public"}
	docs := []auditedDocument{{id: "api:doc1"}, {id: "api:doc10", access: public}, {id: "api:doc1&2", access: public},
		{id: "of-api:doc1", access: public}}
	for _, c := range []struct {
		ids  []string
		leak bool
	}{
		{[]string{"api:doc10", "api:doc1&2#part", "of-api:doc1"}, false},
		{[]string{"api:doc1", "api:doc10"}, true},
		{[]string{"api:doc10", "api:doc1"}, true},
		{[]string{"of-api:doc1", "api:doc10", "api:doc1#part"}, true},
	} {
		a := &trial{auditor: &auditor{knownDocuments: knownDocuments{docs: docs}, out: &Audit{}},
			grant: access.Grant{}, hidden: []*auditedDocument{&docs[0]},
			shown: []*auditedDocument{&docs[1], &docs[2], &docs[3]}}
		must.Do(t, a.answer("search", c.ids))
		check.Equal(t, len(a.out.Leaks) > 0, c.leak, "%v: a leak", c.ids)
	}
}

// TestAuditFindsFolders checks that a folder's path is a leak for callers that may not see everything.
func TestAuditFindsFolders(t *testing.T) {
	for _, grant := range []access.Grant{{}, access.Unrestricted()} {
		a := &trial{auditor: &auditor{knownDocuments: knownDocuments{roots: []string{"/home/ann/notes"}},
			out: &Audit{}}, grant: grant}
		must.Do(t, a.answer("get", map[string]string{"warning": "/home/ann/notes/a.md is gone"}))
		leak := len(a.out.Leaks) > 0
		check.That(t, leak != grant.SeesAll(), "%+v: a leak: %v", grant, leak)
	}
}

// TestAuditRunsEveryStage checks that the audit knows the settings that each stage needs. It judges no
// stage that cannot be made.
func TestAuditRunsEveryStage(t *testing.T) {
	for _, name := range Stages() {
		if name == StageFuse || name == "aggregate" {
			continue
		}
		check.NoError(t, must.Err(profile.NewStage(name, stageSettings[name], 10, "")), "%s", name)
	}
}

// TestTooManyFilesErrorHidesName checks that the error for too many open files hides the file name and is
// temporary at every door.
func TestTooManyFilesErrorHidesName(t *testing.T) {
	grant := access.Unrestricted()
	err := Told(fmt.Errorf("open index: %w", &fs.PathError{Op: "open", Path: "/secret/place", Err: syscall.ENFILE}),
		&grant)
	check.That(t, errors.Is(err, sheaf.ErrUnavailable) && errors.Is(err, syscall.ENFILE) &&
		!strings.Contains(err.Error(), "secret"), "%v", err)
}

// TestCalibration checks that an index uses the current content of its file. Without a usable calibration for the
// profile and the model, it uses the shipped one.
func TestCalibration(t *testing.T) {
	p := must.Get(profile.Load(profile.Default, profile.Builtin))
	x := &Index{Site: Site{Where: location.Location{Dir: t.TempDir()}}}
	none := make([]float64, len(new(search.Evidence).Features()))
	keep := func(bias float64, change func(c *keptCalibration)) func() error {
		c := &keptCalibration{CalibrationSchema, "a model", p.Digest(), search.Calibration{Least: 0.5}}
		c.Fit.Right.Bias, c.Fit.Right.Weights, c.Fit.Answered.Weights = bias, none, none
		change(c)
		return func() error { return x.KeepCalibration(c) }
	}
	drop := func(digest, model string) func() error {
		return func() error { return x.DropCalibration(digest, model) }
	}
	text := func(content string) func() error {
		return func() error { return os.WriteFile(x.calibrationFile(), []byte(content), 0o600) }
	}
	asIs := func(*keptCalibration) {}
	for i, step := range []struct {
		change func() error
		bias   float64 // 0 if the file has no usable calibration
	}{
		{drop("", ""), 0},
		{keep(1, asIs), 1},
		{keep(2, asIs), 2},
		{drop(p.Digest(), "another model"), 2},
		{drop("another profile", "a model"), 2},
		{drop(p.Digest(), "a model"), 0},
		{keep(3, func(c *keptCalibration) { c.Schema = "sheaf.confidence/2" }), 0},
		{keep(4, asIs), 4},
		{drop("", ""), 0},
		{text("{"), 0},
		{text("not so"), 0},
		{keep(5, func(c *keptCalibration) { c.Fit.Right.Weights = none[1:] }), 0},
		{keep(6, func(c *keptCalibration) { c.Fit.Least = 2 }), 0},
		{keep(7, func(c *keptCalibration) { c.Digest = "another profile" }), 0},
		{text(`{"schema":"sheaf.confidence/3","model":"a model","digest":"` + p.Digest() + `","fit":{"bias":-2.5}}`), 0},
	} {
		must.Do(t, step.change())
		said := func(model string) string {
			if fit := x.calibrationFor(p, model); fit != nil {
				return fmt.Sprint(fit.Right.Bias)
			}
			return "0"
		}
		if got, want := said("a model"), fmt.Sprint(step.bias); got != want || said("another model") != "0" {
			t.Errorf("step %d: the bias is %s, want %s; of another model %s", i, got, want, said("another model"))
		}
		if got := x.calibrationFor(p, "sheaf-ml-1"); got == nil || got != search.ShippedCalibration(p, "sheaf-ml-1") {
			t.Errorf("step %d: the built-in model has %+v", i, got)
		}
	}
}
