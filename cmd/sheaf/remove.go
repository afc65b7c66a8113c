package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/index/catalog"
)

func (a *app) removeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove FOLDER...",
		GroupID: groupFolders,
		Short:   "Take folders out of the index that were added to it",
		Long: `Takes folders out of the index of the current folder, or --in FOLDER, that sheaf add
added to it. Searches no longer find their documents; the folders, which may be gone,
stay as they are. A folder is named by its path, or as sheaf ls names its documents,
before the colon.`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: a.onIndex(openOptions{}, func(cmd *cobra.Command, s *session, args []string) error {
			trees, err := s.otherFolders(args)
			if err != nil {
				return err
			}
			return s.index(cmd.Context(), trees)
		}),
	}
	addIndexFlags(cmd.Flags())
	return a.withJSON(cmd)
}

// otherFolders returns the folders of the index except the folders in names. It returns an error if names has an
// unknown folder or the main folder.
func (s *session) otherFolders(names []string) ([]catalog.Tree, error) {
	trees := s.Trees()
	for _, name := range names {
		folder, err := collection.RealFolder(name)
		if err != nil { // the folder is gone, or the index knows it by another name
			if folder, err = filepath.Abs(name); err != nil {
				return nil, err
			}
		}
		i := slices.IndexFunc(trees, func(t catalog.Tree) bool { return t.Root == folder })
		if i < 0 {
			i = slices.IndexFunc(trees, func(t catalog.Tree) bool { return t.Root != "" && t.Name == name })
		}
		switch {
		case i >= 0 && trees[i].Root == s.Where.Root:
			return nil, withHint(sheaf.Invalidf("%s is the main folder of the index", s.Where.Root),
				"sheaf remove is for folders that sheaf add added; .sheafignore in the folder leaves files out of the index")
		case i < 0:
			var roots []string
			for _, t := range trees {
				if t.Root != "" && t.Root != s.Where.Root {
					roots = append(roots, t.Root)
				}
			}
			hint := "sheaf add adds folders to it, and none was"
			if len(roots) > 0 {
				hint = "added to it are " + strings.Join(roots, ", ")
			}
			return nil, withHint(fmt.Errorf("%w: the index of %s does not have the folder %s", sheaf.ErrNotFound, s.Where.Root,
				folder), "%s", hint)
		}
		trees = slices.Delete(trees, i, i+1)
	}
	return trees, nil
}
