package examples

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/profile"
)

// A ranking of one's own is a few lines of YAML: here titles count as much as the
// program says, and every document is one answer. doc/profiles.md has the language.
const titlesFirst = `
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
`

// Rank with a profile of one's own, and set its parameter for one search.
func Example_profile() {
	coll, done := openNotes(map[string]string{
		"reset.md": "# Reset\n\nMoves the branch.\n",
		"undo.md":  "# Undo\n\nTo go back, use reset; a hard reset also changes files, so think before you reset.\n",
	}, func(o *collection.Options) {
		o.Profile = "titles-first"
		// Where profiles come from: this text, then the built-in ones.
		o.Profiles = func(name string) (string, []byte, error) {
			if name == "titles-first" {
				return "titles-first.yaml", []byte(titlesFirst), nil
			}
			return profile.Builtin(name)
		}
	})
	defer done()
	reader, err := coll.For(access.Unrestricted())
	check(err)
	defer reader.Close()
	for _, weight := range []string{"5", "0.1"} {
		answer, err := reader.Search(context.Background(),
			collection.SearchRequest{Text: "reset", Parameters: map[string]string{"title_weight": weight}})
		check(err)
		fmt.Print("title_weight ", weight, ":")
		for _, r := range answer.Results {
			fmt.Print(" ", r.Path)
		}
		fmt.Println()
	}
	_, err = reader.Search(context.Background(),
		collection.SearchRequest{Text: "reset", Parameters: map[string]string{"title_weight": "0"}})
	fmt.Println(sheaf.ExitCode(err), err)
	// Output:
	// title_weight 5: reset.md undo.md
	// title_weight 0.1: undo.md reset.md
	// 2 parameters/title_weight: invalid: parameter title_weight of profile titles-first is "0": must be a number within 0.1..100
}
