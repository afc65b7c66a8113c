package main

import (
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/manpage"
)

// manCommand returns the hidden command that writes the manual pages. Releases include these pages.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Hidden: true,
		Short:  "Write the manual pages of all commands into a folder",
		Long: `Writes a manual page for every command into the folder, which is made when
there is none. The date of the pages is SOURCE_DATE_EPOCH (seconds since 1970)
when that is set, else today.`,
		Example: `  sheaf man ~/.local/share/man/man1`,
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			date := time.Now()
			if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
				seconds, err := strconv.ParseInt(epoch, 10, 64)
				if err != nil {
					return sheaf.Invalidf("SOURCE_DATE_EPOCH %q: must be a number of seconds since 1970", epoch)
				}
				date = time.Unix(seconds, 0)
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return manpage.WriteAll(args[0], cmd.Root(), readVersion().Version, date)
		},
	}
}
