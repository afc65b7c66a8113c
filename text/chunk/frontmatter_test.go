package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// TestLinksInFrontmatter checks that a value which is only a wiki link is a link of the document,
// at its position. Sections and windows have no such links.
func TestLinksInFrontmatter(t *testing.T) {
	const text = "---\nauthor: \"[[People/Ann|A]]\"\nseen: '[[Ann]]'\nwith:\n  - \"[[Ann]]\"\n  - Bob\n  - " +
		"\"[[Notes#Top]]\"\nnote: see [[Carol]]\nmap: {a: \"[[Dan]]\", b: [[Fay]]}\n" +
		"by: [[Ann|A]]\nor: [[[Ann]], x]\n---\nText with [[Eve]].\n"
	want := []string{"[[People/Ann|A]]", "[[Ann]]", "[[Ann]]", "[[Notes#Top]]", "[[Dan]]", "[[Fay]]",
		"[[Ann|A]]", "[[Ann]]", "[[Eve]]"}
	for _, c := range []struct {
		options chunk.Options
		want    []string
	}{{chunk.Options{}, want}, {chunk.Options{Chunker: "sections"}, want[8:]}} {
		chunker := must.Get(chunk.New(c.options))
		doc := chunker.Chunk("t", "a.md", []byte(text))
		must.Do(t, chunk.Verify(&doc, []byte(text)))
		links, at := doc.Chunks[0].Links, 0
		must.That(t, len(links) == len(c.want), "%s: links %v", chunker.Name(), links)
		for i, l := range links {
			if got := text[l.Span.Start:l.Span.End]; got != c.want[i] || l.Kind != sheaf.LinkWiki || l.Span.Start < at {
				t.Errorf("%s: link %d is %s (%v)", chunker.Name(), i, got, l)
			}
			at = l.Span.End
		}
	}
	chunker, _ := chunk.New(chunk.Options{})
	for _, before := range []string{"# as in [[Ann]]\n", "with: \"see [[Ann]]\"\n"} {
		text := "---\n" + before + "author: '[[Ann]]'\n---\n"
		doc := chunker.Chunk("t", "a.md", []byte(text))
		l := doc.Chunks[0].Links
		check.That(t, len(l) == 1 && l[0].Span.Start == strings.LastIndex(text, "[[Ann]]"), "%q has the links %v", text, l)
	}
	doc := chunker.Chunk("t", "a.md", []byte(text))
	l := doc.Chunks[0].Links[0]
	check.That(t, l.Target == "People/Ann" && l.Text == "A", "the first is %v", l)
}

// TestLinksInMalformedFrontmatter checks that items which are wiki links count where another line is no YAML.
func TestLinksInMalformedFrontmatter(t *testing.T) {
	const text = "---\nup: [[A]], [[B]]\nlist:\n  - [[C]]\n  - [[D|x]] # why\n  - '[[E]]'\n  - [F, g]\n---\nx\n"
	chunker := must.Get(chunk.New(chunk.Options{}))
	doc := chunker.Chunk("t", "a.md", []byte(text))
	check.Equal(t, fmt.Sprint(doc.Properties), "[{up true [A B]} {list true [[[C]] [[D|x]] [[E]]]}]", "")
	check.That(t, len(doc.Chunks[0].Links) == 3, "links %v", doc.Chunks[0].Links)
}

// TestHashesInFrontmatter checks that a value which begins with "#" and a word is no comment.
func TestHashesInFrontmatter(t *testing.T) {
	for front, want := range map[string]string{
		"tags: #one #two":                       "[one two] [{tags false [#one #two]}]",
		"tags:\n  - #one\n  - two # three":      "[one two] [{tags true [#one two]}]",
		"tags: [#one, two, #three]\nm:\n  a: 1": "[one two three] [{tags true [#one two #three]} {m.a false [1]}]",
		"color: #ff0000\r\n# a\nb: # c":         "[] [{color false [#ff0000]}]",
		"by: #it's \"x\"\nnote: a # b":          "[] [{by false [#it's \"x\"]} {note false [a]}]",
		"list: [\"a, #b\"]\nx: [a] # b, #c":     "[] [{list true [a, #b]} {x true [a]}]",
	} {
		doc := cut(t, "a.md", "---\n"+front+"\n---\n# A\n")
		check.Equal(t, fmt.Sprint(doc.Tags, " ", doc.Properties), want, "%s", front)
	}
}

