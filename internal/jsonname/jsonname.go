// Package jsonname finds repeated names in JSON texts. Its main function is [Twice]. JSON decoders
// use the last of two members with one name, without an error.
package jsonname

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Twice returns a name that occurs twice in an object of a JSON text, at any depth, and whether there is one.
// Names with equal keys are equal. The text must be valid JSON of limited depth, because Twice is recursive.
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

// Exact returns a name unchanged, as the key for exact comparison.
func Exact(name string) string { return name }

// AnyCase returns the key for comparison in any case, as in [encoding/json]: the first of the
// letters that [strings.EqualFold] calls equal.
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
