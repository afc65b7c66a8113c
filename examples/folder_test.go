package examples

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"sheaf/collection"
)

// Index a folder and search it by words and by meaning. The index outlives the program: a later search reads only
// what has changed.
func Example_folder() {
	dir, err := os.MkdirTemp("", "sheaf")
	check(err)
	defer os.RemoveAll(dir)
	notes, index := filepath.Join(dir, "notes"), filepath.Join(dir, "index")
	write(notes, "git.md", "# Git\n\n## Undo a commit\n\nUse reset to undo the last commit.\n")
	write(notes, "tea.md", "# Tea\n\nSteep for three minutes.\n")

	c, err := collection.Open(notes, collection.WithIndex(index), collection.WithLanguage("en"))
	check(err)
	defer c.Close()
	for _, text := range []string{"how do I undo a commit", "brewing drinks"} {
		answer, err := c.Search(context.Background(), text)
		check(err)
		best := answer.Results[0]
		fmt.Printf("%s: %s %s\n", text, best.Path, best.Breadcrumb)
	}
	// Output:
	// how do I undo a commit: git.md > Git › Undo a commit
	// brewing drinks: tea.md > Tea
}

func write(folder, name, text string) {
	check(os.MkdirAll(folder, 0o755))
	check(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
