package profile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sheaf"
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

// isText reports whether text is, byte for byte, the built-in profile with the name of p.
func (p *Profile) isText(text []byte) bool {
	own, err := builtin.ReadFile("builtin/" + p.Name + ".yaml")
	return err == nil && p.Extends == "" && bytes.Equal(own, text)
}

// compute returns the digest of p.
func (p *Profile) compute() string {
	var b strings.Builder
	var params []string
	for i := range p.Parameters {
		params = append(params, fmt.Sprintf("%s=%q\n", p.Parameters[i].Name, plainNumber(p.Parameters[i].Default)))
	}
	slices.Sort(params)
	for _, param := range params {
		b.WriteString(param)
	}
	for _, s := range []*step{p.expand, p.scan} {
		s.digest(&b)
	}
	p.candidates.digest(&b)
	p.main.digest(&b)
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:16])
}

func (ph *phase) digest(b *strings.Builder) {
	if ph == nil {
		b.WriteString("no phase\n")
		return
	}
	for i := range ph.branches {
		br := &ph.branches[i]
		fmt.Fprintf(b, "branch %q %s", br.name, br.retrieve)
		digestSettings(b, br.settings)
		for _, name := range sheaf.Fields {
			for j := range br.fields {
				if br.fields[j].name == name {
					fmt.Fprintf(b, " field %q", name)
					br.fields[j].weight.digest(b)
				}
			}
		}
		b.WriteByte('\n')
		for j := range br.steps {
			br.steps[j].digest(b)
		}
	}
	ph.fuse.digest(b)
	for i := range ph.steps {
		ph.steps[i].digest(b)
	}
	if ph.limit != nil {
		ph.limit.digest(b)
	}
}

func (s *step) digest(b *strings.Builder) {
	if s == nil {
		b.WriteString("no step\n")
		return
	}
	b.WriteString(s.kind.name)
	digestSettings(b, s.settings)
	b.WriteByte('\n')
}

func digestSettings(b *strings.Builder, settings []setting) {
	for i := range settings {
		settings[i].digest(b)
	}
}

func (s *setting) digest(b *strings.Builder) {
	name := ""
	if s.option != nil {
		name = s.option.Name
	}
	if s.number != nil {
		fmt.Fprintf(b, " %s=%q", name, plainNumber(s.number.source))
		return
	}
	fmt.Fprintf(b, " %s=%q%q", name, s.text, s.texts)
}

// plainNumber returns text in the shortest form if it is a number, and unchanged if it is not.
func plainNumber(text string) string {
	e, err := parseExpression(text)
	if err != nil || e.op != 'n' {
		return text
	}
	return strconv.FormatFloat(e.number, 'g', -1, 64)
}
