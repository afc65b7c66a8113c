package chunk

import (
	"fmt"
	"strconv"
	"strings"

	"sheaf"
)

// namedOption is an option that the name of a chunker records. value points to an int, a string or a bool.
type namedOption struct {
	name  string
	value any
}

// githubSlugs is the last word in the name of a chunker that ignores the ids that authors gave to headings.
const githubSlugs = "github-slugs"

// nameOf returns the name of a chunker with its options, as an index records it. A bool is in the name only if it is
// true. slugs says that the name ends with githubSlugs.
func nameOf(chunker string, options []namedOption, slugs bool) string {
	name := chunker
	for _, o := range append(options, namedOption{githubSlugs, &slugs}) {
		switch value := o.value.(type) {
		case *int:
			name += fmt.Sprintf(" %s=%d", o.name, *value)
		case *string:
			name += fmt.Sprintf(" %s=%s", o.name, *value)
		case *bool:
			if *value {
				name += " " + o.name
			}
		}
	}
	return name
}

// Parse returns the options of the chunker with this name: see [Chunker.Name]. An index records the name, so that all
// its documents are cut in the same way. Options that are not in the name have their defaults. If windows count other
// tokens than words, Parse calls the function tokens with the name of the tokens. If the function or its result is nil,
// these tokens are unknown. For unknown tokens, and for a name of another version, Parse returns sheaf.ErrUnsupported.
func Parse(name string, tokens func(name string) Tokens) (Options, error) {
	unknown := func(part string) (Options, error) {
		return Options{}, fmt.Errorf("%w: chunker %q: %q is not known to this version", sheaf.ErrUnsupported, name, part)
	}
	words := strings.Fields(name)
	if len(words) == 0 {
		return unknown("")
	}
	o := Options{Chunker: words[0]}
	options := map[string]any{githubSlugs: &o.GitHubSlugs}
	list := map[string][]namedOption{"sections": o.Sections.nameOptions(), "window": o.Window.nameOptions()}[o.Chunker]
	for _, option := range list {
		options[option.name] = option.value
	}
	for _, word := range words[1:] {
		key, value, equal := strings.Cut(word, "=")
		switch option := options[key].(type) {
		case *bool:
			if equal {
				return unknown(word)
			}
			*option = true
		case *string:
			*option = value
		case *int:
			n, err := strconv.Atoi(value)
			if err != nil {
				return unknown(word)
			}
			*option = n
		default:
			return unknown(word)
		}
	}
	if t := o.Window.TokensName; t != "" && t != wordTokens {
		if tokens != nil {
			o.Window.Tokens = tokens(t)
		}
		if o.Window.Tokens == nil {
			return unknown("tokens=" + t)
		}
	}
	if _, err := New(o); err != nil {
		return unknown(name)
	}
	return o, nil
}
