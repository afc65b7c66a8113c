package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
		Use:   "ls [FOLDER]",
		Short: "List indexed documents, or with --collections all indexes",
		Args:  a.folderArgument,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if null && (all || long || a.json || a.jsonl) {
				return sheaf.Invalidf("--null lists paths alone: leave out --collections, --long, --json and --jsonl")
			}
			if all {
				return a.listCollections(cmd)
			}
			return a.withIndex(cmd, openOptions{}, func(s *session) error { return s.list(long, null) })
		},
	}
	cmd.Flags().BoolVar(&all, "collections", false, "list all indexes in the data folder")
	cmd.Flags().BoolVarP(&long, "long", "l", false, "also sizes, dates and titles")
	cmd.Flags().BoolVarP(&null, "null", "0", false, "print the names of files alone, each with a zero byte behind it, "+
		"as xargs -0 reads them")
	cmd.Flags().BoolVar(&a.jsonl, "jsonl", false, "print one JSON object for each document")
	return a.withJSON(cmd)
}

// documentJSON is a document, also one line of `sheaf ls --jsonl`.
type documentJSON struct {
	ID       sheaf.ID `json:"id"`                 // the ID of the document
	Path     string   `json:"path"`               // the path in the searched folder
	Title    string   `json:"title"`              // the title of the document
	Chunks   int      `json:"chunks"`             // how many chunks it has
	Bytes    int64    `json:"bytes"`              // the size of its text
	Modified string   `json:"modified,omitempty"` // when the file changed, in UTC; absent for a text without a date
	Tags     []string `json:"tags"`               // the tags of the document

	name string // Path with the bytes of the file name
}

// lsJSON is the answer of `sheaf ls`.
type lsJSON struct {
	Documents []documentJSON `json:"documents"` // the documents in the folder and below it
	Folder    string         `json:"folder"`    // the path of the listed folder
	Schema    string         `json:"schema"`
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
			Bytes: file.Size, Modified: s.modifiedTime(&doc, file.ModTime), Tags: orEmpty(doc.Tags),
			name: s.exactName(doc.Tree, doc.Path)})
	}
	if err := s.View.Err(); err != nil {
		return s.Advise(fmt.Errorf("read index: %w", err))
	}
	var err error
	switch {
	case s.json:
		err = s.printJSON(lsJSON{Schema: "sheaf.ls/1", Folder: s.Folder, Documents: documents})
	case len(documents) == 0 && !s.jsonl:
		s.notice("no documents in %s", s.Folder)
	default:
		err = s.printDocuments(documents, long, null)
	}
	if err == nil && len(documents) == 0 {
		return errNothing
	}
	return err
}

// printDocuments writes a line for each document: its path. If long is true, the line also has size, date, chunks and
// title. If null is true, it writes only documents that have a file: the file's name and a zero byte. With --jsonl, it
// writes JSON instead.
func (s *session) printDocuments(documents []documentJSON, long, null bool) error {
	rows := [][]string{}
	for _, d := range documents {
		noFile := s.file(d.ID.Tree(), d.name) == ""
		switch {
		case s.jsonl:
			if err := s.printLine(d); err != nil {
				return err
			}
		case null && !noFile:
			fmt.Fprint(s.stdout, d.name, "\x00")
		case null:
		case !long:
			fmt.Fprintln(s.stdout, wording.Clean(d.Path))
		default:
			date := d.Modified
			if t, err := time.Parse(time.RFC3339, date); err == nil {
				date = t.Local().Format("2006-01-02T15:04:05") // as the filter date: reads it
			}
			if date == "" && noFile {
				date = "given without a file"
			}
			rows = append(rows, []string{wording.Bytes(d.Bytes), cmp.Or(date, "unknown"), // unknown when the file is gone
				wording.Plural(d.Chunks, "chunk", "chunks"), s.out.Paint(terminal.Path, wording.Clean(d.Path)),
				wording.Clean(d.Title)})
		}
	}
	s.printTable(rows)
	return nil
}

// modifiedTime returns the time when a document's file changed, or "" if the time is unknown. at is the time in the
// catalog. It is 0 for a file that changed just before indexing, because another change could have the same time. For
// 0, modifiedTime reads the time of the file, or takes the date that came with a given text.
func (s *session) modifiedTime(doc *sheaf.Document, at int64) string {
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

// collectionsJSON is the answer of `sheaf ls --collections`.
type collectionsJSON struct {
	Collections []locationJSON `json:"collections"` // the indexes of this user
	Schema      string         `json:"schema"`
}

// locationJSON is an index and the folder that it serves.
type locationJSON struct {
	Bytes int64  `json:"bytes"` // the size of the index on disk
	Index string `json:"index"` // the folder of the index
	Root  string `json:"root"`  // the indexed folder
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
	list := []locationJSON{}
	for _, loc := range locations {
		list = append(list, locationJSON{Root: loc.Root, Index: loc.Dir, Bytes: location.Bytes(loc.Dir)})
	}
	err = a.print(collectionsJSON{Schema: "sheaf.collections/1", Collections: list}, func() {
		var rows [][]string
		for _, loc := range list {
			gone := ""
			if _, err := collection.InTime(loc.Root, os.Stat); errors.Is(err, fs.ErrNotExist) {
				gone = "the folder is not there"
			}
			rows = append(rows, []string{a.out.Paint(terminal.Path, wording.Clean(loc.Root)), wording.Bytes(loc.Bytes),
				a.out.Paint(terminal.Dim, loc.Index), gone})
		}
		a.printTable(rows)
	})
	if err == nil && len(list) == 0 {
		a.notice("no indexes yet: sheaf search makes one for the folder it searches")
		return errNothing
	}
	return err
}
