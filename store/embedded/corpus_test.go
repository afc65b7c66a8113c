package embedded_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sheaf"
	"sheaf/store"
	"sheaf/text/chunk"
)

// collection holds the documents of the benchmarks: Markdown files in the folders of SHEAF_TEST_DIR (like PATH), or
// generated text. SHEAF_TEST_CHUNKS, if set, is the number of chunks: more documents are generated from the sentences
// of the others.
type collection struct {
	batches []store.Batch // one for each document
	chunks  int
	bytes   int64 // of the texts of the documents
	queries
}

// queries are the queries of the benchmarks. A kept index keeps them in its folder.
type queries struct {
	Usual    []string // titles, and runs of words from the texts
	Frequent []string // words that are in 6 to 24 of 100 chunks, alone and three at a time
}

var collect = sync.OnceValue(func() *collection {
	c := &collection{}
	chunker, err := chunk.New(chunk.Options{})
	if err != nil {
		panic(err)
	}
	want, err := strconv.Atoi(cmp.Or(os.Getenv("SHEAF_TEST_CHUNKS"), "0"))
	if err != nil {
		panic(err)
	}
	files(func(path string, content []byte) {
		if want == 0 || c.chunks < want {
			c.add(chunker.Chunk("t", path, content), string(content))
		}
	})
	if c.chunks < want {
		g := newGenerator(c)
		for c.chunks < want {
			path, content := g.document()
			c.add(chunker.Chunk("t", path, []byte(content)), content)
		}
	}
	c.ask()
	return c
})

func files(yield func(path string, content []byte)) {
	dirs := filepath.SplitList(os.Getenv("SHEAF_TEST_DIR"))
	if len(dirs) == 0 {
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 400 {
			var b strings.Builder
			for range 12 {
				fmt.Fprintf(&b, "\n## Heading w%d of part w%d\n\n", rng.IntN(3000), rng.IntN(100))
				for range 100 {
					fmt.Fprintf(&b, "word%d ", int(20000*rng.Float64()*rng.Float64()*rng.Float64()))
				}
			}
			yield(fmt.Sprintf("folder/note%d.md", i), []byte(b.String()))
		}
		return
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || chunk.KindOf(path) != chunk.KindMarkdown {
				return err
			}
			content, err := os.ReadFile(path)
			relative, _ := filepath.Rel(filepath.Dir(dir), path)
			yield(filepath.ToSlash(relative), content)
			return err
		})
		if err != nil {
			panic(err)
		}
	}
}

func (c *collection) add(doc sheaf.Document, content string) {
	batch := store.Batch{Replace: []sheaf.ID{doc.ID}}
	for _, ch := range doc.Chunks {
		batch.Chunks = append(batch.Chunks, store.Chunk{ID: ch.ID, Doc: doc.ID,
			Fields: []store.Field{{Name: sheaf.FieldTitle, Text: ch.Title},
				{Name: sheaf.FieldHierarchy, Text: strings.Join(ch.Hierarchy, " ")},
				{Name: sheaf.FieldTags, Text: strings.Join(ch.Tags, " ")}, {Name: sheaf.FieldPath, Text: doc.Path},
				{Name: sheaf.FieldBody, Text: content[ch.Body.Start:ch.Body.End]}},
			Columns: []store.Column{{Name: sheaf.ColumnDepth, Values: []sheaf.Value{sheaf.NumberValue(float64(ch.Depth))}},
				{Name: sheaf.ColumnPath, Values: []sheaf.Value{sheaf.TextValue(doc.Path)}},
				{Name: sheaf.ColumnTree, Values: []sheaf.Value{sheaf.TextValue("t")}}}})
	}
	c.chunks += len(batch.Chunks)
	c.bytes += int64(len(content))
	c.batches = append(c.batches, batch)
}

// generator makes documents from the sentences of others: titles and two thirds of the sentences from one
// neighborhood. So words keep their usual frequencies and neighbors, and no text repeats.
type generator struct {
	rng    *rand.Rand
	titles []string
	ends   []int // for each title, the number of sentences up to the end of its chunk
	lines  []string
	made   int
}

func newGenerator(c *collection) *generator {
	g := &generator{rng: rand.New(rand.NewPCG(3, 3))}
	for _, batch := range c.batches {
		for _, ch := range batch.Chunks {
			body := ch.Fields[len(ch.Fields)-1].Text
			for line := range strings.Lines(body) {
				for sentence := range strings.SplitAfterSeq(line, ". ") {
					if sentence = strings.TrimSpace(sentence); len(sentence) > 20 && sentence[0] != '#' {
						g.lines = append(g.lines, sentence)
					}
				}
			}
			g.titles, g.ends = append(g.titles, ch.Fields[0].Text), append(g.ends, len(g.lines))
		}
	}
	return g
}

func (g *generator) document() (path, content string) {
	g.made++
	near := g.rng.IntN(len(g.titles))
	var b strings.Builder
	for section := range 2 + g.rng.IntN(8) {
		title := g.titles[min(max(near+g.rng.IntN(21)-10, 0), len(g.titles)-1)]
		b.WriteString("##"[:1+min(section, 1)] + " " + title + "\n\n")
		for range 2 + g.rng.IntN(8) {
			at := g.rng.IntN(len(g.lines))
			if g.rng.IntN(3) > 0 {
				at = min(max(g.ends[near]+g.rng.IntN(201)-100, 0), len(g.lines)-1)
			}
			b.WriteString(g.lines[at])
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return fmt.Sprintf("made/%d/%d.md", g.made/100, g.made), b.String()
}

// ask chooses the queries.
func (c *collection) ask() {
	rng := rand.New(rand.NewPCG(5, 5))
	in := map[string]int{} // number of sampled chunks that have the word
	looked := 0
	some := func(list []store.Batch) store.Chunk {
		for {
			if batch := list[rng.IntN(len(list))]; len(batch.Chunks) > 0 {
				return batch.Chunks[rng.IntN(len(batch.Chunks))]
			}
		}
	}
	for range min(c.chunks, 20_000) {
		seen := map[string]bool{}
		for w := range strings.FieldsSeq(strings.ToLower(some(c.batches).Fields[4].Text)) {
			if w = strings.Trim(w, ".,:;()*`\"'"); len(w) > 2 && !seen[w] {
				seen[w] = true
				in[w]++
			}
		}
		looked++
	}
	var frequent []string
	for w, n := range in {
		if n*100 >= 6*looked && n*100 <= 24*looked && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			frequent = append(frequent, w)
		}
	}
	slices.Sort(frequent)
	for range 50 {
		c.Frequent = append(c.Frequent, frequent[rng.IntN(len(frequent))],
			frequent[rng.IntN(len(frequent))]+" "+frequent[rng.IntN(len(frequent))]+" "+frequent[rng.IntN(len(frequent))])
	}
	for len(c.Usual) < 1000 {
		if title := some(c.batches).Fields[0].Text; len(c.Usual)%2 == 0 && title != "" {
			c.Usual = append(c.Usual, title)
		} else if words := strings.Fields(some(c.batches).Fields[4].Text); len(words) > 10 {
			at := rng.IntN(len(words) - 6)
			c.Usual = append(c.Usual, strings.Join(words[at:at+2+rng.IntN(5)], " "))
		}
	}
}
