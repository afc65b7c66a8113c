package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
)

// asked is a model that records the texts it gets.
type asked struct {
	model.Embedder
	mu    sync.Mutex
	texts []string
}

func (a *asked) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	a.mu.Lock()
	a.texts = append(a.texts, texts...)
	a.mu.Unlock()
	return a.Embedder.Embed(ctx, p, texts)
}

// TestHideComments checks that a change of the setting reads every file again, once and in place.
// The result equals a new index, and the model gets no comments.
func TestHideComments(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "# A\n\nalpha %%alpha in secret, and in much of it, so that blanks are left%% end\n\n%%\n# "+
		"Secret\n%%\n\nomega\n")
	w.write("b.md", "alpha\n")
	w.write("c.md", "<!-- alpha in secret -->\n")
	w.write("latin.md", "alpha caf\xe9 <!-- in secret -->\n")
	hide := false
	model := &asked{Embedder: hashed.New(256)}
	options := func(o ingest.Options) ingest.Options {
		o.HideComments, o.Embedder = func() bool { return hide }, model
		return o
	}
	same := func(what string) {
		t.Helper()
		clean := options(w.fresh())
		must.Get(ingest.Run(t.Context(), clean))
		got, want := state(t, w.o), state(t, clean)
		check.That(t, got == want, "%s:\n%s\na new index has\n%s", what, got, want)
		r := w.run()
		check.That(t, !r.Changes(), "%s: a second run did %+v", what, r)
	}
	w.o = options(w.o)
	w.run()
	same("searched")
	given := ingest.Given{Tree: "given", Path: "g.md", Text: []byte("alpha <!-- alpha -->\n")}
	w.o.Kept = func(sheaf.ID, catalog.Hash) (ingest.Given, bool, error) { return given, true, nil }
	must.Get(ingest.Change(t.Context(), w.o, []ingest.Given{given}, nil))

	hide, model.texts = true, nil
	r := w.run()
	check.That(t, r.Changed == 4 && r.Removed == 1 && len(r.Skipped) == 1, "hidden: %+v", r)
	for _, text := range model.texts {
		check.That(t, !strings.Contains(text, "in secret") && !strings.Contains(text, "Secret") &&
			!strings.Contains(text, strings.Repeat(" ", 40)), "the model got %q", text)
	}
	text, err := ingest.Shown(w.view(), sheaf.ID("given:g.md"))
	check.That(t, err == nil && strings.TrimSpace(string(text)) == "alpha", "the given text is %q, %v", text, err)
	text, err = w.view().Text("given:g.md")
	check.That(t, err == nil && string(text) == "alpha <!-- alpha -->\n", "what was given is kept as %q, %v", text, err)
	must.Get(ingest.Change(t.Context(), w.o, nil, []sheaf.ID{"given:g.md"}))
	same("hidden")
	hide = false
	r = w.run()
	check.That(t, r.Changed == 3 && r.Added == 1, "searched again: %+v", r)
	same("searched again")
}

// TestHideCommentsOfUnreadableFile checks that hiding comments removes a document whose file is unreadable, until it
// is readable.
func TestHideCommentsOfUnreadableFile(t *testing.T) {
	w := newWorld(t)
	disk := filepath.Join(t.TempDir(), "disk")
	must.Do(t, os.Mkdir(disk, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(disk, "d.md"), []byte("alpha <!-- secret -->\n"), 0o644))
	w.o.Trees = append(w.o.Trees, catalog.Tree{Name: "disk", Root: disk})
	w.write("a.md", "alpha\n")
	w.write("pass.md", "alpha %%secret%%\n")
	hide := false
	w.o.HideComments = func() bool { return hide }
	w.run()
	root := w.o.Trees[0].Root
	move := func(from, to string) {
		t.Helper()
		must.Do(t, os.Rename(from, to))
	}
	move(filepath.Join(root, "pass.md"), filepath.Join(root, ".pass.md.icloud"))
	move(disk, disk+".off")
	check.Equal(t, w.run().Removed, 0, "before")
	hide = true
	r := w.run()
	check.That(t, r.Removed == 2 && len(r.Skipped) == 1 && len(r.Gone) == 1 && w.view().Docs() == 1 &&
		r.Skipped[0].Reason == ingest.ReasonCloud, "hidden: %+v", r)
	r = w.run()
	check.That(t, !r.Changes(), "again: %+v", r)
	move(filepath.Join(root, ".pass.md.icloud"), filepath.Join(root, "pass.md"))
	move(disk+".off", disk)
	check.Equal(t, w.run().Added, 2, "back")
}
