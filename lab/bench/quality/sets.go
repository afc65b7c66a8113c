package main

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// set is one judged collection.
type set struct {
	name       string
	kind       string
	language   string
	split      string // dev or held
	path       string // the argument for sheaf eval
	judgements string // the file in the folder qrels, without .tsv
}

// key returns the name of the result file of a set, without .json.
func (s *set) key() string {
	key := strings.ReplaceAll(s.name, "/", "+")
	if s.kind == inPages {
		key += "+sections"
	}
	return key
}

const (
	notes   = "notes"
	inPages = "sections in pages"
)

// A collection gives a second set, for its sections, if it has at least leastSections judgements of sections.
const leastSections = 20

//go:embed public.tsv
var public string

// findSets returns the sets of a split in some folders. A folder may have INDEX.tsv, as
// lab/bench/collect writes it. Known public collections and notes with queries.yaml need no INDEX.tsv.
func findSets(split string, folders []string) ([]set, error) {
	if split != "dev" && split != "held" && split != "all" {
		return nil, fmt.Errorf("unknown split %q; use dev, held or all", split)
	}
	var sets []set
	for _, folder := range folders {
		index, err := os.ReadFile(filepath.Join(folder, "INDEX.tsv"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		seen := map[string]bool{}
		for _, lines := range []string{string(index), public} {
			found, err := readIndex(lines)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", folder, err)
			}
			for _, s := range found {
				if !seen[s.name] && (split == "all" || s.split == split) {
					sets = append(sets, s.in(folder)...)
				}
				seen[s.name] = true
			}
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no judged collections of split %s in %s", split, strings.Join(folders, ", "))
	}
	return sets, nil
}

// readIndex reads the columns name, kind, language and split of tab-separated lines. If a column is missing, its
// default applies: the kind notes, the language en, or the split dev.
func readIndex(text string) ([]set, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var sets []set
	for _, row := range rows[1:] {
		s := set{kind: notes, language: "en", split: "dev"}
		for i, column := range rows[0] {
			switch column {
			case "name":
				s.name = row[i]
			case "kind":
				s.kind = row[i]
			case "language":
				s.language = row[i]
			case "split":
				s.split = row[i]
			}
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// in returns the sets that folder has under the name of s: none, one, or two. The second is for sections.
func (s set) in(folder string) []set {
	s.path, s.judgements = filepath.Join(folder, filepath.FromSlash(s.name)), "test"
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(s.path, filepath.FromSlash(name)))
		return err == nil
	}
	if s.kind == notes {
		if !exists("queries.yaml") {
			return nil
		}
		s.path = filepath.Join(s.path, "queries.yaml")
		return []set{s}
	}
	if !exists("qrels/test.tsv") && !exists("qrels/test.tsv.gz") {
		return nil
	}
	sets := []set{s}
	if judged, err := os.ReadFile(filepath.Join(s.path, "qrels", "sections.tsv")); err == nil &&
		strings.Count(string(judged), "\n") > leastSections {
		s.kind, s.judgements = inPages, "sections"
		sets = append(sets, s)
	}
	return sets
}
