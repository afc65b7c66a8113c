package catalog_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// benchmarked is a collection on disk. It holds copies of the Markdown below SHEAF_TEST_DIR, or generated notes,
// until it has SHEAF_TEST_CHUNKS chunks. Each copy has its own folder.
type benchmarked struct {
	dir   string
	input int64
	docs  []sheaf.ID
	// links are some links of the collection, each with the document that holds it.
	links []catalog.Reference
}

// collect writes the collection into a folder, in updates as large as those of an indexing run.
func collect(b *testing.B, dir string) *benchmarked {
	b.Helper()
	chunker := must.Get(chunk.New(chunk.Options{}))
	want, _ := strconv.Atoi(os.Getenv("SHEAF_TEST_CHUNKS"))
	m, c := &benchmarked{dir: dir}, open(b, dir)
	var records []catalog.Record
	size, chunks := 0, 0
	for round := 0; round == 0 || chunks < want; round++ {
		before := chunks
		sources(b, func(path string, content []byte) {
			if want > 0 && chunks >= want {
				return
			}
			if round > 0 {
				path = fmt.Sprintf("%d/%s", round, path)
			}
			doc := chunker.Chunk("t", path, content)
			m.add(&doc)
			m.input += int64(len(content))
			chunks += len(doc.Chunks)
			records = append(records, catalog.Record{Document: doc,
				File: catalog.FileState{Size: int64(len(content)), ModTime: 1, Hash: catalog.HashOf(content)}})
			if size += len(content); size > 4<<20 {
				put(b, c, records...)
				records, size = nil, 0
			}
		})
		if chunks == before {
			break
		}
	}
	put(b, c, records...)
	return m
}

func (m *benchmarked) add(doc *sheaf.Document) {
	m.docs = append(m.docs, doc.ID)
	for i := range doc.Chunks {
		if links := doc.Chunks[i].Links; len(links) > 0 && len(m.links) < 5000 {
			m.links = append(m.links, catalog.Reference{From: doc.ID, Link: links[0]})
		}
	}
}

func sources(b *testing.B, yield func(path string, content []byte)) {
	dir := os.Getenv("SHEAF_TEST_DIR")
	if dir == "" {
		for i := range 2000 {
			yield(fmt.Sprintf("folder-%d/note-%04d.md", i%100, i), []byte(sample))
		}
		return
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || chunk.KindOf(path) != chunk.KindMarkdown {
			return err
		}
		content, err := os.ReadFile(path)
		relative, _ := filepath.Rel(dir, path)
		yield(filepath.ToSlash(relative), content)
		return err
	})
	must.Do(b, err)
}

func BenchmarkCatalog(b *testing.B) {
	start := time.Now()
	m := collect(b, b.TempDir())
	c := open(b, m.dir)
	v := c.View()
	defer v.Close()
	made := time.Since(start)
	fresh := func(b *testing.B, ask func(v *catalog.View, i int)) {
		for i := 0; b.Loop(); i++ {
			c := must.Get(catalog.Open(vfs.Disk{}, m.dir, catalog.Options{}))
			v := c.View()
			ask(v, i*7919)
			v.Close()
			c.Close()
		}
	}
	b.Run("open", func(b *testing.B) {
		fresh(b, func(*catalog.View, int) {})
		b.ReportMetric(float64(v.Chunks()), "chunks")
		b.ReportMetric(float64(v.DiskBytes())/float64(m.input), "catalog/input")
		b.ReportMetric(float64(m.input)/1e6/made.Seconds(), "making-MB/s")
	})
	b.Run("open, then the first back-links", func(b *testing.B) {
		fresh(b, func(v *catalog.View, i int) { v.Backlinks(m.docs[i%len(m.docs)]) })
	})
	b.Run("back-links", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			v.Backlinks(m.docs[i*7919%len(m.docs)])
		}
	})
	b.Run("links", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			v.Links(m.docs[i*7919%len(m.docs)])
		}
	})
	b.Run("resolve", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			l := &m.links[i*7919%len(m.links)]
			v.Resolve(l.From, l.Link)
		}
	})
	b.Run("record", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must.Do(b, must.Err(v.Record(m.docs[i*7919%len(m.docs)])))
		}
	})
	b.Run("every file", func(b *testing.B) {
		for b.Loop() {
			for range v.Files() {
			}
		}
	})
	b.Run("update one", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r := must.Get(v.Record(m.docs[i*7919%len(m.docs)]))
			put(b, c, *r)
		}
	})
	must.Do(b, v.Err())
}

// BenchmarkFollow measures Follow, which each search calls to see changes by other processes.
func BenchmarkFollow(b *testing.B) {
	c := open(b, b.TempDir())
	put(b, c, record(b, "a.md", "# A\n"))
	for b.Loop() {
		must.Do(b, c.Follow())
	}
}
