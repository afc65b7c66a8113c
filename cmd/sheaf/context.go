package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/text/chunk"
)

func (a *app) contextCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:     "context FILE",
		GroupID: groupFind,
		Short:   "Find what to read beside a file",
		Long: `Finds passages about what a file is about: its salient words, its title and
headings and the texts of its links make the query. The file itself is left out.
It need not be in the folder, nor be Markdown; - is the standard input.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.context(cmd, args[0], o) },
	}
	a.addSearchFlags(cmd.Flags(), &o)
	return cmd
}

func (a *app) context(cmd *cobra.Command, file string, o searchOptions) error {
	content, full, err := a.readInput(file)
	if errors.Is(err, sheaf.ErrNotFound) && a.in != "" && filepath.IsLocal(file) {
		// As sheaf get and similar read it: from the folder that is searched.
		if there, at, fault := a.readInput(filepath.Join(a.in, file)); fault == nil {
			content, full, err = there, at, nil
		}
	}
	if err != nil {
		return err
	}
	s, err := a.open(cmd, openOptions{Refresh: true, Make: true})
	if err != nil {
		return err
	}
	defer s.Close()
	chunker, err := chunk.For(full, chunk.Options{})
	if err != nil {
		return err
	}
	doc := chunker.Chunk("file", filepath.Base(full), content)
	if len(doc.Chunks) == 0 {
		return sheaf.Invalidf("%s has no text", file)
	}
	q, err := s.like(cmd.Context(), collection.SalientText(&doc, &doc.Chunks[0], content), file)
	if err != nil {
		return err
	}
	for _, t := range s.View.Settings().Trees {
		if rel, ok := location.Under(t.Root, full); ok {
			q.Filter = both(q.Filter, sheaf.Not{Filter: textIn(sheaf.ColumnDoc, string(sheaf.DocumentID(t.Name, rel)))})
		}
	}
	o.label, o.alike = file, true
	return s.show(cmd, q, o)
}

// maxInput bounds a file that is read to find others like it.
const maxInput = 16 << 20

// readInput reads a file, or the standard input for "-", up to maxInput bytes.
func (a *app) readInput(name string) (content []byte, full string, err error) {
	if name == "-" {
		content, err = io.ReadAll(io.LimitReader(a.stdin, maxInput))
		return content, "stdin.md", err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, "", collection.FileFault("file", err)
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, "", err
	}
	if st.IsDir() {
		return nil, "", sheaf.Invalidf("%s is a folder: name a file", name)
	}
	if content, err = io.ReadAll(io.LimitReader(file, maxInput)); err != nil {
		return nil, "", fmt.Errorf("read: %w", err)
	}
	if full, err = filepath.EvalSymlinks(name); err != nil {
		return nil, "", err
	}
	full, err = filepath.Abs(full)
	return content, full, err
}
