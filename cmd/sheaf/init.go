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

func (a *app) initCommand() *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Make the index of a folder, in your data folder or with --here inside it",
		Long: `Makes an index of its own for a folder and fills it. Searching does the same when
a folder has none, so this is for folders below one that is indexed already, and
for --here: the index then lies in .sheaf inside the folder and moves with it.
Without --here, a folder whose index lies inside it keeps using that one. An index
that came with a folder, from elsewhere or from its former place, is used once
--here has adopted it.`,
		Args: a.folderArgument,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, c, err := a.folderSettings(cmd)
			if err != nil {
				return err
			}
			if here && a.index != "" {
				return sheaf.Invalidf("--here puts the index into %s and --index into %s: give one of them", folder, a.index)
			}
			own, inside := a.finder(c).Own(folder), a.finder(c).Inside(folder)
			where := own
			switch {
			case here:
				where = inside
				if err := trust().ApproveFolder(folder); err != nil {
					return collection.FileFault("file", err)
				}
			case a.index == "" && inside.Exists && trust().FolderApproved(folder):
				where = inside
			}
			s, err := a.openIndex(cmd.Context(), folder, where, openOptions{Make: true}, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			if here && own.Exists {
				a.notice("the index in %s is no longer used: remove it when you need nothing of it", own.Dir)
			}
			return s.index(cmd.Context(), s.Trees())
		},
	}
	cmd.Flags().BoolVar(&here, "here", false, "put the index inside the folder")
	addIndexFlags(cmd.Flags())
	addMakeFlags(cmd.Flags())
	return a.withJSON(cmd)
}

func (a *app) addCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add FOLDER...",
		Short: "Add folders to the index of the current one",
		Long: `Adds folders to the index that serves the current folder, or --in FOLDER, and
indexes them. They are searched with it from then on; their paths are shown in
full.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var folders []string
			for _, arg := range args {
				folder, err := collection.RealFolder(arg)
				if err != nil {
					return err
				}
				folders = append(folders, folder)
			}
			return a.withIndex(cmd, openOptions{Make: true}, func(s *session) error {
				trees, err := s.WithFolders(folders)
				if err != nil {
					return err
				}
				return s.index(cmd.Context(), trees)
			})
		},
	}
	addIndexFlags(cmd.Flags())
	return a.withJSON(cmd)
}

func (a *app) removeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove FOLDER...",
		Short: "Take folders out of the index that were added to it",
		Long: `Takes folders out of the index of the current folder, or --in FOLDER, that sheaf add
added to it. Searches no longer find their documents; the folders, which may be gone,
stay as they are. A folder is named by its path, or as sheaf ls names its documents,
before the colon.`,
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

// otherFolders returns the folders of the index except those in names, which must not have the main folder.
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
