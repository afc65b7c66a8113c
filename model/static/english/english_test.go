package english_test

import (
	"context"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/static/english"
)

// TestMeaning checks that an answer is nearer to its question than texts with as many common words.
func TestMeaning(t *testing.T) {
	e := must.Get(english.New())
	must.Do(t, e.Verify())
	check.That(t, e.Dims() == 256 && e.Model() == "sheaf-en-1", "%s has %d dimensions", e.Model(), e.Dims())
	for _, c := range []struct{ query, right, wrong string }{
		{"how do I delete a file", "remove documents from the disk", "write a new song"},
		{"automobile repair", "fixing a broken car engine", "baking bread at home"},
		{"sign in to the server", "authentication and login of users", "the color of the page background"},
		{"heart attack symptoms", "signs of myocardial infarction", "database transaction isolation"},
		{"undo a commit", "revert the last change in git", "buy a train ticket"},
	} {
		v := must.Get(e.Embed(context.Background(), model.Query, []string{c.query, c.right, c.wrong}))
		dot := func(a, b []float32) (sum float64) {
			for i := range a {
				sum += float64(a[i]) * float64(b[i])
			}
			return sum
		}
		if right, wrong := dot(v[0], v[1]), dot(v[0], v[2]); right <= wrong+0.1 {
			t.Errorf("%q: %q is at %.2f, %q at %.2f", c.query, c.right, right, c.wrong, wrong)
		}
	}
	v, err := e.Embed(context.Background(), model.Passage, []string{"", "x"})
	check.That(t, err == nil && v[0] == nil && v[1] != nil, "an empty text: %v, %v", v, err)
	v, err = e.Embed(context.Background(), model.Query,
		[]string{"the quick brown fox", "быстрая коричневая лиса"})
	check.That(t, err == nil && v[0] != nil && v[1] == nil, "queries in English and Russian: %v, %v", v, err)
	n := 0
	e.Pieces("unbelievable embeddings", func(_, _ int) bool { n++; return true })
	check.Equal(t, n, 5, "pieces")
}
