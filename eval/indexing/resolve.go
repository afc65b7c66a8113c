package indexing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/index/catalog"
	"sheaf/internal/wikilink"
	"sheaf/text/chunk"
)

// resolve returns a copy of d whose judgements name documents and sections of the index. An author may leave out ".md",
// and may write a heading instead of its slug. If a target does not exist, the error names the line.
func resolve(d *dataset.Dataset, v *catalog.View) (*dataset.Dataset, error) {
	out := *d
	out.Sections = false // a name with # may be a note, not a section
	out.Qrels = make(map[string]metric.Judgements, len(d.Qrels))
	for q, judged := range d.Qrels {
		out.Qrels[q] = make(metric.Judgements, len(judged))
		for _, target := range slices.Sorted(maps.Keys(judged)) {
			found, err := resolveTarget(target, v)
			if err != nil {
				return nil, fmt.Errorf("%s: query %q: %w", d.Where[q], q, err)
			}
			out.Qrels[q][found] = judged[target]
			out.Sections = out.Sections || strings.Contains(found, "\x00")
		}
	}
	return &out, nil
}

func resolveTarget(target string, v *catalog.View) (string, error) {
	path, heading, _ := strings.Cut(target, "\x00")
	found, err := resolveSection(path, heading, v)
	for longer := heading != ""; err != nil && longer; { // names of notes may contain #, too
		var more string
		more, heading, longer = strings.Cut(heading, "#")
		path += "#" + more
		if other, fault := resolveSection(path, heading, v); fault == nil {
			return other, nil
		}
	}
	return found, err
}

func resolveSection(path, heading string, v *catalog.View) (string, error) {
	for _, ending := range append([]string{"", ".txt"}, wikilink.MarkdownEndings[:]...) {
		doc, ok := v.Document(sheaf.DocumentID(tree, path+ending))
		if !ok {
			continue
		}
		if heading = strings.TrimSpace(heading); heading == "" {
			return doc.Path, nil
		}
		for _, same := range []func(c *sheaf.Chunk) bool{
			func(c *sheaf.Chunk) bool { return c.Slug == heading },
			func(c *sheaf.Chunk) bool { return c.HasHeading() && strings.EqualFold(c.Title, heading) },
			func(c *sheaf.Chunk) bool { return c.HasHeading() && c.Slug == chunk.Slug(heading) },
		} {
			if i := slices.IndexFunc(doc.Chunks, func(c sheaf.Chunk) bool { return same(&c) }); i >= 0 {
				return dataset.Section(doc.Path, doc.Chunks[i].Slug), nil
			}
		}
		var titles []string
		for i := range doc.Chunks {
			if doc.Chunks[i].HasHeading() && len(titles) < maxNamed {
				titles = append(titles, doc.Chunks[i].Title)
			}
		}
		return "", sheaf.Invalidf("%s has no heading %q (its headings: %s)", doc.Path, heading, strings.Join(titles, "; "))
	}
	return "", fmt.Errorf("%w: no note %q in the folder, or it is left out", sheaf.ErrNotFound, path)
}

// maxNamed is the largest number of headings that an error lists.
const maxNamed = 20
