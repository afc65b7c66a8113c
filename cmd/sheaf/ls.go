package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/internal/wording"
)

func (a *app) listCommand() *cobra.Command {
	var all, long, null bool
	cmd := &cobra.Command{
		Use:     "ls [FOLDER]",
		GroupID: groupFolders,
		Short:   "List indexed documents, or with --collections all indexes",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if null && (all || long || a.json || a.jsonl) {
				return sheaf.Invalidf("--null lists paths alone: leave out --collections, --long, --json and --jsonl")
			}
			if all {
				return a.listCollections(cmd)
			}
			if len(args) == 1 {
				a.in = args[0]
			}
			s, err := a.open(cmd, openOptions{})
			if err != nil {
				return err
			}
			defer s.Close()
			return s.list(long, null)
		},
	}
	cmd.Flags().BoolVar(&all, "collections", false, "list all indexes in the data folder")
	cmd.Flags().BoolVarP(&long, "long", "l", false, "also sizes, dates and titles")
	cmd.Flags().BoolVarP(&null, "null", "0", false, "print the names of files alone, each with a zero byte behind it, "+
		"as xargs -0 reads them")
	a.addJSON(cmd)
	cmd.Flags().BoolVar(&a.jsonl, "jsonl", false, "print one JSON object for each document")
	return cmd
}

type documentJSON struct {
	ID       sheaf.ID `json:"id"`
	Path     string   `json:"path"`
	Title    string   `json:"title"`
	Chunks   int      `json:"chunks"`
	Bytes    int64    `json:"bytes"`
	Modified string   `json:"modified,omitempty"`
	Tags     []string `json:"tags"`

	name string // Path with the bytes of the file name
}

func (s *session) list(long, null bool) error {
	documents := []documentJSON{}
	for id, file := range s.View.Files() {
		doc, ok := s.View.Document(id)
		if !ok {
			continue
		}
		if _, ok := location.Under(s.Folder, s.file(doc.Tree, doc.Path)); !ok && s.Folder != s.Where.Root {
			continue
		}
		documents = append(documents, documentJSON{ID: doc.ID, Path: s.relative(doc.Tree, doc.Path),
			Title: collection.Title(&doc), Chunks: len(doc.Chunks),
			Bytes: file.Size, Modified: s.modified(&doc, file.ModTime), Tags: orEmpty(doc.Tags),
			name: s.named(doc.Tree, doc.Path)})
	}
	if err := s.View.Err(); err != nil {
		return s.Advise(fmt.Errorf("read index: %w", err))
	}
	switch {
	case s.json:
		if err := s.printJSON(map[string]any{"schema": "sheaf.ls/1", "folder": s.Folder,
			"documents": documents}); err != nil {
			return err
		}
	case s.jsonl:
		for i := range documents {
			if err := s.printLine(&documents[i]); err != nil {
				return err
			}
		}
	case len(documents) == 0:
		s.notice("no documents in %s", s.Folder)
	}
	if len(documents) == 0 {
		return errNothing
	}
	if s.json || s.jsonl {
		return nil
	}
	if null {
		for _, d := range documents {
			if s.file(d.ID.Tree(), d.name) != "" { // a given document has no file
				fmt.Fprint(s.stdout, d.name, "\x00")
			}
		}
		return nil
	}
	if !long {
		for _, d := range documents {
			fmt.Fprintln(s.stdout, wording.Clean(d.Path))
		}
		return nil
	}
	rows := make([][]string, len(documents))
	for i, d := range documents {
		date := strings.TrimSuffix(d.Modified, "Z")
		switch {
		case date != "":
		case s.file(d.ID.Tree(), d.name) == "":
			date = "given without a file"
		default: // the file is gone
			date = "unknown"
		}
		rows[i] = []string{wording.Bytes(d.Bytes), date, wording.Plural(d.Chunks, "chunk", "chunks"),
			s.out.Paint(terminal.Path, wording.Clean(d.Path)), wording.Clean(d.Title)}
	}
	s.printTable(rows)
	return nil
}

// modified returns the time of a document's file, or "" for a text without a date. The catalog
// records no time for a file that had just changed, because the next change may have the same time.
func (s *session) modified(doc *sheaf.Document, at int64) string {
	t := time.Unix(0, at)
	if at == 0 {
		info, err := os.Stat(s.file(doc.Tree, doc.Path))
		date, ok := s.View.Date(doc.ID)
		switch {
		case err == nil:
			t = info.ModTime()
		case ok && date.Source == sheaf.DateModified: // the date that came with a given text
			t = date.Time
		default:
			return ""
		}
	}
	return t.UTC().Format(time.RFC3339)
}

func (a *app) listCollections(cmd *cobra.Command) error {
	_, c, err := a.folderSettings(cmd)
	if err != nil {
		return err
	}
	locations, err := location.Finder{Data: c.DataDir}.All()
	if err != nil {
		return err
	}
	if a.json {
		list := []map[string]any{}
		for _, loc := range locations {
			list = append(list, map[string]any{"root": loc.Root, "index": loc.Dir, "bytes": location.Bytes(loc.Dir)})
		}
		if err := a.printJSON(map[string]any{"schema": "sheaf.collections/1", "collections": list}); err != nil ||
			len(list) > 0 {
			return err
		}
	}
	if len(locations) == 0 {
		a.notice("no indexes yet: sheaf search makes one for the folder it searches")
		return errNothing
	}
	var rows [][]string
	for _, loc := range locations {
		gone := ""
		if _, err := collection.InTime(loc.Root, os.Stat); errors.Is(err, fs.ErrNotExist) {
			gone = "the folder is not there"
		}
		rows = append(rows, []string{a.out.Paint(terminal.Path, wording.Clean(loc.Root)),
			wording.Bytes(location.Bytes(loc.Dir)), a.out.Paint(terminal.Dim, loc.Dir), gone})
	}
	a.printTable(rows)
	return nil
}
