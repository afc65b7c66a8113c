package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
)

func (a *app) contextCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "context FILE",
		Short: "Find what to read beside a file",
		Long: `Finds passages about what a file is about: its salient words, its title and
headings and the texts of its links make the query. The file itself is left out.
It need not be in the folder, nor be Markdown; - is the standard input.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.context(cmd, args[0], o) },
	}
	a.addSearchFlags(cmd.Flags(), &o)
	return cmd
}

func (a *app) context(cmd *cobra.Command, file string, o searchOptions) error {
	content, full, err := a.readInput(file)
	if errors.Is(err, sheaf.ErrNotFound) && a.in != "" && filepath.IsLocal(file) {
		// Look in the searched folder, as sheaf get and sheaf similar do.
		if there, at, fault := a.readInput(filepath.Join(a.in, file)); fault == nil {
			content, full, err = there, at, nil
		}
	}
	if err != nil {
		return err
	}
	o.Label, o.alike = file, true
	err = a.withIndex(cmd, openOptions{Refresh: true, Make: true}, func(s *session) error {
		return s.show(cmd, o, func(r *collection.Reader, q collection.SearchRequest) (*collection.Answer, error) {
			return r.Context(cmd.Context(), full, content, q)
		})
	})
	if field := new(collection.FieldError); errors.As(err, &field) && field.Field == "text" {
		return sheaf.Invalidf("%s has no text", file)
	}
	return err
}

// readInput reads a file, or standard input for "-", up to the size limit. full is the real path of the file, or "".
func (a *app) readInput(name string) (content []byte, full string, err error) {
	if name == "-" {
		content, err = io.ReadAll(io.LimitReader(a.stdin, collection.MaxContextBytes))
		return content, "", err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, "", collection.FileFault("file", err)
	}
	defer file.Close()
	if content, err = io.ReadAll(io.LimitReader(file, collection.MaxContextBytes)); err != nil {
		return nil, "", collection.FileFault("file", err)
	}
	full, err = collection.RealPath(name)
	return content, full, err
}

func (a *app) similarCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "similar ADDRESS",
		Short: "Find passages like a given one",
		Long: `Finds passages in other documents that are like this one. The address is as for
sheaf get. The search by words uses words that are frequent in the passage and rare
elsewhere. The search by meaning uses its whole text, if a model knows its words.`,
		RunE: a.onIndex(openOptions{Refresh: true, Make: true}, func(cmd *cobra.Command, s *session, args []string) error {
			t, err := s.resolve(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			o.Label, o.alike = args[0], true
			return s.show(cmd, o, func(r *collection.Reader, q collection.SearchRequest) (*collection.Answer, error) {
				return r.Similar(cmd.Context(), t.Chunk.ID, q)
			})
		}),
	}
	a.addSearchFlags(cmd.Flags(), &o)
	return cmd
}
