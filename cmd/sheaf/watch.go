package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/index/vfs"
	"sheaf/ingest"
)

func (a *app) watchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [FOLDER]",
		Short: "Keep the index of a folder up to date until Ctrl-C",
		Long: `Indexes changes at once. A search looks for changes itself, so it needs no watching;
watching makes the first search after many changes fast. With --json, every run that
changed something is one line of JSON.`,
		Args: a.folderArgument,
		RunE: func(cmd *cobra.Command, _ []string) error {
			first := true
			return a.reopening(cmd.Context(), func(o openOptions) error { return a.watch(cmd, o, &first) })
		},
	}
	addIndexFlags(cmd.Flags())
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object a line for every run that changed something "+
		"(see doc/json.md)")
	return cmd
}

// watch keeps the index up to date. It returns when the command ends, or when the caller must reopen the index. It sets
// *first to false after the first run.
func (a *app) watch(cmd *cobra.Command, open openOptions, first *bool) error {
	s, err := a.open(cmd, open)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Answering.Profile = "" // nothing is ranked, so the store need not support the profile in force
	watched, err := s.Collection()
	if err != nil {
		return err
	}
	defer func() { _ = watched.Close() }() // a failed close loses no data
	s.NoteReading(true)
	return s.follow(cmd.Context(), watched, func(report *ingest.Report, err error) {
		if errors.Is(err, ingest.ErrRebuilt) || errors.Is(err, vfs.ErrCorrupt) {
			return // the index is opened again
		}
		s.printChanges(report, err, *first)
		*first = false
	})
}

// watchJSON is the answer of `sheaf watch` to one run that changed something.
type watchJSON struct {
	Schema  string            `json:"schema"`
	Time    string            `json:"time"`            // when the run ended, in UTC
	TookMS  float64           `json:"took_ms"`         // the time of the run, in milliseconds
	Added   int               `json:"added"`           // how many documents are new
	Changed int               `json:"changed"`         // how many documents changed
	Removed int               `json:"removed"`         // how many documents went away
	Renamed int               `json:"renamed"`         // how many documents only have another name
	Pending int               `json:"pending"`         // how many documents have no vectors yet
	Skipped []collection.Skip `json:"skipped"`         // the files that were not indexed
	Error   string            `json:"error,omitempty"` // why the run failed
}

// printChanges prints the changes of an indexing run. As JSON, it also prints err if the run failed. It prints a run
// without changes only if first is true, and only for people.
func (s *session) printChanges(report *ingest.Report, err error, first bool) {
	if err == nil && !report.Changes() && (s.json || !first) || err != nil && !s.json {
		return
	}
	now := time.Now()
	defer func() { _ = s.flush() }() // a closed output ends the program by a signal
	if s.json {
		out := watchJSON{Schema: "sheaf.watch/1", Time: now.UTC().Format(time.RFC3339), Skipped: []collection.Skip{}}
		if report != nil {
			out.TookMS, out.Added, out.Changed, out.Removed, out.Renamed = millis(report.Took.Seconds()), report.Added,
				report.Changed, report.Removed, report.Renamed
			out.Pending, out.Skipped = report.Pending, s.skipsOf(report.Skipped)
		}
		if err != nil {
			out.Error = err.Error()
		}
		_ = s.printLine(out)
		return
	}
	renamed := ""
	if report.Renamed > 0 {
		renamed = fmt.Sprintf(", %d renamed", report.Renamed)
	}
	fmt.Fprintf(s.stdout, "%s  %d added, %d changed%s, %d removed in %s\n",
		s.out.Paint(terminal.Dim, now.Format("15:04:05")),
		report.Added-report.Renamed, report.Changed, renamed, report.Removed-report.Renamed, collection.Roughly(report.Took))
}
