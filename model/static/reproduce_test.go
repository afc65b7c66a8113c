package static

import (
	"bytes"
	"os"
	"testing"

	"sheaf/internal/must"
)

// TestLanguageNumbersOfTheProgram checks that the language numbers in the shipped table are computed as before, so
// that lab/model makes the same bytes.
func TestLanguageNumbersOfTheProgram(t *testing.T) {
	english := must.Get(os.ReadFile("english/sheaf-en-1.bin"))
	others := must.Get(os.ReadFile("builtin/sheaf-ml-1.bin"))
	m := must.Get(Open(english))
	u := must.Get(OpenUnigram(others))
	if !bytes.Equal(languageNumbers(m.vocab, u), u.first) {
		t.Error("the language numbers of the English pieces differ")
	}
}