// TestDoubleColonsInFrontmatter checks keys that are written as in an inline field.
func TestDoubleColonsInFrontmatter(t *testing.T) {
	for front, want := range map[string]string{
		"tags:: one, two\nalias:: The Cat":   "[one two] [The Cat] [{tags false [one, two]} {alias false [The Cat]}]",
		"tags::\r\n  - #one\r\nm:\r\n  a: 1": "[one] [] [{tags true [#one]} {m.a false [1]}]",
		"tags: '[\"a b\", \"#c\"]'\nalias: '[\"D, E\"]'": "[a b c] [D, E] " +
			"[{tags false [[\"a b\", \"#c\"]]} {alias false [[\"D, E\"]]}]",
		"by:: [[Ann]], [[Bob]]": "[] [] [{by true [Ann Bob]}]",
		"url: a::b\nat: ::1":    "[] [] [{url false [a::b]} {at false [::1]}]",
	} {
		doc := cut(t, "a.md", "---\n"+front+"\n---\n# A\n")
		check.Equal(t, fmt.Sprint(doc.Tags, " ", doc.Aliases, " ", doc.Properties), want, "%s", front)
	}
}

// TestMalformedTenant checks documents with any kind of tenant entry. They never count as
// documents without a tenant, which all users without a tenant can see.
func TestMalformedTenant(t *testing.T) {
	many := &strings.Builder{}
	for i := range 1100 {
		fmt.Fprintf(many, "p%d: x\n", i)
	}
	for front, want := range map[string]string{
		"tenant: acme":                              "acme",
		"tenant: {name: acme}":                      "",
		"tenant:\n  name: acme":                     "",
		"tenant: [[acme]]":                          "",
		"tenant: [acme, [globex]]":                  "acme",
		"team: &t [acme]\ntenant: *t":               "",
		"team: &t acme\ntenant: *t":                 "acme",
		"Tenant: *none":                             "",
		"? tenant\n: acme":                          "acme",
		"&k tenant: acme":                           "acme",
		"!!str tenant: acme":                        "acme",
		"tenant: acme\ntenant:":                     "",
		"<<: {tenant: acme}":                        "",
		"<<: [{a: b}, {Tenant: acme}]":              "",
		"b: &b {tenant: acme}\n<<: *b":              "",
		"b: &b\n  <<: {tenant: acme}\n<<: *b":       "",
		"b: &b {tenant: acme}\n<<: *b\ntenant: own": "own",
		many.String() + "tenant: acme":              "acme",
		many.String() + "tenant: {a: b}":            "",
	} {
		c := must.Get(chunk.For("a.md", chunk.Options{}))
		doc := c.Chunk("notes", "a.md", []byte("---\naccess: public\n"+front+"\n---\n# A\n"))
		said := false
		for _, p := range doc.Properties {
			if strings.EqualFold(p.Name, "tenant") {
				said = true
				check.That(t, len(p.Values) == 1 && p.Values[0].Text == want, "%s: tenant %v, want %q",
					front[max(0, len(front)-40):], p.Values, want)
			}
		}
		check.That(t, said, "%s: no tenant is said", front[max(0, len(front)-40):])
		check.That(t, want != "" || len(doc.Warnings) != 0, "%s: no warning", front)
	}
}

