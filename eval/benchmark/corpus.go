// Package benchmark compares search engines in one run on one machine. It creates a corpus of chunks with queries,
// and runs every engine in its own process. It compares speed, size, memory and the correctness of answers.
//
// An engine is a program that follows the protocol in peer.go. Sheaf's engine is one of them.
package benchmark

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/text/chunk"
)

// Document is one chunk of the corpus. It is a line in corpus.jsonl.
type Document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Query is a line of queries.jsonl.
type Query struct {
	ID string `json:"id"`
	// Class is "real" if the query is a heading or the text of a link. It is "hot" if the query has one or three of the
	// most frequent words.
	Class string `json:"class"`
	Text  string `json:"text"`
	// Known is the ID of the chunk whose heading is the query. It is "" for other queries.
	Known string `json:"known,omitempty"`
}

// Corpus has the documents and queries of a benchmark.
type Corpus struct {
	Documents []Document
	Queries   []Query
	// Made is the number of documents that consist of sentences of other documents. It is above 0 if the Markdown files
	// have too few sections for the wanted number of documents.
	Made int
	// Bytes is the size of all titles and texts together.
	Bytes int64
}

// These are the names of the files in the folder of a corpus.
const (
	corpusFile  = "corpus.jsonl"
	queriesFile = "queries.jsonl"
)

const (
	maxChunkBytes = 2000
	minChunkBytes = 40
	seed          = 20_240_531
)

// readFolders makes a corpus of n chunks from the Markdown files in folders. It shuffles the files with a fixed seed,
// and cuts them at headings and at about 2,000 bytes. If the files have too little text, it makes the missing chunks
// from sentences of the other chunks. The same files always give the same corpus.
func readFolders(folders []string, n int) (*Corpus, error) {
	var files []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && path != folder && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			if d.Type().IsRegular() && chunk.KindOf(path) == chunk.KindMarkdown {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the corpus: %w", err)
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	slices.Sort(files)
	random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	c := &Corpus{}
	var links []string
	for _, name := range files {
		if len(c.Documents) >= n {
			break
		}
		content, err := os.ReadFile(name)
		if err != nil {
			continue // the file was deleted or is unreadable
		}
		links = append(links, c.add(content)...)
	}
	if len(c.Documents) == 0 {
		return nil, sheaf.Invalidf("the corpus: no Markdown files in %s", strings.Join(folders, ", "))
	}
	c.Documents = c.Documents[:min(n, len(c.Documents))]
	c.fill(n, random)
	for i := range c.Documents {
		c.Documents[i].ID = fmt.Sprintf("d%07d", i)
		c.Bytes += int64(len(c.Documents[i].Title) + len(c.Documents[i].Text))
	}
	c.makeQueries(links, random)
	return c, nil
}

// add cuts a file into documents. It returns the texts of the links in the file.
func (c *Corpus) add(content []byte) (links []string) {
	cutter, err := chunk.New(chunk.Options{})
	if err != nil {
		panic(err) // the defaults are valid
	}
	doc := cutter.Chunk("bench", "x.md", content)
	for i := range doc.Chunks {
		part := &doc.Chunks[i]
		for _, l := range part.Links {
			if n := len(strings.Fields(l.Text)); n >= 2 && n <= 6 {
				links = append(links, l.Text)
			}
		}
		title := strings.Join(part.Hierarchy, " > ")
		body := strings.ToValidUTF8(string(content[min(part.Body.Start, len(content)):part.Body.End]), " ")
		for piece := range pieces(strings.TrimSpace(body)) {
			c.Documents = append(c.Documents, Document{Title: title, Text: piece})
		}
	}
	return links
}

// pieces yields parts of text of about maxChunkBytes each. It cuts only at line ends.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			end := len(text)
			if end > maxChunkBytes {
				end = maxChunkBytes
				if i := strings.LastIndexByte(text[:end], '\n'); i > 0 {
					end = i + 1
				} else {
					for end > 0 && text[end]&0xC0 == 0x80 {
						end--
					}
				}
			}
			piece := strings.TrimSpace(text[:end])
			text = text[end:]
			if len(piece) >= minChunkBytes && !yield(piece) {
				return
			}
		}
	}
}

