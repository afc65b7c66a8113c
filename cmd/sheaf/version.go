package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release and commit are set by the linker in releases (see release.sh). Release builds contain no data from version
// control, so that equal sources give equal bytes.
var release, commit string

func (a *app) versionCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "version",
		GroupID: groupSetup,
		Short:   "Print the version of this program",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
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
