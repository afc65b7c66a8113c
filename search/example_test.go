package search_test

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/profile"
	"sheaf/search"
)

// The example needs a store, facts about its documents, a model for queries, and a profile.
func ExampleSearcher_Search() {
	store := animals()
	s := &search.Searcher{Backend: store, Facts: store, Embed: animalVectors}
	p, err := profile.Load("sonar", profile.Builtin)
	if err != nil {
		fmt.Println(err)
		return
	}
	q := sheaf.Query{Text: "cat", Words: sheaf.Match{Text: "cat"}, Limit: 2}
	result, err := s.Search(context.Background(), q, p, search.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range result.Hits {
		fmt.Printf("%d %s, from %s\n", h.Rank, h.Path, h.Constituents[0].Title)
	}
	// Output:
	// 1 cats.md, from Food
	// 2 garden.md, from Visitors
}
