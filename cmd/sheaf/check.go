package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/backend"
	"sheaf/catalog"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/vfs"
)

func (a *app) checkCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:     "check",
		GroupID: groupIndex,
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
	a.addJSON(cmd)
	return cmd
}

// faults reads everything and lists what is wrong. What could not be looked at, since a server did not
// answer, is an error: it may be whole. s.stopped says afterwards
// whether a run was stopped before its end, s.outdatedRead whether an older version of the
// program read documents, which it may have filed otherwise.
func (s *session) faults(ctx context.Context) ([]error, error) {
	s.stopped = ""
	progress := terminal.NewProgress(s.err, "checking")
	faults, stored := s.catalogFaults(), []error{}
	if c, ok := s.backend.(backend.Checker); ok {
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
	out := checkJSON{Index: s.where.Dir, Documents: s.view.Docs(), Chunks: s.view.Chunks(), Faults: []string{}, Stopped: s.stopped, Outdated: s.outdatedRead}
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
		return s.strayed(faults)
	default:
		err = fmt.Errorf("%w: %s was not brought up to date to its end", sheaf.ErrCorrupt, s.where.Dir)
	}
	return withHint(err, "repair it: sheaf check --repair --in %s", terminal.ShellQuoted(s.where.Root))
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
	// Repair is what --repair did; nil without it.
	Repair *repairJSON `json:"repair,omitempty"`
}

func (a *app) printFaults(out checkJSON, done *repairJSON) error {
	if a.json {
		out.Schema, out.Repair = "sheaf.check/1", done
		return a.printJSON(out)
	}
	for _, m := range out.Faults {
		fmt.Fprintln(a.stdout, terminal.Clean(m))
	}
	if out.Index != "" {
		fmt.Fprintf(a.stdout, "%s: %s, %s: %s\n", out.Index, terminal.Plural(out.Documents, "document", "documents"),
			terminal.Plural(out.Chunks, "chunk", "chunks"), terminal.Plural(len(out.Faults), "fault", "faults"))
	}
	if out.Stopped != "" {
		fmt.Fprintln(a.stdout, out.Stopped)
	}
	if out.Outdated != "" {
		fmt.Fprintln(a.stdout, out.Outdated)
	}
	if done != nil && done.Repaired {
		fmt.Fprintln(a.stdout, "repaired")
	}
	return nil
}

// agreement compares how many chunks the catalog knows with how many can be
// found, and a server may hold others beside. What a run left that was stopped is no fault.
func (s *session) agreement(ctx context.Context) ([]error, error) {
	r, ok := s.backend.(backend.Reporter)
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
	found, unreached := stats.Chunks, 0
	if s.target != nil {
		if found, unreached, err = s.countOurs(ctx); err != nil {
			return nil, err
		}
	}
	var faults []error
	if unreached > 0 {
		faults = append(faults, fmt.Errorf("%[1]w: at least %[3]s at %[2]s, which may have been killed", errUnreached, s.target, terminal.Plural(unreached, "passage", "passages")))
	}
	if found != s.view.Chunks() {
		faults = append(faults, fmt.Errorf("the catalog knows %s chunks, %s can be found", terminal.Count(s.view.Chunks()), terminal.Count(found)))
	}
	if extra := stats.Chunks - found; extra > 0 {
		faults = append(faults, fmt.Errorf("%w: %s holds %s that no document here has: a run was stopped and its files are gone since, or another folder is kept there", errStrays, s.target,
			terminal.Plural(extra, "chunk", "chunks")))
	}
	return faults, nil
}

// countBatch is how many chunks a server is asked for at once to be counted: few enough
// for every server's longest list.
const countBatch = 1000

// countOurs is how many of the chunks that the catalog knows a server finds, and how many
// of their passages no search by meaning does. How many chunks it holds in all does not say
// so, because others' chunks stand for those that are missing.
func (s *session) countOurs(ctx context.Context) (found, unreached int, err error) {
	inspector, _ := s.backend.(backend.Inspector)
	batch := make([]sheaf.ID, 0, countBatch)
	ask := func() error {
		if len(batch) == 0 {
			return nil
		}
		hits, err := s.backend.Retrieve(ctx, anyChunk(backend.Request{Limit: len(batch), Within: batch}))
		found += len(hits)
		if err == nil && inspector != nil {
			var n int
			n, err = inspector.Unreached(ctx, batch)
			unreached += n
		}
		batch = batch[:0]
		return err
	}
	for id := range s.view.Files() {
		doc, _ := s.view.Document(id)
		for i := range doc.Chunks {
			if batch = append(batch, doc.Chunks[i].ID); len(batch) == countBatch {
				if err := ask(); err != nil {
					return 0, 0, err
				}
			}
		}
	}
	err = errors.Join(ask(), s.view.Err())
	return found, unreached, err
}

// errStrays is that a server holds what no document here has.
var errStrays = errors.New("chunks of no document")

// errUnreached is that a server keeps what it does not find by meaning.
var errUnreached = errors.New("passages that no search by meaning finds")

// onlyStrays reports whether all that is wrong is of these two kinds, which writing the
// documents again does not mend.
func onlyStrays(faults []error) bool {
	return len(faults) > 0 && !slices.ContainsFunc(faults, func(err error) bool { return !errors.Is(err, errStrays) && !errors.Is(err, errUnreached) })
}

// strayed is the error of a check that found such faults and nothing else. The server is
// not emptied without being asked: others may search it.
func (s *session) strayed(faults []error) error {
	if slices.ContainsFunc(faults, func(err error) bool { return errors.Is(err, errUnreached) }) {
		return withHint(fmt.Errorf("%w: %s keeps %w", sheaf.ErrCorrupt, s.target, errUnreached),
			"searches by words find them, and writing them again does not help; when nobody else searches there, empty it and fill it again: %s", s.app.rebuildCommand())
	}
	return withHint(fmt.Errorf("%w: %s holds chunks of no document", sheaf.ErrCorrupt, s.target),
		"no search shows them, but their words are counted, and they can take the places of hits from here; when nobody else searches there, empty it and fill it again: %s", s.app.rebuildCommand())
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
	return fmt.Sprintf("the last run was stopped before its end, or is not over: %s recorded, %s can be found; nothing is lost, and the next sheaf index or search goes on",
		terminal.Plural(s.view.Chunks(), "chunk is", "chunks are"), terminal.Count(found))
}
