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
		Short:   "Find passages like a given one",
		Long: `Finds passages in other documents that are like this one. The address is as for
sheaf get. The search by words uses words that are frequent in the passage and rare
elsewhere. The search by meaning uses its whole text, if a model knows its words.`,
		Args: arguments(cobra.ExactArgs(1)),
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
