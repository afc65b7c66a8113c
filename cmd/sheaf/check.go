package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/backend"
	"sheaf/cmd/sheaf/internal/terminal"
)

func (a *app) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check",
		GroupID: groupIndex,
		Short:   "Read the whole index and report what is damaged",
		Long: `Reads every file of the index and verifies its checksums and structure, and that
the documents and the chunks that can be found agree. Nothing is changed: a
damaged index is made again from the files by sheaf index --rebuild.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd, openOptions{asIs: true})
			if errors.Is(err, sheaf.ErrCorrupt) && a.json {
				// So damaged that it does not open: that is the fault.
				if printErr := a.printFaults(checkJSON{Faults: []string{err.Error()}}); printErr != nil {
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
	a.addJSON(cmd)
	return cmd
}

func (s *session) check(ctx context.Context) error {
	progress := terminal.NewProgress(s.err, "checking")
	faults := s.view.Check()
	if c, ok := s.backend.(backend.Checker); ok {
		faults = append(faults, c.Check(ctx, func(done, total int64) { progress.Update(int(done>>10), int(total>>10), done, "kB") })...)
	}
	progress.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(faults) == 0 {
		faults = s.agreement(ctx)
	}
	messages := []string{}
	for _, f := range faults {
		messages = append(messages, f.Error())
	}
	if err := s.printFaults(checkJSON{Index: s.where.Dir, Documents: s.view.Docs(), Chunks: s.view.Chunks(), Faults: messages}); err != nil {
		return err
	}
	if len(faults) == 0 {
		return nil
	}
	err := fmt.Errorf("%w: %s", sheaf.ErrCorrupt, s.where.Dir)
	if !errors.Is(errors.Join(faults...), sheaf.ErrCorrupt) {
		err = fmt.Errorf("%w: %s was not brought up to date to its end", sheaf.ErrCorrupt, s.where.Dir)
	}
	return withHint(err, "make it again from the files: sheaf index --rebuild")
}

type checkJSON struct {
	Schema    string   `json:"schema"`
	Index     string   `json:"index"`
	Documents int      `json:"documents"`
	Chunks    int      `json:"chunks"`
	Faults    []string `json:"faults"`
}

func (a *app) printFaults(out checkJSON) error {
	if a.json {
		out.Schema = "sheaf.check/1"
		return a.printJSON(out)
	}
	for _, m := range out.Faults {
		fmt.Fprintln(a.stdout, terminal.Clean(m))
	}
	if out.Index != "" {
		fmt.Fprintf(a.stdout, "%s: %s, %s: %s\n", out.Index, terminal.Plural(out.Documents, "document", "documents"),
			terminal.Plural(out.Chunks, "chunk", "chunks"), terminal.Plural(len(out.Faults), "fault", "faults"))
	}
	return nil
}

// agreement compares how many chunks the catalog knows with how many can be
// found.
func (s *session) agreement(ctx context.Context) []error {
	r, ok := s.backend.(backend.Reporter)
	if !ok {
		return nil
	}
	stats, err := r.Stats(ctx)
	if err != nil {
		return []error{err}
	}
	if stats.Chunks != s.view.Chunks() {
		return []error{fmt.Errorf("the catalog knows %s chunks, %s can be found", terminal.Count(s.view.Chunks()), terminal.Count(stats.Chunks))}
	}
	return nil
}
