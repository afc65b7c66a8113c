package main

import (
	"github.com/spf13/cobra"

	"sheaf/collection"
)

func (a *app) similarCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:     "similar ADDRESS",
		GroupID: groupFind,
		Short:   "Find passages like one that you have",
		Long: `Finds passages in other documents that are like the one named, which is given as
for sheaf get. By words, those that are frequent in it and rare elsewhere count;
by meaning, where a model knows its words, its whole text does.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: a.onIndex(&openOptions{Refresh: true, Make: true}, func(cmd *cobra.Command, s *session, args []string) error {
			t, err := s.resolve(args[0])
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
