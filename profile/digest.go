package profile

import (
	"reflect"
	"strconv"
	"sync"
)

// Digest returns a hash of everything in a profile that changes rankings. Profiles with the same digest give the same
// ranking, so a measurement of one is valid for the others. The digest ignores the names of profiles and files, the
// order of parameters and fields, and the spelling of numbers. The digest includes unused parameters and the spelling
// of expressions. It also includes the names of branches, because answers show them.
func (p *Profile) Digest() string { return p.digest }

// IsDefault reports whether a profile has the same digest as the built-in profile [Default].
func (p *Profile) IsDefault() bool {
	if p.unchanged {
		return p.Name == Default
	}
	return p.digest == defaultDigest()
}

var defaultDigest = sync.OnceValue(func() string {
	own, err := Load(Default, Builtin)
	if err != nil {
		panic(err) // the files are in the binary
	}
	return own.digest
})

// Equal reports whether two profiles have the same content and come from the same file.
func (p *Profile) Equal(q *Profile) bool { return reflect.DeepEqual(p, q) }

// note adds texts to the digest, if there is one.
func (d *decoder) note(texts ...string) {
	if d.digest != nil {
		for _, text := range texts {
			d.digest.WriteString(text)
		}
	}
}

// plainNumber returns text in the shortest form if it is a number, and unchanged if it is not.
func plainNumber(text string) string {
	e, err := parseExpression(text)
	if err != nil || e.op != 'n' {
		return text
	}
	return strconv.FormatFloat(e.number, 'g', -1, 64)
}