// fill adds documents until there are n. Each new document has the title of a real document, and sentences of several
// real documents. Two thirds of the sentences come from the document with the title and the 49 documents after it.
func (c *Corpus) fill(n int, random *rand.Rand) {
	real := len(c.Documents)
	if real >= n {
		return
	}
	sentences := make([][]string, real)
	for i := range sentences {
		sentences[i] = strings.SplitAfter(strings.ReplaceAll(c.Documents[i].Text, "\n", " "), ". ")
	}
	const neighborhood = 50
	for len(c.Documents) < n {
		from := random.IntN(real)
		var b strings.Builder
		want := 300 + random.IntN(900)
		for b.Len() < want {
			at := random.IntN(real)
			if random.IntN(3) < 2 {
				at = (from + random.IntN(neighborhood)) % real
			}
			s := sentences[at]
			b.WriteString(strings.TrimSpace(s[random.IntN(len(s))]))
			b.WriteByte(' ')
		}
		c.Documents = append(c.Documents, Document{Title: c.Documents[from].Title, Text: strings.TrimSpace(b.String())})
		c.Made++
	}
}

const (
	knownQueries = 500
	linkQueries  = 500
	hotWords     = 50
)

// makeQueries makes 500 queries from headings, 500 from texts of links, and 100 from the most frequent words.
func (c *Corpus) makeQueries(links []string, random *rand.Rand) {
	add := func(class, text, known string) {
		text = plain(text)
		if text != "" {
			c.Queries = append(c.Queries, Query{ID: fmt.Sprintf("q%04d", len(c.Queries)), Class: class, Text: text,
				Known: known})
		}
	}
	seen := map[string]bool{}
	for tries := 0; tries < 20*knownQueries && len(seen) < knownQueries; tries++ {
		d := &c.Documents[random.IntN(len(c.Documents)-c.Made)]
		heading := d.Title[strings.LastIndex(d.Title, " > ")+1:]
		heading = strings.TrimPrefix(heading, "> ")
		if n := len(strings.Fields(heading)); n < 2 || n > 8 || seen[heading] {
			continue
		}
		seen[heading] = true
		add("real", heading, d.ID)
	}
	for range min(linkQueries, len(links)) {
		add("real", links[random.IntN(len(links))], "")
	}
	hot := c.frequentWords(hotWords)
	for _, w := range hot {
		add("hot", w, "")
	}
	for range hotWords {
		if len(hot) > 0 {
			add("hot", hot[random.IntN(len(hot))]+" "+hot[random.IntN(len(hot))]+" "+hot[random.IntN(len(hot))], "")
		}
	}
}

// plain keeps only letters, digits and spaces of a text. So the result has no syntax of a query language.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }),
		" ")
}

// functionWords has English words that are too frequent for a query, with spaces around each.
const functionWords = " a an and are as at be but by can for from has have if in into is it its no not of on or " +
	"such that the their then there these they this to was will with you your "

// frequentWords returns the n words that occur in the largest number of sampled documents, without function words.
func (c *Corpus) frequentWords(n int) []string {
	counts := map[string]int{}
	step := max(1, len(c.Documents)/20_000)
	for i := 0; i < len(c.Documents); i += step {
		seen := map[string]bool{}
		for w := range strings.FieldsSeq(strings.ToLower(plain(c.Documents[i].Text))) {
			if len(w) > 2 && !seen[w] && !strings.Contains(functionWords, " "+w+" ") {
				seen[w] = true
				counts[w]++
			}
		}
	}
	words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	return words[:min(n, len(words))]
}

// Write writes the corpus to a folder, in the format that peers read.
func (c *Corpus) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(writeLines(filepath.Join(dir, corpusFile), c.Documents),
		writeLines(filepath.Join(dir, queriesFile), c.Queries))
}

func writeLines[T any](name string, lines []T) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range lines {
		if err := e.Encode(&lines[i]); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

func readLines[T any](name string) (out []T, err error) {
	return out, eachLine(name, func(one *T) { out = append(out, *one) })
}

// eachLine reads a file of JSON lines, and calls add with the value of each line.
func eachLine[T any](name string, add func(one *T)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20)); d.More(); {
		var one T
		if err := d.Decode(&one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		add(&one)
	}
	return nil
}
