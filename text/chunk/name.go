package chunk

import (
	"fmt"
	"strconv"
	"strings"

	"sheaf"
)

// Parse reads the name of a chunker, as [Chunker.Name] writes it and as an index
// records it, so that an index goes on being cut as it was begun. Options that
// the name leaves out have their defaults. tokens gives the tokens of a name that is
// not that of words, nil where it is not known; it may be nil itself. The error wraps
// sheaf.ErrUnsupported: the name comes from another version, or counts tokens that
// are not known.
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
