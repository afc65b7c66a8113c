package collection_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// Index a folder and search it by words and meaning. The index stays: a later search reads only changed files.
func ExampleOpen() {
	index, err := os.MkdirTemp("", "index") // the default is the user's data folder
	fatal(err)
	defer os.RemoveAll(index)

	c, err := collection.Open("../examples/notes", collection.WithIndex(index))
	fatal(err)
	defer c.Close()
	answer, err := c.Search(context.Background(), "how do I undo a commit")
	fatal(err)
	fmt.Println(answer.Results[0].Path)
	// Output: git/undo.md
}

// Rank with a profile of your own, and set its parameter for one search. The page doc/profiles.md has the language.
func ExampleWithProfile() {
	notes, done := exampleFolder(map[string]string{
		"notes/reset.md": "# Reset\n\nMoves the branch.\n",
		"notes/undo.md":  "# Undo\n\nTo go back, use reset; a hard reset also changes files, so think before you reset.\n",
		"profiles/titles-first.yaml": `
name: titles-first
about: Words; titles count more; documents instead of sections.
parameters:
  title_weight: {default: 5, min: 0.1, max: 100, about: How much a word in a title counts.}
branches:
  - name: titles
    retrieve: text
    fields: {title: 1}
    weight: title_weight
  - name: texts
    retrieve: text
    fields: {body: 1}
fuse: {method: rrf, k: 60}
then:
  - aggregate: {to: document, method: max_p}
  - top: limit
`})
	defer done()
	c, err := collection.Open(filepath.Join(notes, "notes"), collection.WithIndex(filepath.Join(notes, "index")),
		collection.WithModel(nil), collection.WithProfile("titles-first", filepath.Join(notes, "profiles")))
	fatal(err)
	defer c.Close()
	for _, weight := range []string{"5", "0.1", "0"} {
		answer, err := c.Search(context.Background(), "reset", func(r *collection.SearchRequest) {
			r.Parameters = map[string]string{"title_weight": weight}
		})
		if err != nil {
			text, allowed, _ := strings.Cut(err.Error(), ": must be ")
			fmt.Println(sheaf.ExitCode(err), text)
			fmt.Println("  allowed:", allowed)
			continue
		}
		fmt.Println(weight, answer.Results[0].Path, answer.Results[1].Path)
	}
	// Output:
	// 5 reset.md undo.md
	// 0.1 undo.md reset.md
	// 2 parameters/title_weight: invalid: parameter title_weight of profile titles-first is "0"
	//   allowed: a number within 0.1..100
}

// memoryOpener opens one store in memory. An opener for a server also deletes its data in Drop.
type memoryOpener struct{ opened store.Backend }

func (m *memoryOpener) Open(_ context.Context, a *analysis.Analyzer, _ []store.VectorField,
	_ store.Access) (store.Backend, error) {
	if m.opened == nil {
		m.opened = memory.New(a)
	}
	return m.opened, nil
}

func (m *memoryOpener) Drop(context.Context) error { m.opened = nil; return nil }
func (m *memoryOpener) String() string             { return "memory" }
func (m *memoryOpener) Server() string             { return "memory" }
func (m *memoryOpener) PlaceKind() string          { return "store" }

// Keep the chunks in your own store. It implements store.Backend and any optional interfaces of
// package store.
func ExampleWithStore() {
	index, err := os.MkdirTemp("", "index")
	fatal(err)
	defer os.RemoveAll(index)

	mine := &memoryOpener{}
	c, err := collection.Open("../examples/notes", collection.WithIndex(index), collection.WithStore(mine))
	fatal(err)
	defer c.Close()
	answer, err := c.Search(context.Background(), "how do I undo a commit")
	fatal(err)
	fmt.Printf("%s from %T\n", answer.Results[0].Path, mine.opened)
	// Output: git/undo.md from *memory.Backend
}

// Two callers search the same index. Each sees only the documents that its grant allows.
func ExampleCollection_For() {
	notes, done := exampleFolder(map[string]string{
		"notes/opening.md": "---\naccess: public\n---\nOpening hours are from nine to five.\n",
		"notes/alarm.md":   "---\naccess: group:staff\n---\nSwitch off the alarm when opening.\n",
	})
	defer done()
	c, err := collection.Open(filepath.Join(notes, "notes"), collection.WithIndex(filepath.Join(notes, "index")))
	fatal(err)
	defer c.Close()
	_, err = c.Refresh(context.Background())
	fatal(err)

	search := []access.Scope{access.ScopeSearch}
	for _, grant := range []access.Grant{
		{Name: "visitor", Scopes: search},
		{Name: "staff", Scopes: search, Access: []string{"group:staff"}},
	} {
		reader, err := c.For(grant)
		fatal(err)
		answer, err := reader.Search(context.Background(), collection.SearchRequest{Text: "opening"})
		fatal(err)
		fmt.Print(grant.Name, ":")
		for _, r := range answer.Results {
			fmt.Print(" ", r.Path)
		}
		fmt.Println()
		reader.Close()
	}
	// Output:
	// visitor: opening.md
	// staff: opening.md alarm.md
}

// exampleFolder makes a folder with these texts. done removes it.
func exampleFolder(files map[string]string) (folder string, done func()) {
	folder, err := os.MkdirTemp("", "sheaf")
	fatal(err)
	for name, text := range files {
		name = filepath.Join(folder, filepath.FromSlash(name))
		fatal(os.MkdirAll(filepath.Dir(name), 0o755))
		fatal(os.WriteFile(name, []byte(text), 0o644))
	}
	return folder, func() { fatal(os.RemoveAll(folder)) }
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
