// Package builtin has the built-in model: the English table of package english, and a table for other languages.
// Vectors of the second table are near the vectors of English translations. The model needs no download, no server and
// no preparation. doc/languages.md lists the languages.
package builtin

import (
	_ "embed"
	"strings"

	"sheaf/model/static"
	"sheaf/model/static/english"
)

//go:embed sheaf-ml-1.bin
var file []byte

// Name is the name of the model, as in the file.
const Name = "sheaf-ml-1"

// Languages are the codes of the languages that the model was trained for.
var Languages = strings.Fields(`ar bg bn ca cs da de el en es et fa fi fil fr he hi hr hu id it ja ko lt lv ms nb nl pl
	pt ro ru sk sl sr sv sw ta th tr uk ur vi zh`)

// New returns the model. It returns an error only when the program is damaged.
func New() (*static.Embedder, error) {
	m, err := english.Open()
	if err != nil {
		return nil, err
	}
	others, err := static.OpenUnigram(file)
	if err != nil {
		return nil, err
	}
	return static.NewEmbedder(others.Name(), m, others)
}

// LanguagesOf returns the codes of the languages that the built-in model of this name knows, or nil for other models.
func LanguagesOf(name string) []string {
	switch {
	case name == Name:
		return Languages
	case strings.HasPrefix(name, english.Family):
		return []string{"en"}
	}
	return nil
}

// Made reports whether name is this model or an earlier version of the built-in model.
func Made(name string) bool {
	return strings.HasPrefix(name, "sheaf-ml-") || strings.HasPrefix(name, english.Family)
}
