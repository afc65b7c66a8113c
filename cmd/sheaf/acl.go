package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
)

func (a *app) aclCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "acl",
		GroupID: groupServe,
		Short:   "Check that callers see only what they may",
	}
	cmd.AddCommand(a.aclAuditCommand())
	return cmd
}

func (a *app) aclAuditCommand() *cobra.Command {
	var checks, sample int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Ask random questions as random callers and look for leaks",
		Long: `Makes random callers, asks random questions of words of hidden documents through
every way there is (search and its pages, facets and counts, explanations, similar
passages, links, errors ...), and looks in all that comes back for what the caller
may not see: first in the index as it is, then in a copy of some of its documents
with random access lists. The index is not changed.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if checks < 1 || checks > 10_000_000 {
				return sheaf.Invalidf("--checks is %d: must be within 1..10000000", checks)
			}
			if sample < 1 || sample > 10_000 {
				return sheaf.Invalidf("--sample is %d: must be within 1..10000", sample)
			}
			if !cmd.Flags().Changed("seed") {
				seed = rand.Uint64()
			}
			s, err := a.open(cmd, openOptions{})
			if err != nil {
				return err
			}
			defer s.Close()
			return s.auditAccess(cmd.Context(), collection.AuditOptions{Checks: max(1, checks/2), Seed: seed}, sample)
		},
	}
	f := cmd.Flags()
	f.IntVar(&checks, "checks", 10_000, "how many checks to make")
	f.IntVar(&sample, "sample", 200, "how many documents get random access lists")
	f.Uint64Var(&seed, "seed", 0, "repeat the checks of an earlier audit")
	a.addJSON(cmd)
	return cmd
}

func (s *session) auditAccess(ctx context.Context, o collection.AuditOptions, sample int) error {
	own, err := s.door()
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }() // a failed close loses no data
	copied, done, err := s.randomLists(ctx, o.Seed, sample)
	if err != nil {
		return err
	}
	defer done()
	progress := terminal.NewProgress(s.err, "auditing")
	o.Progress = func(n, _ int) { progress.Update(n, o.Checks, 0, "checks") }
	var audits []*collection.Audit
	for _, c := range []*collection.Collection{own, copied} {
		audit, err := c.Audit(ctx, o)
		if err != nil {
			progress.Done()
			return err
		}
		audits = append(audits, audit)
	}
	progress.Done()
	return s.tellAudits(audits)
}

// tellAudits prints the findings. It returns an error when there are leaks.
func (s *session) tellAudits(audits []*collection.Audit) error {
	leaks := slices.Concat(audits[0].Leaks, audits[1].Leaks)
	if s.json {
		if err := s.printJSON(map[string]any{"schema": "sheaf.acl-audit/1", "as_it_is": audits[0],
			"random_lists": audits[1]}); err != nil {
			return err
		}
	} else {
		for i, what := range []string{"the index as it is", "random access lists"} {
			out := audits[i]
			fmt.Fprintf(s.stdout, "%s: %s of %s, %s hidden on average, %s\n", what,
				wording.Plural(out.Checks, "check", "checks"),
				wording.Plural(out.Documents, "document", "documents"), wording.Count(out.Hidden/max(1, out.Checks)),
				wording.Plural(len(out.Leaks), "leak", "leaks"))
			if out.Incomplete > 0 {
				fmt.Fprintf(s.stdout, "  %s not complete: %s\n", wording.Plural(out.Incomplete, "check was", "checks were"),
					wording.Clean(out.Fault))
			} else if out.Fault != "" {
				fmt.Fprintf(s.stdout, "  it ended early: %s\n", wording.Clean(out.Fault))
			}
		}
		for _, l := range leaks {
			fmt.Fprintf(s.stdout, "  %s, query %q, caller %+v: %s: %s\n", l.Door, l.Query, l.Grant, wording.Clean(string(l.Doc)),
				wording.Clean(l.What))
		}
	}
	if len(leaks) > 0 {
		return withHint(fmt.Errorf("%s", wording.Plural(len(leaks), "leak was found", "leaks were found")),
			"repeat with --seed %d", audits[0].Seed)
	}
	return nil
}

// randomLists copies some documents into a temporary index and gives them random access lists. done
// removes that index.
func (s *session) randomLists(ctx context.Context, seed uint64, sample int) (c *collection.Collection, done func(),
	err error) {
	dir, err := os.MkdirTemp("", "sheaf-audit-")
	if err != nil {
		return nil, nil, err
	}
	var closers []func() error
	done = func() {
		for _, f := range slices.Backward(closers) {
			_ = f() // the index is temporary
		}
		_ = os.RemoveAll(dir)
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	copyOf, err := catalog.Open(vfs.Disk{}, location.CatalogDir(dir), catalog.Options{})
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, copyOf.Close)
	store, err := openEngine(s.config, filepath.Join(dir, "engine"), s.Analyzer, s.Embedder)
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, store.Close)
	o := s.IngestOptions()
	docs, err := s.sample(seed, sample)
	if err != nil {
		return nil, nil, err
	}
	o.Catalog, o.Backend, o.Trees = copyOf, store, nil
	if _, err := ingest.Put(ctx, o, docs); err != nil {
		return nil, nil, err
	}
	c, err = collection.New(collection.Options{Name: "copy", Catalog: copyOf, Backend: store, Analyzer: s.Analyzer,
		Embed: s.QueryVector(), Model: s.LocalModel(), Rerank: s.reranker,
		ProfileDirs: []string{profileFolder()}, Profile: s.config.Profile})
	return c, done, err
}

// sample returns n documents with random access lists.
func (s *session) sample(seed uint64, n int) ([]ingest.Given, error) {
	random := rand.New(rand.NewPCG(seed, 0x115750))
	var ids []sheaf.ID
	for id := range s.View.Files() {
		ids = append(ids, id)
	}
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	some := func(list ...string) []sheaf.Value {
		var values []sheaf.Value
		for _, text := range list {
			if random.IntN(len(list)) == 0 {
				values = append(values, sheaf.TextValue(text))
			}
		}
		return values
	}
	var docs []ingest.Given
	for _, id := range ids {
		if len(docs) == n {
			break
		}
		doc, ok := s.View.Document(id)
		text, err := ingest.Shown(s.View, id)
		if !ok || errors.Is(err, catalog.ErrStale) {
			continue
		}
		if err != nil {
			return nil, err
		}
		tenant := some("acme", "umbrella", "initech")
		docs = append(docs, ingest.Given{Tree: doc.Tree, Path: doc.Path, Title: doc.Title, Text: text,
			Properties: []sheaf.Property{
				{Name: ingest.PropertyTenant, Values: tenant[:min(1, len(tenant))]},
				{Name: ingest.PropertyAccess, List: true,
					Values: some(sheaf.AccessPublic, "user:ann", "user:bob", "group:staff", "group:board")},
				{Name: ingest.PropertySets, List: true, Values: some("finance", "handbook")},
			}})
	}
	return docs, s.View.Err()
}
