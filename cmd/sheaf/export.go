package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/storeurl"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/text/analysis"
)

// exports are what sheaf export writes, each with the address it is written for
// when none is given.
var exports = []struct {
	name, address, about string
	kinds                []string
}{
	{"sql", "postgres://", "Write the SQL that makes the tables in PostgreSQL", []string{"postgres"}},
	{"mapping", "opensearch://host",
		"Write the settings and mappings that make the indices in OpenSearch or Elasticsearch",
		[]string{"opensearch", "elasticsearch"}},
	{"weaviate-class", "weaviate://host", "Write the classes of Weaviate", []string{"weaviate"}},
}

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export",
		GroupID: groupKeep,
		Short:   "Write the files for creating a store by hand",
		Long: `Writes what sheaf would make on a server for this folder, with its analyzer and the
dimensions of its model, to the standard output, or into a folder for Vespa. No server
is asked. A place that is
made by hand like this is taken as if sheaf had made it.`,
		Example: `  sheaf export sql | psql notes
  sheaf export mapping --for 'opensearch://host/notes?k1=0.9&b=0.4'
  sheaf export vespa-app app --profile onyx-vespa && vespa deploy app`,
	}
	for _, e := range exports {
		address := ""
		one := &cobra.Command{
			Use: e.name, Short: e.about, Args: arguments(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error { return a.export(cmd, address, e.kinds) },
		}
		one.Flags().StringVar(&address, "for", e.address, "address of the store, for its name and options")
		cmd.AddCommand(one)
	}
	cmd.AddCommand(a.exportVespaCommand())
	return cmd
}

// export writes what makes the place at address.
func (a *app) export(cmd *cobra.Command, address string, kinds []string) error {
	return a.exportFor(cmd, address, kinds,
		func(t *storeurl.Target, an *analysis.Analyzer, fields []store.VectorField) error {
			text, err := t.Export(an, fields)
			if err != nil {
				return err
			}
			if t.Kind == "elasticsearch" {
				a.notice("Elasticsearch before 9.2 refuses one setting; for such a server remove %q", opensearch.VectorsInSource)
			}
			_, err = fmt.Fprint(a.stdout, text)
			return err
		})
}

// exportFor calls write with a store of one of kinds, the analyzer and the vector
// fields of this folder.
func (a *app) exportFor(cmd *cobra.Command, address string, kinds []string,
	write func(*storeurl.Target, *analysis.Analyzer, []store.VectorField) error) error {
	folder, err := a.commandFolder()
	if err != nil {
		return err
	}
	c, err := a.settings(cmd, folder)
	if err != nil {
		return err
	}
	where, _, err := a.finder(c).Find(folder)
	if err != nil {
		return err
	}
	s := a.newSession(folder, where)
	defer s.Close()
	if where.Exists {
		if f := s.examineCatalog(cmd.Context()); f.Err != nil {
			return f.Err
		}
	} else if err := s.NewAnalyzer(cmd.Context()); err != nil {
		return err
	}
	target, err := storeurl.Parse(address, filepath.Base(location.Finder{}.Own(where.Root).Dir), storeurl.Secrets{})
	if err != nil {
		return err
	}
	if !slices.Contains(kinds, target.Kind) {
		return sheaf.Invalidf("--for %s: must be an address of %s", target, strings.Join(kinds, " or "))
	}
	e, err := newEmbedder(cmd.Context(), c, 0, collection.Hasty)
	if err != nil {
		return err
	}
	return write(target, s.Analyzer, collection.VectorFields(e))
}
