package chunk_test

import (
	"testing"
	"time"

	"sheaf"
	"sheaf/text/chunk"
)

// TestDateOf checks that the date of frontmatter wins over the file name, and the file name over the file time (D20).
func TestDateOf(t *testing.T) {
	modified := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		name, text, want string
		source           sheaf.DateSource
	}{
		{"a.md", "---\ndate: 2024-05-31\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"2023-01-02 a.md", "---\ndate: 2024-05-31\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\nmodified: 2024-06-01\ncreated: 2024-05-31\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\nDate: \"2024-05-31\"\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"2023-01-02 a.md", "---\ndate: 2021/06/08\n---\nx", "2021-06-08", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2021/6/8 20:46:25\n---\nx", "2021-06-08", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 06/08/2021\n---\nx", "2020-02-03", sheaf.DateModified}, // it may mean June or August
		{"a.md", "---\ndate: soon\nupdated: 2024-07-01\n---\nx", "2024-07-01", sheaf.DateFrontmatter},
		{"2023-01-02 a.md", "---\ndate: \"[[2024-05-31]]\"\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ncreated: '[[Journal/2024-05-31.md|that day]]'\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: [[2024-05-31]]\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate:\n  - [[Journal/2024-05-31|that day]]\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: '2024-05-31 '\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2024-05-31 23:30 CET\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2024-05-31 23:30:00.5 -0800 PST\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2024-05-31T23:30:00+02:00[Europe/Berlin]\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2024-05-31 at 11:30 pm\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2024-05-31 11pm\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 31-May-2024\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: Fri May 31 23:30:00 2024 +0200\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: Fri May 31 23:30:00 CEST 2024\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: ２０２４年５月３１日\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2024–05–31\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"2023-01-02 a.md", "---\ndate: 2024-05-31 25:00\n---\nx", "2023-01-02", sheaf.DateFileName},
		{"2023-01-02 a.md", "---\ndate: \"[[Some day]]\"\n---\nx", "2023-01-02", sheaf.DateFileName},
		{"2023-01-02 a.md", "---\ndate: soon\n---\nx", "2023-01-02", sheaf.DateFileName},
		{"notes/20230102.md", "x", "2023-01-02", sheaf.DateFileName},
		{"2024-05-31/a.md", "x", "2020-02-03", sheaf.DateModified},
		{"minutes 2023_01_02.md", "x", "2023-01-02", sheaf.DateFileName},
		{"v2023.01.02.md", "x", "2023-01-02", sheaf.DateFileName},
		{"120230102.md", "x", "2020-02-03", sheaf.DateModified},
		{"202301021.md", "x", "2020-02-03", sheaf.DateModified},
		{"2023-02-30.md", "x", "2020-02-03", sheaf.DateModified},
		{"1066-10-14.md", "x", "2020-02-03", sheaf.DateModified},
		{"a.md", "x", "2020-02-03", sheaf.DateModified},
		{"a.md", "---\ndate: 1599-05-31\n---\nx", "1599-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 9999-12-31T23:59:59Z\n---\nx", "9999-12-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 9999-12-31T23:59:59-05:00\n---\nx", "2020-02-03", sheaf.DateModified},     // in the year 10000
		{"a.md", "---\ndate: \"0000-01-01T00:00:00+01:00\"\n---\nx", "2020-02-03", sheaf.DateModified}, // in the year -1
	} {
		chunker, err := chunk.New(chunk.Options{})
		must(t, err)
		doc := chunker.Chunk("t", c.name, []byte(c.text))
		got := chunk.DateOf(&doc, modified)
		if got.Time.Format(time.DateOnly) != c.want || got.Source != c.source {
			t.Errorf("%s %q: %s from %v, want %s from %v", c.name, c.text, got.Time, got.Source, c.want, c.source)
		}
	}
}
