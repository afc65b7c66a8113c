package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/wording"
	"sheaf/store"
)

func (a *app) doctorCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "doctor",
		Short: "Check everything that a search here needs",
		Long: `Checks the settings, the model, and the store of this folder's index: whether the
server answers, its version and plug-ins, rights, analyzers, the dimensions of
vectors, and its clock. A fault comes with advice. It changes nothing in the index.
On OpenSearch and Weaviate it makes and removes an empty index, on Vespa a document.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd) },
	})
}

// doctorJSON is the answer of `sheaf doctor`.
type doctorJSON struct {
	Findings []findingJSON `json:"findings"` // one finding for each check
	Schema   string        `json:"schema"`
}

// findingJSON is the result of one check.
type findingJSON struct {
	Check string `json:"check"`           // the checked part of the setup
	Found string `json:"found"`           // what the check found
	Fault string `json:"fault,omitempty"` // what is wrong, and what to do
}

func (a *app) doctor(cmd *cobra.Command) error {
	findings, err := a.examine(cmd)
	if err != nil {
		return err
	}
	var faults []error
	list := make([]findingJSON, len(findings))
	rows := make([][]string, len(findings))
	for i, f := range findings {
		list[i] = findingJSON{Check: f.Check, Found: f.Found}
		rows[i] = []string{"ok", wording.Clean(f.Check), wording.Clean(f.Found)}
		if f.Err != nil {
			list[i].Fault = f.Err.Error()
			rows[i][0] = a.out.Paint(terminal.Fault, "FAULT")
			faults = append(faults, fmt.Errorf("%s: %w", f.Check, f.Err))
		}
	}
	err = a.print(doctorJSON{Schema: "sheaf.doctor/1", Findings: list}, func() { a.printTable(rows) })
	return errors.Join(append([]error{err}, faults...)...)
}

// examine checks the parts of the setup in order. When one part fails, it skips checks that need this part.
func (a *app) examine(cmd *cobra.Command) ([]store.Finding, error) {
	folder, c, err := a.folderSettings(cmd)
	if err != nil {
		return nil, err
	}
	where, _, err := a.finder(c).Find(folder)
	if err != nil {
		return nil, err
	}
	s := a.newSession(folder, where)
	defer s.Close()
	_, err = loadProfile(c.Profile)
	out := []store.Finding{{Check: "settings", Found: cmp.Or(c.ProjectFile, "none in this folder")},
		{Check: "folder", Found: where.Root},
		{Check: "profile", Found: c.Profile, Err: setIn(c, "profile", err)}}
	model := store.Finding{Check: "model", Found: "none: words alone are searched"}
	e, err := newEmbedder(cmd.Context(), c, 0, collection.Hasty)
	switch model.Err = err; {
	case err != nil:
		model.Found = cmp.Or(c.Embedder.Model, "the one of embedder.url")
	case e != nil:
		model.Found = fmt.Sprintf("%s, %d dimensions", e.Model(), e.Dims())
	}
	out = append(out, model)
	target, err := a.configuredStore(filepath.Base(location.Finder{}.Own(where.Root).Dir))
	if err != nil {
		return append(out, store.Finding{Check: "store", Err: err}), nil
	}
	if target != nil {
		s.Target = target
		s.Where = where.Store(target.String())
	}
	out = append(out, store.Finding{Check: "store", Found: s.StoreName()})
	index := store.Finding{Check: "index", Found: "not made yet: " + s.Where.Dir}
	if s.Where.Exists {
		index = s.examineCatalog(cmd.Context())
	}
	out = append(out, index)
	if target == nil {
		return out, nil
	}
	if s.Analyzer == nil {
		// Without an index, check the settings of a first run.
		if err := s.NewAnalyzer(cmd.Context()); err != nil {
			return append(out, store.Finding{Check: "language", Err: err}), nil
		}
	}
	for _, f := range target.Examine(cmd.Context(), s.Analyzer, collection.VectorFields(e)) {
		if errors.Is(f.Err, store.ErrMadeOtherwise) {
			f.Err = fmt.Errorf("%w (sheaf index --rebuild does that, and asks before it removes documents of another folder)",
				f.Err)
		}
		out = append(out, f)
	}
	return out, nil
}

func (s *session) examineCatalog(ctx context.Context) store.Finding {
	out := store.Finding{Check: "index", Found: s.Where.Dir}
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(s.Where.Dir), catalog.Options{})
	if err == nil {
		s.Catalog, s.View = c, c.View()
		err = s.OpenAnalyzer(ctx)
	}
	if err != nil {
		out.Err = s.Advise(err)
		return out
	}
	out.Found = fmt.Sprintf("%s, %s in %s", wording.Plural(s.View.Docs(), "document", "documents"),
		wording.Plural(s.View.Chunks(), "chunk", "chunks"), s.Where.Dir)
	out.Found = strings.Join(append([]string{out.Found}, s.otherSettings()...), "; ")
	if outdated := s.OutdatedText(); outdated != "" {
		out.Found += "; " + outdated
	}
	return out
}
