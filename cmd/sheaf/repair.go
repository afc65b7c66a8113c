package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
)

// repairJSON is what a repair did.
type repairJSON struct {
	Repaired bool `json:"repaired"`
	// Lost are the documents that had no source file, cannot be read and are kept nowhere, Copy
	// is where what is left of them is kept.
	Lost []string `json:"lost,omitempty"`
	Copy string   `json:"copy,omitempty"`
}

// repair checks the index, repairs it, and checks it again.
func (a *app) repair(cmd *cobra.Command) error {
	ctx := cmd.Context()
	var faults []error
	s, err := a.open(cmd, openOptions{AsIs: true})
	if err == nil {
		faults, err = s.Faults(ctx)
	} else if collection.Remakable(err) {
		// It does not open: opening it in earnest makes it again.
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
	if err := a.printFaults(s.checked(before), done); err != nil {
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
