package main

import (
	"cmp"
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
	"sheaf/ingest"
	"sheaf/internal/wording"
)

func (a *app) aclCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acl",
		Short: "Check that callers see only what they may",
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
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if checks < 1 || checks > 10_000_000 {
				return sheaf.Invalidf("--checks is %d: must be within 1..10000000", checks)
			}
			if sample < 1 || sample > 10_000 {
				return sheaf.Invalidf("--sample is %d: must be within 1..10000", sample)
			}
			if !cmd.Flags().Changed("seed") {
				seed = rand.Uint64()
			}
			return nil
		},
		RunE: a.onIndex(openOptions{}, func(cmd *cobra.Command, s *session, _ []string) error {
			return s.auditAccess(cmd.Context(), collection.AuditOptions{Checks: max(1, checks/2), Seed: seed}, sample)
		}),
	}
	f := cmd.Flags()
	f.IntVar(&checks, "checks", 10_000, "how many checks to make")
	f.IntVar(&sample, "sample", 200, "how many documents get random access lists")
	f.Uint64Var(&seed, "seed", 0, "repeat the checks of an earlier audit")
	return a.withJSON(cmd)
}

func (s *session) auditAccess(ctx context.Context, o collection.AuditOptions, sample int) error {
	own, err := s.door()
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }() // a failed close loses no data
	dir, err := os.MkdirTemp("", "sheaf-audit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied, err := s.randomLists(ctx, dir, o.Seed, sample)
	if err != nil {
		return err
	}
	defer copied.Close()
	other, err := copied.door()
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }()
	progress := terminal.NewProgress(s.err, "auditing")
	defer progress.Done()
	o.Progress = func(n, _ int) { progress.Update(n, o.Checks, 0, "checks") }
	var audits []*collection.Audit
	for _, c := range []*collection.Collection{own, other} {
		audit, err := c.Audit(ctx, o)
		if err != nil {
			return err
		}
		audits = append(audits, audit)
	}
	progress.Done()
	return s.printAudits(audits)
}

// auditJSON is the answer of `sheaf acl audit`.
type auditJSON struct {
	AsItIs      *collection.Audit `json:"as_it_is"`     // the audit with the access lists of the index
	RandomLists *collection.Audit `json:"random_lists"` // the audit of a copy in which the access lists are random
	Schema      string            `json:"schema"`
}

// printAudits prints the findings of each audit. It returns an error if an audit found leaks.
func (s *session) printAudits(audits []*collection.Audit) error {
	leaks := slices.Concat(audits[0].Leaks, audits[1].Leaks)
	report := auditJSON{Schema: "sheaf.acl-audit/1", AsItIs: audits[0], RandomLists: audits[1]}
	err := s.print(report, func() {
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
	})
	if err != nil || len(leaks) == 0 {
		return err
	}
	return withHint(fmt.Errorf("%s", wording.Plural(len(leaks), "leak was found", "leaks were found")),
		"repeat with --seed %d", audits[0].Seed)
}

// randomLists copies some documents into a new index in dir, and gives each copy a random access list. seed determines
// the lists, and sample is the number of documents. The caller closes the new session.
func (s *session) randomLists(ctx context.Context, dir string, seed uint64, sample int) (copied *session, err error) {
	docs, err := s.sample(seed, sample)
	if err != nil {
		return nil, err
	}
	copied = s.newSession(dir, location.Location{Root: dir, Dir: filepath.Join(dir, ".index")})
	copied.Making.Language = cmp.Or(s.View.Settings().Language, "none")
	if err = copied.openModels(); err == nil {
		err = copied.Open(ctx, nil, openOptions{Make: true})
	}
	if err == nil {
		o := copied.IngestOptions()
		o.Trees = nil
		_, err = ingest.Change(ctx, o, docs, nil)
	}
	if err != nil {
		copied.Close()
	}
	return copied, err
}

// sample returns copies of at most n documents with random access lists. seed determines the lists.
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
