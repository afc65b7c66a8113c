package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/wording"
	"sheaf/store"
)

func (a *app) checkCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:     "check",
		GroupID: groupKeep,
		Short:   "Read the whole index and report what is damaged",
		Long: `Reads every file of the index and verifies its checksums and structure, and that
the documents and the chunks that can be found agree. Nothing is changed.

A run that was killed can leave them apart until the next command goes on with it:
that is said, but is no fault, and the exit status is 0. So is it of documents that
an older version of sheaf read in another way, which the next search reads again.

With --repair, what is damaged is made again from the files, with the settings the
index was made with: a list of skipped files by itself, everything else by indexing
again. Documents that came without a file are kept; those that cannot be read are
named, and a copy of what is left of them is kept. It can be interrupted at any
time: the next command goes on.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if repair {
				return a.repair(cmd)
			}
			s, err := a.open(cmd, openOptions{asIs: true})
			if errors.Is(err, sheaf.ErrCorrupt) && a.json {
				// So damaged that it does not open: that is the fault.
				if printErr := a.printFaults(checkJSON{Faults: []string{err.Error()}}, nil); printErr != nil {
					return printErr
				}
			}
			if err != nil {
				return err
			}
			defer s.close()
			return s.check(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "make again what is damaged")
	cmd.Flags().BoolVarP(&a.yes, "yes", "y", false, "with --repair, remove documents from the store that no file here "+
		"brings back, without asking")
	a.addJSON(cmd)
	return cmd
}

// faults reads everything and lists what is wrong. What could not be looked at, since a server did not
// answer, is an error: it may be whole. s.stopped says afterwards
// whether a run was stopped before its end, s.outdatedRead whether an older version of the
// program read documents, which it may have filed otherwise.
func (s *session) faults(ctx context.Context) ([]error, error) {
	s.stopped, s.foreign, s.reached = "", "", nil
	progress := terminal.NewProgress(s.err, "checking")
	faults, stored := s.catalogFaults(), []error{}
	if c, ok := s.backend.(store.Checker); ok {
		stored = c.Check(ctx, func(done, total int64) { progress.Update(int(done>>10), int(total>>10), done, "kB") })
	}
	progress.Done()
	faults = append(faults, stored...)
	agree := func() (err error) {
		if faults, err = s.agreement(ctx); errors.Is(err, sheaf.ErrCorrupt) {
			faults, err = []error{err}, nil
		}
		return err
	}
	if len(faults) == 0 {
		if err := agree(); err != nil {
			return nil, err
		}
	}
	if len(faults) > 0 && len(stored) == 0 && !errors.Is(errors.Join(faults...), sheaf.ErrCorrupt) {
		// Perhaps only since another process, such as a server, writes: once more while none can.
		var silent error
		err := s.whenFree(ctx, func() error {
			release, err := s.catalog.Hold()
			if err != nil {
				return err
			}
			if err = s.reload(); err == nil {
				if faults = s.catalogFaults(); len(faults) == 0 {
					silent = agree()
				}
			}
			return errors.Join(err, release())
		})
		if silent != nil {
			return nil, silent
		}
		if errors.Is(err, vfs.ErrLocked) {
			return nil, err
		} // else it cannot be written, and stays as it is
	}
	return faults, ctx.Err()
}

// catalogFaults lists what is wrong with what is known of the documents.
func (s *session) catalogFaults() []error {
	faults := s.view.Check()
	if s.outdatedRead = s.outdatedText(); s.outdatedRead != "" {
		faults = slices.DeleteFunc(faults, func(err error) bool { return errors.Is(err, catalog.ErrMisfiled) })
	}
	if s.remaking() {
		faults = append(faults, errRemaking)
	}
	return faults
}

// checked is what a check found.
func (s *session) checked(faults []error) checkJSON {
	out := checkJSON{Index: s.where.Dir, Documents: s.view.Docs(), Chunks: s.view.Chunks(), Faults: []string{},
		Stopped: s.stopped, Outdated: s.outdatedRead, Foreign: s.foreign}
	for _, f := range faults {
		out.Faults = append(out.Faults, f.Error())
	}
	return out
}

func (s *session) check(ctx context.Context) error {
	faults, err := s.faults(ctx)
	if err != nil {
		return err
	}
	if err := s.printFaults(s.checked(faults), nil); err != nil {
		return err
	}
	if len(faults) == 0 {
		return nil
	}
	err = fmt.Errorf("%w: %s", sheaf.ErrCorrupt, s.where.Dir)
	switch all := errors.Join(faults...); {
	case errors.Is(all, sheaf.ErrCorrupt):
	case errors.Is(all, sheaf.ErrUnsupported):
		err = fmt.Errorf("%w: another version of sheaf made a part of %s", sheaf.ErrCorrupt, s.where.Dir)
	case onlyStrays(faults):
		return s.strayed()
	default:
		err = fmt.Errorf("%w: %s was not brought up to date to its end", sheaf.ErrCorrupt, s.where.Dir)
	}
	return withHint(err, "repair it: sheaf check --repair --in %s", wording.ShellQuoted(s.where.Root))
}

type checkJSON struct {
	Schema    string   `json:"schema"`
	Index     string   `json:"index"`
	Documents int      `json:"documents"`
	Chunks    int      `json:"chunks"`
	Faults    []string `json:"faults"`
	// Stopped says that a run was stopped before its end; "" when none was.
	Stopped string `json:"stopped,omitempty"`
	// Outdated says that an older or a newer version of the program read documents; "" when
	// none did.
	Outdated string `json:"outdated,omitempty"`
	// Foreign says that the store holds documents of another folder, "" when it does not, or that was
	// not looked at.
	Foreign string `json:"foreign,omitempty"`
	// Repair is what --repair did; nil without it.
	Repair *repairJSON `json:"repair,omitempty"`
}

func (a *app) printFaults(out checkJSON, done *repairJSON) error {
	if a.json {
		out.Schema, out.Repair = "sheaf.check/1", done
		return a.printJSON(out)
	}
	for _, m := range out.Faults {
		fmt.Fprintln(a.stdout, wording.Clean(m))
	}
	if out.Index != "" {
		fmt.Fprintf(a.stdout, "%s: %s, %s: %s\n", out.Index, wording.Plural(out.Documents, "document", "documents"),
			wording.Plural(out.Chunks, "chunk", "chunks"), wording.Plural(len(out.Faults), "fault", "faults"))
	}
	if out.Stopped != "" {
		fmt.Fprintln(a.stdout, out.Stopped)
	}
	if out.Outdated != "" {
		fmt.Fprintln(a.stdout, out.Outdated)
	}
	if out.Foreign != "" {
		fmt.Fprintln(a.stdout, out.Foreign)
	}
	if done != nil && done.Repaired {
		fmt.Fprintln(a.stdout, "repaired")
	}
	return nil
}

// agreement compares how many chunks the catalog knows with how many can be
// found, and a server may hold others beside. What a run left that was stopped is no fault.
func (s *session) agreement(ctx context.Context) ([]error, error) {
	r, ok := s.backend.(store.Reporter)
	if !ok {
		return nil, nil
	}
	stats, err := r.Stats(ctx)
	if err != nil {
		return nil, err
	}
	if stats.Chunks == s.view.Chunks() && s.target == nil {
		return nil, nil // on a server, others can stand for as many that are missing
	}
	if _, report, err := s.pending(ctx); err == nil {
		if s.stopped = s.stoppedRun(stats.Chunks, report.Waiting); s.stopped != "" {
			return nil, nil
		}
	}
	if s.target == nil {
		return []error{fewer(s.view.Chunks(), stats.Chunks)}, nil
	}
	reached, err := s.searchOurs(ctx)
	if err != nil {
		return nil, err
	}
	var faults []error
	if reached.unreached > 0 {
		faults = append(faults, fmt.Errorf("%[1]w: at least %[3]s at %[2]s, which may have been killed", errUnreached,
			s.target, wording.Plural(reached.unreached, "passage", "passages")))
	}
	if len(reached.missing) > 0 {
		faults = append(faults, fewer(s.view.Chunks(), reached.found))
	}
	s.reached = reached
	if stats.Chunks <= reached.found {
		return faults, nil
	}
	lost, err := s.strays(ctx)
	if err != nil {
		return nil, err
	}
	extra := wording.Plural(stats.Chunks-reached.found, "chunk", "chunks")
	switch {
	case len(lost.ours) > 0:
		faults = append(faults, fmt.Errorf("%w: %s holds %s that no document here has, of %s: a run was stopped and its "+
			"files are gone since, or they came from another machine", errStrays, s.target, extra, lost.names(lost.ours)))
	case len(lost.others) == 0:
		faults = append(faults, fmt.Errorf("%s holds %s more than the documents have", s.target, extra))
	}
	if len(lost.others) > 0 {
		s.foreign = fmt.Sprintf("%s holds %s of another folder, %s, and counts words in them too: %s", s.target,
			wording.Plural(len(lost.others), "document", "documents"), lost.names(lost.others), s.otherPlace())
	}
	return faults, nil
}

// fewer is the fault of an index that does not find all chunks.
func fewer(known, found int) error {
	return fmt.Errorf("the catalog knows %s chunks, %s can be found", wording.Count(known), wording.Count(found))
}

// strays lists the documents of the server that the catalog does not know and no file brings back.
func (s *session) strays(ctx context.Context) (*losses, error) {
	lost := &losses{}
	err := lost.addStrays(ctx, s.backend, s.trees(), func(id sheaf.ID) bool { _, ok := s.view.Document(id); return ok })
	return lost, err
}

// countBatch is how many chunks a server is asked for at once to be counted: few enough
// for every server's longest list.
const countBatch = 1000

// reach is which of the chunks that the catalog knows a server finds.
type reach struct {
	found   int
	missing []sheaf.ID
	// unreached is how many of their passages no search by meaning finds; they are of some of the
	// chunks in doubt.
	unreached int
	doubt     []sheaf.ID
}

// searchOurs searches for every chunk that the catalog knows, by ID and tree. How many chunks a server
// holds in all does not tell, because those of others stand for those that are missing.
func (s *session) searchOurs(ctx context.Context) (*reach, error) {
	out := &reach{}
	inspector, _ := s.backend.(store.Inspector)
	byTree := map[string][]sheaf.ID{}
	ask := func(tree string) error {
		batch := byTree[tree]
		if len(batch) == 0 {
			return nil
		}
		hits, err := s.backend.Retrieve(ctx, anyChunk(store.Request{Limit: len(batch), Within: batch,
			Filter: textIn(sheaf.ColumnTree, tree)}))
		if err != nil {
			return err
		}
		there := map[sheaf.ID]bool{}
		for _, h := range hits {
			there[h.ID] = true
		}
		for _, id := range batch {
			if !there[id] {
				out.missing = append(out.missing, id)
			}
		}
		out.found += len(there)
		if inspector != nil {
			n, err := inspector.Unreached(ctx, batch)
			if err != nil {
				return err
			}
			if out.unreached += n; n > 0 {
				out.doubt = append(out.doubt, batch...)
			}
		}
		byTree[tree] = batch[:0]
		return nil
	}
	for id := range s.view.Files() {
		doc, _ := s.view.Document(id)
		for i := range doc.Chunks {
			tree := id.Tree()
			if byTree[tree] = append(byTree[tree], doc.Chunks[i].ID); len(byTree[tree]) == countBatch {
				if err := ask(tree); err != nil {
					return nil, err
				}
			}
		}
	}
	for tree := range byTree {
		if err := ask(tree); err != nil {
			return nil, err
		}
	}
	return out, s.view.Err()
}

// errStrays is that a server holds what no document here has.
var errStrays = errors.New("chunks of no document")

// errUnreached means that a search by meaning does not find passages that the server keeps.
var errUnreached = errors.New("passages that no search by meaning finds")

// onlyStrays reports whether the only fault is that the server holds documents that this folder
// does not have. Writing the documents again does not repair that.
func onlyStrays(faults []error) bool {
	return len(faults) > 0 && !slices.ContainsFunc(faults, func(err error) bool { return !errors.Is(err, errStrays) })
}

// strayed is the error of a check that found such documents and nothing else.
func (s *session) strayed() error {
	return withHint(fmt.Errorf("%w: %s holds chunks of no document", sheaf.ErrCorrupt, s.target),
		"no search shows them, but their words are counted, and they can take the places of hits from here: sheaf check "+
			"--repair names them and asks before it removes them")
}

// stoppedRun says that a run was stopped between writing its last documents and
// recording them, or that one is under way; "" when neither explains that so many
// chunks are found. Such documents wait to be indexed, and all others must be found.
func (s *session) stoppedRun(found int, waiting []sheaf.ID) string {
	if found == s.view.Chunks() || len(waiting) == 0 {
		return ""
	}
	settled := s.view.Chunks()
	for _, id := range waiting {
		if doc, ok := s.view.Document(id); ok {
			settled -= len(doc.Chunks)
		}
	}
	if found < settled {
		return ""
	}
	return fmt.Sprintf("the last run was stopped before its end, or is not over: %s recorded, %s can be found; nothing "+
		"is lost, and the next sheaf index or search goes on",
		wording.Plural(s.view.Chunks(), "chunk is", "chunks are"), wording.Count(found))
}
