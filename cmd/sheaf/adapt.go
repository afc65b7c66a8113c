package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/eval"
	"sheaf/eval/knownitem"
	"sheaf/eval/self"
	"sheaf/inference/company"
	"sheaf/inference/static/english"
	"sheaf/vfs"
)

// adaptJSON is what `sheaf adapt` found, as it is printed and as it is kept beside
// the index.
type adaptJSON struct {
	Schema string `json:"schema"`
	Model  string `json:"model"`
	Kept   bool   `json:"kept"`
	*self.ReadingReport
	Reads company.Words `json:"reads"`
}

const (
	adaptSchema = "sheaf.adapt/1"
	// shownWords is how many learned words people are shown.
	shownWords = 12
)

type adaptOptions struct {
	queries int
	seed    uint64
	keep    bool
	undo    bool
}

func (a *app) adaptCommand() *cobra.Command {
	var o adaptOptions
	cmd := &cobra.Command{
		Use:     "adapt [FOLDER]",
		GroupID: groupOther,
		Short:   "Learn the words of your documents that the built-in model does not know",
		Long: `Learns, from which words occur together, what the documents mean by words that the
built-in model does not know, such as k8s beside kubernetes, and asks the documents
questions to see whether that helps: sentences in which such a word stands for one
that it occurs with must be found better, and all others not worse. It is kept only
when that is more than chance. From then on searches of this folder read these words
so, and say why; nothing is indexed again. --undo forgets it.`,
		Example: `  sheaf adapt ~/notes
  sheaf adapt --undo`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.adapt(cmd, args, o) },
	}
	f := cmd.Flags()
	f.IntVarP(&o.queries, "queries", "n", 100, "questions of each kind")
	f.Uint64Var(&o.seed, "seed", 1, "makes other questions of the same documents")
	f.BoolVar(&o.keep, "keep", false, "keep what was learned also when questions do not show that it helps")
	f.BoolVar(&o.undo, "undo", false, "forget what was learned")
	f.Bool("no-refresh", false, "do not look for changed files first")
	a.addJSON(cmd)
	return cmd
}

func (a *app) adapt(cmd *cobra.Command, args []string, o adaptOptions) error {
	if err := checkCount("--queries", o.queries); err != nil {
		return err
	}
	s, c, err := a.openOwn(cmd, args)
	if err != nil {
		return err
	}
	defer s.close()
	file := filepath.Join(s.where.Dir, collection.WordsName)
	if o.undo {
		return forgetWords(file)
	}
	model, ok := s.embedder.(*english.Embedder)
	if !ok || c.Embedder == nil {
		return fmt.Errorf("adapt: only the built-in model learns words, and this index does not use it: %w", sheaf.ErrUnsupported)
	}
	columns, err := columnsOf([]string{s.config.Profile}, nil)
	if err != nil {
		return err
	}
	words := self.LearnWords(c, model)
	progress := terminal.NewProgress(a.err, "asking")
	r, err := self.Read(cmd.Context(), c, columns[0], model, words, self.Options{Queries: knownitem.Options{PerKind: o.queries, Seed: o.seed}, Statistics: eval.DefaultStatistics,
		Progress: func(done, all int) { progress.Update(done, all, 0, "questions") }})
	progress.Done()
	if err != nil {
		return err
	}
	out := &adaptJSON{Schema: adaptSchema, Model: model.Model(), Kept: len(words) > 0 && (r.Better || o.keep), ReadingReport: r, Reads: words}
	if out.Kept {
		content, err := json.MarshalIndent(out, "", "  ")
		if err != nil {
			return err
		}
		if err := vfs.WriteFile(file, append(content, '\n'), 0); err != nil {
			return s.advise(err)
		}
	} else if err := forgetWords(file); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(out)
	}
	a.printAdapt(out)
	return nil
}

func forgetWords(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget words: %w", err)
	}
	return nil
}

func (a *app) printAdapt(r *adaptJSON) {
	fmt.Fprintf(a.stdout, "%s learned that the model does not know\n", terminal.Plural(r.Words, "word", "words"))
	for _, word := range slices.Sorted(maps.Keys(r.Reads))[:min(shownWords, len(r.Reads))] {
		var names []string
		for _, f := range r.Reads[word] {
			names = append(names, f.Word)
		}
		fmt.Fprintf(a.stdout, "  %s: %s (together %d times, most in %s)\n", terminal.Clean(word), terminal.Clean(strings.Join(names, ", ")), r.Reads[word][0].Together, terminal.Clean(r.Reads[word][0].Where))
	}
	if more := len(r.Reads) - shownWords; more > 0 {
		fmt.Fprintf(a.stdout, "  and %s more\n", terminal.Count(more))
	}
	rows := [][]string{{self.Measure, "questions", "without", "with", "p"}}
	for _, row := range []struct {
		name string
		c    self.Change
	}{{"a learned word for one it occurs with", r.Exchanged}, {"all others", r.Others}} {
		rows = append(rows, []string{row.name, terminal.Count(row.c.Queries), fmt.Sprintf("%.3f", row.c.Before), fmt.Sprintf("%.3f", row.c.After), fmt.Sprintf("%.3f", row.c.P)})
	}
	a.printTable(rows)
	switch {
	case r.Kept && r.Better:
		fmt.Fprintln(a.stdout, "kept: searches of this folder read these words so from now on (sheaf adapt --undo forgets it)")
	case r.Kept:
		fmt.Fprintln(a.stdout, "kept because you said so: no significant difference (sheaf adapt --undo forgets it)")
	default:
		fmt.Fprintln(a.stdout, "not kept: no significant gain")
	}
}

// learned are the words that were learned from the collection for the model in
// use; nil when there are none.
func (s *session) learned() company.Words {
	content, err := os.ReadFile(filepath.Join(s.where.Dir, collection.WordsName))
	if err != nil {
		return nil // usually it is not there
	}
	var kept adaptJSON
	if err := json.Unmarshal(content, &kept); err != nil || kept.Schema != adaptSchema || kept.Model != s.embedder.Model() {
		return nil
	}
	for word, friends := range kept.Reads {
		if len(friends) == 0 {
			delete(kept.Reads, word)
		}
	}
	return kept.Reads
}
