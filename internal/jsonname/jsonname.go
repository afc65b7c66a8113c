// Package jsonname finds repeated names in JSON texts. Its main function is [Twice]. If an object has two members with
// the same name, JSON decoders use the last one and report no error.
package jsonname

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Twice returns a name that occurs twice in one object of a JSON text, if there is one. It searches objects at any
// depth. Two names count as the same name if the function key returns the same text for both. The caller must pass
// valid JSON of limited depth, as Twice is recursive.
func Twice(text []byte, key func(name string) string) (name string, ok bool) {
	return twice(json.NewDecoder(bytes.NewReader(text)), key)
}

func twice(text *json.Decoder, key func(name string) string) (string, bool) {
	begin, _ := text.Token()
	if _, ok := begin.(json.Delim); !ok {
		return "", false
	}
	known := map[string]bool{}
	for text.More() {
		if begin == json.Delim('{') {
			token, _ := text.Token()
			name, _ := token.(string)
			if known[key(name)] {
				return name, true
			}
			known[key(name)] = true
		}
		if name, ok := twice(text, key); ok {
			return name, true
		}
	}
	_, _ = text.Token() // the end of the object or list
	return "", false
}

// Exact returns a name unchanged. As the parameter key of Twice, it makes the comparison exact.
func Exact(name string) string { return name }

// AnyCase is for the parameter key of Twice. It returns the same text for names that [encoding/json] takes as equal. It
// replaces each letter by the smallest of the letters that [strings.EqualFold] takes as equal.
func AnyCase(name string) string {
	return strings.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name)
}
