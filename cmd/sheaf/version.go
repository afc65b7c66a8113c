package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/manpage"
)

// release and commit are set by the linker in releases (see release.sh). Release builds contain no data from version
// control, so that equal sources give equal bytes.
var release, commit string

func (a *app) versionCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		RunE:  func(*cobra.Command, []string) error { return a.printVersion() },
	})
}

func (a *app) printVersion() error {
	v := readVersion()
	return a.print(v, func() { fmt.Fprintf(a.stdout, "sheaf %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch) })
}

// versionJSON is the answer of `sheaf version`.
type versionJSON struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`  // the version of the release, or devel
	Revision string `json:"revision"` // the hash of the commit that was built
	Modified bool   `json:"modified"` // whether the sources had changes after the commit
	Go       string `json:"go"`       // the version of Go that built it
	OS       string `json:"os"`       // the operating system
	Arch     string `json:"arch"`     // the processor architecture
}

func readVersion() versionJSON {
	v := versionJSON{Schema: "sheaf.version/1", Version: "devel", Go: runtime.Version(), OS: runtime.GOOS,
		Arch: runtime.GOARCH}
	if release != "" {
		v.Version, v.Revision = release, commit
		return v
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if build.Main.Version != "" && build.Main.Version != "(devel)" {
		v.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

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
