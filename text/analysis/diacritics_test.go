package analysis_test

import (
	"slices"
	"testing"

	"sheaf/internal/check"
	"sheaf/text/analysis"
)

// finds reports whether the text has each token of the query.
func finds(a *analysis.Analyzer, text, query string) bool {
	var terms []string
	for _, t := range a.Tokens(text) {
		if !t.Form {
			terms = append(terms, t.Term)
		}
	}
	tokens := a.QueryTokens(query)
	return len(tokens) > 0 && !slices.ContainsFunc(tokens, func(t analysis.Token) bool {
		return !slices.Contains(terms, t.Term)
	})
}

// TestDiacritics checks that a query without diacritics finds a word with them, and the reverse.
func TestDiacritics(t *testing.T) {
	for _, c := range []struct{ language, written, bare string }{
		{"", "résumé", "resume"},
		{"en", "résumé", "resume"},
		{"en", "résumés", "resumes"},
		{"en", "résumés", "resume"},
		{"en", "crème", "creme"},
		{"en", "brûlée", "brulee"},
		{"en", "fiancé", "fiance"},
		{"en", "Fiancé", "FIANCE"},
		{"en", "fiance\u0301", "fiance"},
		{"en", "Straße", "strasse"},
		{"en", "façade", "facade"},
		{"en", "Zürich", "zurich"},
		{"en", "ﬁancé’s", "fiance's"},
		{"", "ім\u02bcя", "ім'я"}, // Ukrainian
		{"", "ім’я", "ім\u02bcя"},
		{"", "Hawai\u02bbi", "hawai'i"},
		{"", "\u02bbOkina", "okina"},
		{"", "mes\u02b9yats", "mes’yats"}, // transliterated Russian
		{"", "Rus\u02b9", "Rus'"},
		{"", "Qur\u02beān", "Qur'an"},
		{"en", "don\u00b4t", "don't"},
		{"fr", "l\u02bchomme", "l'homme"},
		{"en", "Crème-Brûlée", "Creme-Brulee"},
		{"da", "rødgrøder", "rodgroder"},
		{"de", "Häusern", "hausern"},
		{"de", "Straßen", "strassen"},
		{"de", "größere", "grossere"},
		{"nl", "ideeën", "ideeen"},
		{"no", "bøkene", "bokene"},
		{"sv", "människorna", "manniskorna"},
		{"fr", "résumé", "resume"},
		{"fr", "qualités", "qualites"},
		{"es", "habló", "hablo"},
		{"it", "città", "citta"},
		{"tr", "çiçekler", "cicekler"},
		{"ru", "за\u0301мок", "замок"},
		{"ar", "الكِتابُ", "الكتاب"},
	} {
		a := analyzer(t, c.language)
		check.That(t, finds(a, c.written, c.bare), "%s: %q has the terms %s and is not found by %s", c.language, c.written,
			show(a.Tokens(c.written)), show(a.QueryTokens(c.bare)))
		check.That(t, finds(a, c.bare, c.written), "%s: %q has the terms %s and is not found by %s", c.language, c.bare,
			show(a.Tokens(c.bare)), show(a.QueryTokens(c.written)))
	}
}

// TestBareStems checks words whose stem changes without diacritics. A query without diacritics
// finds them, and their own terms keep the diacritics.
func TestBareStems(t *testing.T) {
	for _, c := range []struct{ language, written, bare string }{
		{"es", "comíamos", "comiamos"},
		{"es", "canción", "cancion"},
		{"fi", "äitiään", "aitiaan"},
		{"fr", "mangée", "mangee"},
		{"fr", "forêts", "forets"},
		{"hu", "házában", "hazaban"},
		{"it", "parlerò", "parlero"},
		{"pt", "canções", "cancoes"},
		{"ro", "cărților", "cartilor"},
		{"tr", "kitapların", "kitaplarin"},
	} {
		a := analyzer(t, c.language)
		check.That(t, finds(a, c.written, c.bare), "%s: %q has the terms %s and is not found by %s", c.language, c.written,
			show(a.Tokens(c.written)), show(a.QueryTokens(c.bare)))
		check.That(t, finds(a, c.written, c.written) && len(a.QueryTokens(c.written)) == 1, "%s: %q is looked for by %s",
			c.language, c.written, show(a.QueryTokens(c.written)))
	}
	a := analyzer(t, "fr")
	got, want := show(a.Tokens("mangée vite")), "0:mang 0:mange (0:mangee) 1:vit (1:vite)"
	check.That(t, got == want, "got %s, want %s", got, want)
	got, want = show(a.QueryTokens("mangée")), "0:mang"
	check.That(t, got == want, "got %s, want %s", got, want)
}