// TestDateOf checks the order of dates: frontmatter, file name, file time (D20).
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
		{"a.md", "---\ndate:\n  updated: 2024-06-01\n  created: 2024-05-31\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\nlast_update: {author: Ann, date: 2024-05-31}\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\nlast_update: 2024-05-31\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\nlastUpdated: false\npubDate: May 31, 2024\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\ndate created: 2024-05-31\ndate modified: 2024-06-01\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"2023-01-02 a.md", "---\nupdated_at: 2024-06-01\ncreated_at: 2024-05-31\n---\nx", "2024-05-31",
			sheaf.DateFrontmatter},
		{"a.md", "---\nupdatedDate: 2024-06-01\nDate-Created: 2024-05-31\n---\nx", "2024-05-31", sheaf.DateFrontmatter},
		{"a.md", "---\nLast edited time: 2024-06-01\npublishedAt: 2024-05-31\n---\nx", "2024-05-31",
			sheaf.DateFrontmatter},
		{"2023-01-02 a.md", "---\ndate: 2021/06/08\n---\nx", "2021-06-08", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2021/6/8 20:46:25\n---\nx", "2021-06-08", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 06/08/2021\n---\nx", "2020-02-03", sheaf.DateModified}, // it may mean June or August
		{"a.md", "---\ndate: 05-06-2021\n---\nx", "2020-02-03", sheaf.DateModified},
		{"a.md", "---\ndate: 06/06/2021\n---\nx", "2021-06-06", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 11/20/2018\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 20/11/2018 16:33\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 20-11-2018\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2/30/2021\n---\nx", "2020-02-03", sheaf.DateModified},
		{"a.md", "---\ndate: 4th of July 2023\n---\nx", "2023-07-04", sheaf.DateFrontmatter},
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
		{"a.md", "---\ndate: \"Nov. 20, 2018\"\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 20 Nov. 2018\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: \"Di., 20. Nov. 2018\"\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: le 20 novembre 2018\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: \"martes, 20 de noviembre de 2018\"\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 20 ноября 2018 г.\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018. 11. 20.\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 20. 11. 2018\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018 November 20\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-Nov-20\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11-20\u200b\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: \u200e2018-11-20\u200f\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 201\u00ad8-11-20\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11-20 16h33\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11-20 16:33 Uhr\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11-20 - 16:33\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018年11月20日 16時33分\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018年11月20日T16:33\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: ２０１８年１１月２０日（火）16:33\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11-20 (Tue)\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: \"<2018-11-20 Tue 16:33>\"\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11-20 Tue\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: Tue Nov 20 2018 16:33:00 GMT-0500 (Eastern Standard Time)\n---\nx", "2018-11-20",
			sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11-20 16:33 UTC+1\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-11\n---\nx", "2018-11-01", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: November 2018\n---\nx", "2018-11-01", sheaf.DateFrontmatter},
		{"a.md", "---\npublished: 2018\n---\nx", "2018-01-01", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018-13\n---\nx", "2020-02-03", sheaf.DateModified},
		{"a.md", "---\ndate: 201\n---\nx", "2020-02-03", sheaf.DateModified},
		{"a.md", "---\ndate: 1542727980\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 1542727980000\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018112016\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 2018113299\n---\nx", "2033-12-13", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 201811201633\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: \"20181120163300\"\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: \"20181120\"\n---\nx", "2018-11-20", sheaf.DateFrontmatter},
		{"a.md", "---\ndate: 20 jui 2018\n---\nx", "2020-02-03", sheaf.DateModified}, // June or July
		{"a.md", "---\ndate: Draft 2018-11-20\n---\nx", "2020-02-03", sheaf.DateModified},
		{"a.md", "---\ndate: 15427279800\n---\nx", "2020-02-03", sheaf.DateModified},
		{"2023-01-02 a.md", "---\ndate: 2024-05-31 25:00\n---\nx", "2023-01-02", sheaf.DateFileName},
		{"2023-01-02 a.md", "---\ndate: \"[[Some day]]\"\n---\nx", "2023-01-02", sheaf.DateFileName},
		{"2023-01-02 a.md", "---\ndate: soon\n---\nx", "2023-01-02", sheaf.DateFileName},
		{"notes/20230102.md", "x", "2023-01-02", sheaf.DateFileName},
		{"2024-05-31/a.md", "x", "2020-02-03", sheaf.DateModified},
		{"Jan 2nd, 2023.md", "x", "2023-01-02", sheaf.DateFileName},
		{"Monday Jan 2nd 2023.md", "x", "2023-01-02", sheaf.DateFileName},
		{"days/2 janvier 2023.md", "x", "2023-01-02", sheaf.DateFileName},
		{"2023年1月2日.md", "x", "2023-01-02", sheaf.DateFileName},
		{"20-11-2018.md", "x", "2018-11-20", sheaf.DateFileName},
		{"02.01.2023 minutes.md", "x", "2023-01-02", sheaf.DateFileName},
		{"2023-1-2.md", "x", "2023-01-02", sheaf.DateFileName},
		{"2023-01.md", "x", "2023-01-01", sheaf.DateFileName},
		{"journal/2023/01/02.md", "x", "2023-01-02", sheaf.DateFileName},
		{"2023/1/2.md", "x", "2023-01-02", sheaf.DateFileName},
		{"2023/13/02.md", "x", "2020-02-03", sheaf.DateModified},
		{"2023/01/02/a.md", "x", "2020-02-03", sheaf.DateModified},
		{"01-02-2023.md", "x", "2020-02-03", sheaf.DateModified}, // January or February
		{"25-11-2018 trip.md", "x", "2018-11-25", sheaf.DateFileName},
		{"2018 11 25 trip.md", "x", "2018-11-25", sheaf.DateFileName},
		{"2024-W10.md", "x", "2024-03-04", sheaf.DateFileName},
		{"weekly_2021-w01 plan.md", "x", "2021-01-04", sheaf.DateFileName},
		{"2020-W53.md", "x", "2020-12-28", sheaf.DateFileName},
		{"2021-W53.md", "x", "2020-02-03", sheaf.DateModified},
		{"2024-W00.md", "x", "2020-02-03", sheaf.DateModified},
		{"Room 12018 11 25.md", "x", "2020-02-03", sheaf.DateModified},
		{"11-25-2018 trip.md", "x", "2018-11-25", sheaf.DateFileName},
		{"trip 25_11_2018.md", "x", "2018-11-25", sheaf.DateFileName},
		{"5-11-2018 trip.md", "x", "2020-02-03", sheaf.DateModified},
		{"555-25-11-2018.md", "x", "2018-11-25", sheaf.DateFileName},
		{"25 November 2018 trip.md", "x", "2018-11-25", sheaf.DateFileName},
		{"Trip, Nov 25th, 2018, end.md", "x", "2018-11-25", sheaf.DateFileName},
		{"trip_25_nov_2018.md", "x", "2018-11-25", sheaf.DateFileName},
		{"Reise 25. März 2018 Wien.md", "x", "2018-03-25", sheaf.DateFileName},
		{"2018年1月5日 会議.md", "x", "2018-01-05", sheaf.DateFileName},
		{"２０１８－１１－２５ 会議.md", "x", "2018-11-25", sheaf.DateFileName},
		{"2018\u201111\u201125 trip.md", "x", "2018-11-25", sheaf.DateFileName},
		{"Chapter 12 2018.md", "x", "2020-02-03", sheaf.DateModified},
		{"Report May 2018.md", "x", "2020-02-03", sheaf.DateModified},
		{"2018/November/25.md", "x", "2018-11-25", sheaf.DateFileName},
		{"2018/11-November/25.md", "x", "2018-11-25", sheaf.DateFileName},
		{"2018/11 - November/25 Sunday.md", "x", "2018-11-25", sheaf.DateFileName},
		{"2018/2018-11/25.md", "x", "2018-11-25", sheaf.DateFileName},
		{"minutes 2023_01_02.md", "x", "2023-01-02", sheaf.DateFileName},
		{"v2023.01.02.md", "x", "2023-01-02", sheaf.DateFileName},
		{"202301021530 Note.md", "x", "2023-01-02", sheaf.DateFileName},
		{"20230102153059.md", "x", "2023-01-02", sheaf.DateFileName},
		{"202301022530.md", "x", "2020-02-03", sheaf.DateModified},
		{"2023010215300.md", "x", "2020-02-03", sheaf.DateModified},
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
		chunker := must.Get(chunk.New(chunk.Options{}))
		doc := chunker.Chunk("t", c.name, []byte(c.text))
		got := chunk.DateOf(&doc, modified)
		check.That(t, got.Time.Format(time.DateOnly) == c.want && got.Source == c.source,
			"%s %q: %s from %v, want %s from %v", c.name, c.text, got.Time, got.Source, c.want, c.source)
	}
}
