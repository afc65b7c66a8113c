package chunk

import (
	"fmt"
	"strconv"
	"strings"

	"sheaf"
)

// Parse returns the options of the chunker with this name: see [Chunker.Name]. An index records the name, so that all
// its documents are cut in the same way. Options that are not in the name have their defaults. If the name has tokens
// other than words, Parse calls the function tokens with the name of these tokens. A nil function or a nil result means
// that the tokens are unknown. Parse fails with sheaf.ErrUnsupported for a name of another version, or with unknown
// tokens.
func Parse(name string, tokens func(name string) Tokens) (Options, error) {
	unknown := func(part string) (Options, error) {
		return Options{}, fmt.Errorf("%w: chunker %q: %q is not known to this version", sheaf.ErrUnsupported, name, part)
	}
	words := strings.Fields(name)
	if len(words) == 0 {
		return unknown("")
	}
	o := Options{Chunker: words[0]}
	numbers := map[string]*int{}
	texts := map[string]*string{}
	flags := map[string]*bool{"github-slugs": &o.GitHubSlugs}
	switch o.Chunker {
	case "sections":
		numbers["cap"] = &o.Sections.Cap
	case "window":
		numbers["size"], numbers["overlap"] = &o.Window.Size, &o.Window.Overlap
		texts["boundary"], texts["tokens"] = &o.Window.Boundary, &o.Window.TokensName
		flags["large"] = &o.Window.Large
		flags["title-prefix"], flags["metadata-suffix"] = &o.Window.TitlePrefix, &o.Window.MetadataSuffix
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if flag := flags[word]; flag != nil {
			*flag = true
		} else if text := texts[key]; text != nil {
			*text = value
		} else if number := numbers[key]; number != nil {
			n, err := strconv.Atoi(value)
			if err != nil {
				return unknown(word)
			}
			*number = n
		} else {
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
