package static

import (
	"bytes"
	"os"
	"testing"
)

// TestLanguageNumbersOfTheProgram checks that the language numbers in the shipped table are computed as before, so
// that lab/model makes the same bytes.
func TestLanguageNumbersOfTheProgram(t *testing.T) {
	english, err := os.ReadFile("english/sheaf-en-1.bin")
	if err != nil {
		t.Fatal(err)
	}
	others, err := os.ReadFile("builtin/sheaf-ml-1.bin")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(english)
	if err != nil {
		t.Fatal(err)
	}
	u, err := OpenUnigram(others)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(languageNumbers(m.vocab, u), u.first) {
		t.Error("the language numbers of the English pieces differ")
	}
}
