package main

import (
	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
)

func (a *app) initCommand() *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use:     "init [FOLDER]",
		GroupID: groupFolders,
		Short:   "Make the index of a folder, in your data folder or with --here inside it",
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
		Use:     "add FOLDER...",
		GroupID: groupFolders,
		Short:   "Add folders to the index of the current one",
		Long: `Adds folders to the index that serves the current folder, or --in FOLDER, and
indexes them. They are searched with it from then on; their paths are shown in
full.`,
		Args: arguments(cobra.MinimumNArgs(1)),
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
