// Package jsonname looks at the names in JSON texts. Its main function is [Twice]:
// decoders take the last of two members of one name, without a word.
package jsonname

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Twice is a name that an object of a JSON text, at whatever depth, has twice, and whether
// there is one; names whose keys are equal are one. The text must be JSON; it is recursive,
// so its depth must be bounded, as decoding it does.
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

// Exact is a key for names that are compared letter by letter.
func Exact(name string) string { return name }

// AnyCase is a key for names whose case decides nothing, as [encoding/json] compares them:
// of equal letters, as [strings.EqualFold] says, it takes the first.
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
