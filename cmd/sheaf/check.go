package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/wording"
)

func (a *app) checkCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read the whole index and report what is damaged",
		Long: `Reads every file of the index and checks its checksums and structure. It also checks
that the documents and the searchable chunks agree. It changes nothing.

A killed run can leave a difference until the next command continues it. The check
reports the difference, but it is no fault, and the exit status is 0. The same holds
for documents that an older version of sheaf read: the next search reads them again.

With --repair, sheaf makes the damaged parts again from the files, with the settings
of the index. It makes a list of skipped files alone again; for other damage it
indexes again. It keeps documents that came without a file. It names those that it
cannot read, and keeps a copy of their remains. You can interrupt it at any time: the
next command continues.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if repair {
				return a.repair(cmd)
			}
			s, err := a.open(cmd, openOptions{AsIs: true})
			if errors.Is(err, sheaf.ErrCorrupt) && a.json {
				// Report an index that is too damaged to open as a fault.
				err = errors.Join(a.printFaults(checkJSON{Schema: checkSchema, Faults: []string{err.Error()}}), err)
			}
			if err != nil {
				return err
			}
			defer s.Close()
			return s.check(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "make again what is damaged")
	cmd.Flags().BoolVarP(&a.yes, "yes", "y", false, "with --repair, remove documents from the store that no file here "+
		"brings back, without asking")
	return a.withJSON(cmd)
}

func (s *session) checkResult(faults []error) checkJSON {
	out := checkJSON{Schema: checkSchema, Index: s.Where.Dir, Documents: s.View.Docs(), Chunks: s.View.Chunks(),
		Faults: []string{}, Stopped: s.Stopped, Outdated: s.OutdatedRead, Foreign: s.Foreign}
	for _, f := range faults {
		out.Faults = append(out.Faults, f.Error())
	}
	return out
}

func (s *session) check(ctx context.Context) error {
	faults, err := s.Faults(ctx)
	if err == nil {
		err = s.printFaults(s.checkResult(faults))
	}
	if err != nil || len(faults) == 0 {
		return err
	}
	err = fmt.Errorf("%w: %s", sheaf.ErrCorrupt, s.Where.Dir)
	switch all := errors.Join(faults...); {
	case errors.Is(all, sheaf.ErrCorrupt):
	case errors.Is(all, sheaf.ErrUnsupported):
		err = fmt.Errorf("%w: another version of sheaf made a part of %s", sheaf.ErrCorrupt, s.Where.Dir)
	case collection.OnlyStrays(faults):
		return s.Strayed()
	default:
		err = fmt.Errorf("%w: %s is incomplete", sheaf.ErrCorrupt, s.Where.Dir)
	}
	return withHint(err, "repair it: sheaf check --repair --in %s", wording.ShellQuoted(s.Where.Root))
}

const checkSchema = "sheaf.check/1"

// checkJSON is the answer of `sheaf check`.
type checkJSON struct {
	Schema    string      `json:"schema"`
	Index     string      `json:"index"`              // the folder of the index; "" when it does not open
	Documents int         `json:"documents"`          // how many documents the index has
	Chunks    int         `json:"chunks"`             // how many chunks the index has
	Faults    []string    `json:"faults"`             // the faults; after --repair those that were repaired or are left
	Stopped   string      `json:"stopped,omitempty"`  // says that a run was stopped or still works; the next run continues
	Outdated  string      `json:"outdated,omitempty"` // says that another version read documents by other rules
	Foreign   string      `json:"foreign,omitempty"`  // says that the store holds documents of another folder
	Repair    *repairJSON `json:"repair,omitempty"`   // the result of --repair
}

func (a *app) printFaults(out checkJSON) error {
	return a.print(out, func() {
		for _, m := range out.Faults {
			fmt.Fprintln(a.stdout, wording.Clean(m))
		}
		if out.Index != "" {
			fmt.Fprintf(a.stdout, "%s: %s, %s: %s\n", out.Index, wording.Plural(out.Documents, "document", "documents"),
				wording.Plural(out.Chunks, "chunk", "chunks"), wording.Plural(len(out.Faults), "fault", "faults"))
		}
		for _, text := range []string{out.Stopped, out.Outdated, out.Foreign} {
			if text != "" {
				fmt.Fprintln(a.stdout, text)
			}
		}
		if out.Repair != nil && out.Repair.Repaired {
			fmt.Fprintln(a.stdout, "repaired")
		}
	})
}

// repairJSON says what `sheaf check --repair` did.
type repairJSON struct {
	Repaired bool     `json:"repaired"`       // whether the index was repaired
	Lost     []string `json:"lost,omitempty"` // the lost documents: they are damaged, and no source file has them
	Copy     string   `json:"copy,omitempty"` // the folder with a copy of the damaged catalog
}

func (a *app) repair(cmd *cobra.Command) error {
	ctx := cmd.Context()
	var faults []error
	s, err := a.open(cmd, openOptions{AsIs: true})
	if err == nil {
		faults, err = s.Faults(ctx)
	} else if collection.Remakable(err) {
		// The index does not open read-only. Opening it for writing remakes it.
		faults = []error{err}
		s, err = a.open(cmd, openOptions{})
	}
	if err != nil {
		return err
	}
	defer s.Close()
	before := faults
	if faults, err = s.Repair(ctx, faults); err != nil {
		return err
	}
	done := &repairJSON{Repaired: len(before) > 0 && len(faults) == 0, Lost: s.Lost, Copy: s.Copied}
	if len(faults) > 0 {
		before = faults
	}
	out := s.checkResult(before)
	out.Repair = done
	if err := s.printFaults(out); err != nil {
		return err
	}
	if collection.OnlyStrays(faults) {
		return s.Strayed()
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: %s: it cannot be repaired: %w", sheaf.ErrCorrupt, s.Where.Dir, faults[0])
	}
	return nil
}
