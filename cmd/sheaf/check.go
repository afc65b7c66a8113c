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
	if s.json {
		if err := s.printJSON(map[string]any{"schema": "sheaf.check/1", "index": s.where.Dir, "documents": s.view.Docs(), "chunks": s.view.Chunks(), "faults": messages}); err != nil {
			return err
		}
	} else {
		for _, m := range messages {
			fmt.Fprintln(s.stdout, terminal.Clean(m))
		}
		fmt.Fprintf(s.stdout, "%s: %s, %s: %s\n", s.where.Dir, terminal.Plural(s.view.Docs(), "document", "documents"),
			terminal.Plural(s.view.Chunks(), "chunk", "chunks"), terminal.Plural(len(faults), "fault", "faults"))
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
