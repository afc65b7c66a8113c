package static

import (
	"bytes"
	"os"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestLanguageNumbersOfTheProgram checks that the shipped table's language numbers are reproducible, so that
// lab/model makes equal bytes.
func TestLanguageNumbersOfTheProgram(t *testing.T) {
	english := must.Get(os.ReadFile("english/sheaf-en-1.bin"))
	others := must.Get(os.ReadFile("builtin/sheaf-ml-1.bin"))
	m := must.Get(Open(english))
	u := must.Get(OpenUnigram(others))
	check.That(t, bytes.Equal(languageNumbers(m.vocab, u), u.first), "the language numbers of the English pieces differ")
}
