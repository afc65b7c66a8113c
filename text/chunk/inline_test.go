package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

func TestWithoutComments(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"of HTML", "a <!-- b --> c", "a c"},
		{"of Obsidian", "a %%b%% c", "a c"},
		{"at the begin of a line", "<!-- b --> c\n%%d%% e", "c\ne"},
		{"of several lines", "a %%b\nd%% c\n<!-- e\nf --> g", "a\nc\ng"},
		{"over several blocks", "a\n\n%%\n# B\n\n```\nd\n%%\n\nc\n\n<!-- e\n\n# F\n\n- g\n-->\nh", "a\nc\nh"},
		{"that begin and end as lines do", "%% a\n\nb %%\n\nc", "c"},
		{"with comments inside", "%%\na %%b%% c\n%%\nd %%e %%f%% g%%", "d f%% g%%"},
		{"that do not end: a block of HTML", "a\n\n<!-- b\n\nc", "a"},
		{"that do not end: a block of Obsidian", "a\n\n%%\nb\n\nc", "a"},
		{"that do not end, within a line", "a <!-- b\n\nc %% d\n\ne", "a <!-- b\nc %% d\ne"},
		{"that end in another paragraph", "a <!-- b\n\nc --> d", "a <!-- b\nc --> d"},
		{"in code", "```\n<!-- a -->\n%%b%%\n```\n\n    <!-- c -->\n\n`%%d%%` `` <!-- `e --> ``",
			"```\n<!-- a -->\n%%b%%\n```\n<!-- c -->\n`%%d%%` `` <!-- `e --> ``"},
		{"in a diagram", "```mermaid\n%%\ngraph\nA --> B\n```\nc %%d%%", "```mermaid\n%%\ngraph\nA --> B\n```\nc"},
		{"in formulas", "$$\na %% b %%\n$$\n%%c%%d", "$$\na %% b %%\n$$\nd"},
		{"behind code in a list", "- ```\n  a\n# B <!-- c -->", "- ```\na\n# B"},
		{"in code over lines", "a `b\n%%c%%` %%d%%", "a `b\n%%c%%`"},
		{"a backtick before code", "a ` b\n```\n%%c%% `\n```\n%%d%%", "a ` b\n```\n%%c%% `\n```"},
		{"in a table", "| a | b |\n|---|---|\n| c <!-- d --> | e %%f%% |", "| a | b |\n|---|---|\n| c | e |"},
		{"in lists", "- a\n- <!-- b -->\n- %%c%% d\n  - e <!-- f\n  g --> h\n1. <!-- i", "- a\n-\n- d\n- e\nh\n1."},
		{"in a list that ends", "- <!-- a\n\nb", "-\nb"},
		{"in quotes", "> a <!-- b\n> c --> d\n> %%\n> e\n> %%\n> f", "> a\nd\n>\n> f"},
		{"in headings", "# A <!-- b -->\n\n## C %%d%%", "# A\n## C"},
		{"in tags of HTML", "<div>\n<!-- a -->\nb\n</div>", "<div>\nb\n</div>"},
		{"frontmatter has none", "---\na: \"%%b%%\"\n---\n%%c%%d", "---\na: \"%%b%%\"\n---\nd"},
		{"escaped", `\<!-- a --> b`, `\<!-- a --> b`},
		{"numbers", "5%% a 6%% b", "5%% a 6%% b"},
		{"empty", "a <!----> b <!--> c <!---> d", "a b c d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := chunk.WithoutComments("n.md", []byte(c.text))
			must.That(t, len(got) == len(c.text) && strings.Count(string(got), "\n") == strings.Count(c.text, "\n"),
				"%d bytes are %d: %q", len(c.text), len(got), got)
			check.Equal(t, words(string(got)), words(c.want), "words")
			check.Equal(t, string(chunk.WithoutComments("a.html", []byte(c.text))), c.text, "another kind of file")
		})
	}
}

// words returns the lines of a text that are not blank, with one space between words.
func words(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 {
			lines = append(lines, strings.Join(f, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// TestCommentsChangeNoBlock checks that text after a comment stays text, and that a comment holds
// no heading, tag, link or task.
func TestCommentsChangeNoBlock(t *testing.T) {
	text := "%%secret%% A #tag\n\n- %%secret%% b [[c]]\n\n%%\n# Secret\n#hidden [[secret]] - [ ] secret due:: " +
		"2026-01-01\n%%\n"
	cut := must.Get(chunk.New(chunk.Options{}))
	doc := cut.Chunk("t", "n.md", chunk.WithoutComments("n.md", []byte(text)))
	must.That(t, len(doc.Chunks) == 1, "%d chunks", len(doc.Chunks))
	check.That(t, len(doc.Tags) == 1 && doc.Tags[0] == "tag" && len(doc.Chunks[0].Links) == 1 && len(doc.Fields) == 0,
		"tags %q, links %v, fields %v", doc.Tags, doc.Chunks[0].Links, doc.Fields)
}

// TestCommentsInHeadings checks that removed comments leave no blanks in titles.
func TestCommentsInHeadings(t *testing.T) {
	text := "# A <!-- x --> B %%y%% C\n\na\n\n## %% x %% Sec <!-- y -->\n\nb\n\nSet <!-- x --> ext\n---\n\nc\n"
	doc := must.Get(chunk.New(chunk.Options{})).Chunk("t", "n.md", chunk.WithoutComments("n.md", []byte(text)))
	var titles []string
	for _, c := range doc.Chunks {
		titles = append(titles, c.Title)
	}
	check.Equal(t, strings.Join(titles, "|"), "A B C|A B C|Sec|Set ext", "the titles")
}

func TestSqueezed(t *testing.T) {
	check.Equal(t, chunk.Squeezed("a"+strings.Repeat(" ", 100)+"b  c\n"), "a b  c\n", "Squeezed")
}

func FuzzComments(f *testing.F) {
	f.Add("%%a%% <!-- b\n\n--> `%%`")
	f.Add("%%\n- ```\n  <!--\n%%\n\\<!-->")
	f.Fuzz(func(t *testing.T, text string) {
		got := chunk.WithoutComments("a.md", []byte(text))
		must.That(t, len(got) == len(text), "%d bytes are %d", len(text), len(got))
		for i := range got {
			must.That(t, (text[i] == '\n') == (got[i] == '\n'), "line at %d of %q is %q", i, text, got)
		}
	})
}

// TestTagFields checks that the properties tag and tags in the text, as Logseq writes them, are tags of their section.
func TestTagFields(t *testing.T) {
	doc := must.Get(chunk.New(chunk.Options{})).Chunk("t", "a.md", []byte("tags:: a, [[b c]], a\n\n# One\n\n"+
		"- Tag:: d, #e\n- tag:: f\n\n# Two\n\n#g [tags:: a]\n\n# Three\n\n- tags:: [[h]] [[i, j]], [k, \"l\"], m [[n]]\n"+
		"- tags:: [o](x.md), p, [[q]\n\n# Four\n\n- tags:: C#, dotnet, F#\n- tags:: #x, y #z, #[[two words]]\n"))
	check.Equal(t, strings.Join(doc.Tags, ";"), "a;b c;d;e;f;g;h;i, j;k;l;m;n;p;q;C#;dotnet;F#;y;two words;x;z",
		"tags of the document")
	for i, want := range []string{"[a b c]", "[d e f]", "[g a]", "[h i, j k l m n p q]",
		"[C# dotnet F# y two words x z]"} {
		check.Equal(t, fmt.Sprint(doc.Chunks[i].Tags), want, "tags of chunk %d", i)
	}
}

// TestOutlineBelowHeading checks that items with tabs below a heading are a list, as Logseq writes them, and not code.
func TestOutlineBelowHeading(t *testing.T) {
	const text = "# Log\n\n\t- #one [[A]]\n\t- [ ] look #two\n\t\t- by:: [[B]]\n\t\t\t- #three\n\t- ## #four\n\n" +
		"\tcode #no\n\n    - #no [[C]]\n\nText\n\t\t- TODO #five\n"
	doc := must.Get(chunk.New(chunk.Options{})).Chunk("t", "a.md", []byte(text))
	must.Do(t, chunk.Verify(&doc, []byte(text)))
	check.List(t, doc.Tags, []string{"one", "two", "three", "four", "five"}, "tags")
	links := doc.Chunks[len(doc.Chunks)-1].Links
	check.That(t, len(links) == 2 && len(doc.Fields) == 3, "%v and %v", links, doc.Fields)
}

// TestLogseqNames checks the names of a page in Logseq: its name in links, and its aliases.
func TestLogseqNames(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"pages/a___b%3F.md", "alias:: The B, [[b, c]]\n\n- text\n", "a/b?: a/b?;The B;b, c"},
		{"100%.md", "- text\n", "100%: "},
		{"a_b.md", "title:: A/B, c\n- text\n", "a_b: A/B, c"},
		{"a%2Fb.md", "---\nalias: x\n---\nAliases:: X, C #1\n", "a/b: x;a/b;C #1"},
		{"a.md", "[alias:: x] is\n# One\n\nalias:: y\n", "One: x"},
		{"a.md", "see `alias:: x`\nalias:: [f](f.md)\n", "a: "},
	} {
		doc := must.Get(chunk.New(chunk.Options{})).Chunk("t", c.path, []byte(c.text))
		check.Equal(t, doc.Title+": "+strings.Join(doc.Aliases, ";"), c.want, "%s: %q", c.path, c.text)
		check.That(t, len(doc.Fields) == 0, "%s: %q has fields %v", c.path, c.text, doc.Fields)
	}
}

// TestFields checks that inline fields, as Dataview reads them, and tasks are properties of their
// section.
func TestFields(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a line", "status:: waiting\n", "status=waiting"},
		{"a name of several words", "Next step:: call\n", "Next step=call"},
		{"a bold name", "**Status**:: waiting\n", "Status=waiting"},
		{"a bold name in brackets", "Ann [**Status**:: waiting] (_cost_:: 3)\n", "Status=waiting cost=3"},
		{"signs before a name", "- 🏷 Name:: x\n- ✔️ Done:: true\n[📆 due:: 2026-03-01]\n→ to:: y\n",
			"Name=x Done=true due=2026-03-01 to=y"},
		{"names of signs", "🧠:: a\n[🔥:: b]\n↑:: c\n", "🧠=a 🔥=b ↑=c"},
		{"letters of any script", "状态:: 等待\nprüfung:: nötig\n", "状态=等待 prüfung=nötig"},
		{"in a list", "- status:: waiting\n  - owner:: Ann\n1. cost:: 3\n", "status=waiting owner=Ann cost=3"},
		{"in a quote", "> status:: waiting\n", "status=waiting"},
		{"in square brackets", "It is [due:: 2026-03-01] then.\n", "due=2026-03-01"},
		{"in round brackets", "It is (cost:: 12.50) now, (cost::3) later.\n", "cost=12.50 cost=3"},
		{"brackets in brackets", "[owner:: [[Ann|the boss]]] and (seen:: at (noon))\n", "owner=[[Ann|the boss]] " +
			"seen=at (noon)"},
		{"names of programs", "Use (std::atomic), [Foo::~Foo](x.md), [Foo::Baz][x], [std::vec::Vec] and (x::~x).\n", ""},
		{"without a space", "Is [status::open] (who::[[Ann]]) (due::2026-03-01).\n",
			"status=open who=[[Ann]] due=2026-03-01"},
		{"in a table", "| a | b |\n|---|---|\n| (cost:: 2) | x |\n", "cost=2"},
		{"Windows line ends", "status:: waiting\r\nowner:: Ann\r\n", "status=waiting owner=Ann"},
		{"quotation marks", "code:: \"007\"\n", "code=007"},
		{"links with commas between", "by:: [[Ann, Lee]], [[people/Bob|B]],[[C]] ^b1\n",
			"by=[[Ann, Lee]] by=[[people/Bob|B]] by=[[C]]"},
		{"numbers and dates with commas between", "n:: 1, 2.50\n[day:: 2024-01-01, 2024-02-02]\nx:: \"a, b\", \"c\"\n",
			"n=1 n=2.50 day=2024-01-01 day=2024-02-02 x=a, b x=c"},
		{"commas in a text", "a:: $1,200\nb:: 1,200\nc:: one, two\nd:: 2, not 3\n", "a=$1,200 b=1,200 c=one, two d=2, not 3"},
		{"before the name of a block", "status:: waiting ^abc\n", "status=waiting"},
		{"kinds", "done:: true\nday:: 2026-03-01\nn:: 5\n", "done=true day=2026-03-01 n=5"},
		{"in a heading", "# Plan (cost:: 4)\n\nx\n", "cost=4"},
		{"open tasks", "- [ ] a\n* [ ] b\n+ [ ] c\n1. [ ] d\n2) [ ] e\n",
			"task=open task=open task=open task=open task=open"},
		{"other tasks", "- [x] a\n- [X] b\n- [/] c\n- [-] d\n- [!] e\n", "task=done task=done task=started task=open " +
			"task=cancelled task=open"},
		{"tasks as words", "- TODO a\n- TODO\tb\n- DOING c\n* DONE d\n- CANCELED e\n", "task=open task=open " +
			"task=started task=open task=done task=cancelled"},
		{"days of tasks as words", "- TODO a\n  SCHEDULED: <2026-03-01 Sun>\n  DEADLINE: <2026-03-02 Mon>\n- DONE a\n",
			"task=open due=2026-03-02 task.open=2026-03-02 task=done"},
		{"words that are no task", "TODO a\n\n- TODO: b\n- todo c\n- TODOS d\n- DONEC e\n\n## DONE f\n", ""},
		{"words that are lists of words", "- TODO\n- DOING \n- DONE\n- NOW returns the time\n- WAIT is a command\n" +
			"- LATER a\n- WAITING b\n", ""},
		{"words about a due date in the second line of a task", "- [x] pay\n  The notice said due: 2025-01-01 was " +
			"wrong, 📅 2025-01-02\n", "task=done"},
		{"tasks in tasks", "- [ ] a\n  - [x] b\n", "task=open task=done"},
		{"tasks in quotes", "> - [ ] a\n", "task=open"},
		{"due dates", "- [ ] a 📅 2026-03-01\n- [x] b [due:: 2026-03-02]\n- [ ] c (due:: 2026-03-03) ^x\n- [ ] d " +
			"@due(2026-03-04)\n- [ ] e due: 2026-03-05\n- [ ] f due:2026-03-06\n- [ ] g 🗓️ 2026-03-07\n" +
			"- [ ] h **📅** [[2026-03-08]]\n- [ ] i Due: 2026-03-09\n- [ ] j 📅\u00a0\u200b2026-03-10\n",
			"task=open due=2026-03-01 task.open=2026-03-01 task=done due=2026-03-02 task.done=2026-03-02 task=open " +
				"due=2026-03-03 task.open=2026-03-03 " +
				"task=open due=2026-03-04 task.open=2026-03-04 task=open due=2026-03-05 task.open=2026-03-05 task=open " +
				"due=2026-03-06 task.open=2026-03-06 task=open due=2026-03-07 task.open=2026-03-07 task=open " +
				"due=2026-03-08 task.open=2026-03-08 task=open due=2026-03-09 task.open=2026-03-09 task=open " +
				"due=2026-03-10 task.open=2026-03-10"},
		{"due dates of other programs", "- [ ] a @{2026-03-01} @@{10:30}\n- [ ] b @[[2026-03-02]]\n" +
			"- [ ] c (@2026-03-03 10:00)\n",
			"task=open due=2026-03-01 task.open=2026-03-01 task=open due=2026-03-02 task.open=2026-03-02 task=open " +
				"due=2026-03-03 task.open=2026-03-03"},
		{"fields in a field", "- owner:: Ann [due:: 2026-03-01] (cost:: 5)\n", "due=2026-03-01 cost=5 owner=Ann"},
		{"a due date without brackets", "- [ ] call Ann due:: 2026-03-01\n- [ ] due:: 2026-03-02\n", "task=open " +
			"due=2026-03-01 task.open=2026-03-01 call Ann due=2026-03-01 task=open due=2026-03-02 task.open=2026-03-02"},
		{"a due date of a task that was started", "- [/] a 📅 2026-03-01\n", "task=started task=open due=2026-03-01 " +
			"task.started=2026-03-01 task.open=2026-03-01"},
		{"a due date in the second line of a task", "- [ ] a\n  [Due:: 2026-03-01]\n\n[due:: 2026-03-02]\n",
			"task=open Due=2026-03-01 task.open=2026-03-01 due=2026-03-02"},

		{"in code", "```\nstatus:: waiting\n- [ ] a\n```\n\n    owner:: Ann\n\n`[due:: 2026-03-01]` and ``(cost:: ` 2)``\n",
			""},
		{"names of programs", "std::vector<int> and Foo::bar(x)\nuse std::fmt;\n", ""},
		{"no name", ":: waiting\n(:: x) [::x]\n", ""},
		{"no value", "status::\nstatus:: \n", ""},
		{"a number", "12:: 30\n", ""},
		{"escaped", `\[due:: 2026-03-01]` + "\n", ""},
		{"who may see a document", "access:: everybody\ntenant:: other\n[sets:: a]\n", ""},
		{"title, aliases and tags", "title:: x\ntags:: a\naliases:: b\n", ""},
		{"tags, which have a column of their own", "tags:: a, [[b c]]\n\n- tag:: d\n", ""},
		{"a box that is no task", "[ ] a\n\nText [x] b\n\n- [x](a.md)\n- [[x]] y\n- [xx] z\n", ""},
		{"a long value", "status:: " + strings.Repeat("x", 2000) + "\n", ""},
		{"a date that is none", "- [ ] a 📅 2026-13-01\n", "task=open"},
	} {
		doc := cut(t, "a.md", c.text)
		var got []string
		for _, f := range doc.Fields {
			got = append(got, f.Name+"="+f.Value.String())
		}
		check.Equal(t, strings.Join(got, " "), c.want, "%s: the fields", c.name)
	}
}

// TestFieldsOfSections checks that fields belong to their section, and that the document lists their names.
func TestFieldsOfSections(t *testing.T) {
	const text = "---\nstatus: draft\n---\nDUE:: 2026-01-01\n\n# A\n\nstatus:: one\n\n## B\n\nstatus:: two\n\n# " +
		"C\n\nnone\n"
	doc := cut(t, "a.md", text)
	got := ""
	for i := range doc.Chunks {
		got += fmt.Sprintf("%s:", doc.Chunks[i].Slug)
		for _, f := range doc.FieldsOf(i) {
			got += f.Name + "=" + f.Value.String()
		}
		got += " "
	}
	want := ":DUE=2026-01-01 a:status=one b:status=two c: "
	check.That(t, got == want, "the fields are %q, want %q", got, want)
	check.That(t, len(doc.Properties) == 2 && doc.Properties[1].Name == "DUE" && len(doc.Properties[1].Values) == 0,
		"the properties are %+v", doc.Properties)
	for _, o := range []chunk.Options{{Chunker: "sections"}, {Chunker: "window"}} {
		c := must.Get(chunk.New(o))
		doc := c.Chunk("t", "a.md", []byte(text))
		check.That(t, len(doc.Fields) == 3, "%s: the fields are %v", o.Chunker, doc.Fields)
	}
}

func TestLinkLists(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"of wikis", "Text.\n\n- [[a]]\n- [[b|B]]\n- [[c#d]]\n\nMore.\n", []string{"- [[a]]\n- [[b|B]]\n- [[c#d]]"}},
		{"of Markdown", "* [a](a.md)\n* [b](<b c.md> \"B\")\n+ [c](c.md)\n",
			[]string{"* [a](a.md)\n* [b](<b c.md> \"B\")\n+ [c](c.md)"}},
		{"numbered and within each other", "1. [[a]]\n   - [[b]]\n2. [[c]]", []string{"1. [[a]]\n   - [[b]]\n2. [[c]]"}},
		{"with blank lines", "- [[a]]\n\n- [[b]]\n\n- [[c]]\n", []string{"- [[a]]\n\n- [[b]]\n\n- [[c]]"}},
		{"two", "- [[a]]\n- [[b]]\n- [[c]]\ntext\n- [[d]]\n- [[e]]\n- [[f]]",
			[]string{"- [[a]]\n- [[b]]\n- [[c]]", "- [[d]]\n- [[e]]\n- [[f]]"}},
		{"too short", "- [[a]]\n- [[b]]\n", nil},
		{"with text", "- [[a]] is here and now\n- [[b]] was here and then\n- [[c]]\n- [[d]]\n", nil},
		{"with few words", "- [[a]] (in March)\n- [[b]]: see Bob\n- [[c]]\n",
			[]string{"- [[a]] (in March)\n- [[b]]: see Bob\n- [[c]]"}},
		{"in a table with texts", "| [[a]] | is |\n| [[b]] | was |\n| [[c]] | has |\n", nil},
		{"of addresses", "- https://a.org/x\n- <http://a.org/y>\n* https://a.org/z and more of it\nhttp is old",
			[]string{"- https://a.org/x\n- <http://a.org/y>\n* https://a.org/z"}},
		{"of other items", "- a\n- b\n- [ ] c\n- [x]\n", nil},
		{"two links in an item", "- [[a]] [[b]]\n- [[c]] [[d]]\n", []string{"- [[a]] [[b]]\n- [[c]] [[d]]"}},
		{"two links and a word in an item", "- [[a]] and [[b]]\n- [[c]] or [[d]] (old)\n", []string{"- [[a]] and [[b]]\n- " +
			"[[c]] or [[d]]"}},
		{"two links and a text in an item", "- [[a]] is the parent of [[b]]\n- [[c]] is the parent of [[d]]\n", nil},
		{"in a table", "| page |\n|---|\n| [[a]] |\n| [b](b.md) |\n| [[c]] |\n",
			[]string{"| [[a]] |\n| [b](b.md) |\n| [[c]]"}},
		{"in a line", "See also: [[a]], [b](b.md), [c][d].", []string{"[[a]], [b](b.md), [c][d]"}},
		{"in bare lines", "[[a]]\n[[b]]\n\n[[c]]\n", []string{"[[a]]\n[[b]]\n\n[[c]]"}},
		{"of tasks", "- [ ] [[a]]\n- [x] [[b]]\n- [X] [[c]]\n", []string{"- [ ] [[a]]\n- [x] [[b]]\n- [X] [[c]]"}},
		{"in prose", "Both [[a]] and [[b]], or [[c]] with [[d]].", nil},
	} {
		var got []string
		for _, l := range chunk.LinkLists(c.text) {
			got = append(got, c.text[l.Start:l.End])
		}
		check.List(t, got, c.want, "%s", c.name)
	}
}

// TestBlockLines checks the lines of each block.
func TestBlockLines(t *testing.T) {
	const text = "# A ^head\n" + // 1
		"Intro.\n\nTwo lines\nof egret. ^abc\n\n" + // 2-6
		"- one ^one\n- two\n  goes on ^two\n  - inner ^inner\n    more\n- three\n\n" + // 7-13
		"| a | b |\n|---|---|\n| 1 | 2 |\n\n^tab\n\n" + // 14-19
		"> A quote\n> of two ^quote\n\n" + // 20-22
		"```\nx ^code\n```\n^code\n\n" + // 23-27
		"Last ^last" // 28
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		for name, want := range map[string][2]int{"head": {1, 1}, "abc": {4, 5}, "one": {7, 7}, "two": {8, 11},
			"inner": {10, 11}, "tab": {14, 18}, "quote": {20, 21}, "code": {23, 26}, "last": {28, 28}} {
			first, last, ok := chunk.BlockLines(strings.ReplaceAll(text, "\n", ending), name)
			got := [2]int{first, last}
			check.That(t, ok && got == want, "%q: the lines of ^%s are %v, %v, want %v", ending, name, got, ok, want)
		}
	}
	first, last, ok := chunk.BlockLines(text, "ABC")
	check.That(t, ok && first == 4 && last == 5, "the lines of ^ABC are %d to %d, %v", first, last, ok)
	first, _, _ = chunk.BlockLines("a ^Kiwi\n\nb ^kiwi\n", "kiwi")
	check.That(t, first == 3, "^kiwi is on line %d, want 3, where it is called exactly so", first)
	for _, name := range []string{"none", "ab", "bc", ""} {
		first, last, ok := chunk.BlockLines(text, name)
		check.That(t, !ok, "there is a block %q in the lines %d to %d", name, first, last)
	}
}

// TestBlockAt checks that a position belongs to the smallest block around it.
func TestBlockAt(t *testing.T) {
	const text = "# A\n\nFree.\n\nTwo lines\nof egret. ^abc\n\n- one ^one\n- two\n  goes on ^two\n  - inner ^inner\n   " +
		" more\n- three\n\n" +
		"| a | b |\n|---|---|\n| cell | 2 |\n\n^tab\n\n> A quote\n> of it ^quote\n\nx^2 and y ^3 or\n\n```\ncode ^code\n```\n"
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll(text, "\n", ending)
		for word, want := range map[string]string{"Free": "", "Two": "abc", "egret": "abc", "one ": "one", "goes": "two",
			"inner ": "inner", "more": "inner",
			"three": "", "cell": "tab", "A quote": "quote", "and y": "", "code ": ""} {
			check.Equal(t, chunk.BlockAt([]byte(text), strings.Index(text, word)), want, "%q: block of %q", ending, word)
		}
	}
	check.Equal(t, chunk.BlockAt([]byte("a ^b"), 100), "", "behind the end")
}

// TestCodeHyphens checks that a hyphen at a line end splits no word in code.
func TestCodeHyphens(t *testing.T) {
	const fenced = "infor-\nmation\n\n```\nfoo-\nbar -- \nbaz\n```\n\nknow-\nledge\n"
	for _, c := range []struct{ path, text, want string }{
		{"a.md", fenced, "infor-\nmation\n\n```\nfoo\nbar  \nbaz\n```\n\nknow-\nledge\n"},
		{"a.md", "---\na: \"```\"\n---\nfoo-\nbar\n", "foo-\nbar\n"},
		{"a.go", "foo-\r\nbar\n", "foo\r\nbar\n"},
		{"a.go", "foo-\n\fbar-\f", "foo\n\fbar\f"},
		{"a.txt", "foo-\nbar\n", "foo-\nbar\n"},
	} {
		chunker := must.Get(chunk.For(c.path, chunk.Options{}))
		doc := chunker.Chunk("t", c.path, []byte(c.text))
		left := chunk.IndexedText(&doc, &doc.Chunks[0], c.text)
		check.Equal(t, left.Text, c.want, "%s: the text of %q", c.path, c.text)
		i := strings.Index(left.Text, "bar")
		check.That(t, c.text[left.At(i):][:3] == "bar", "%s: bar is at %d", c.path, left.At(i))
	}
}

// TestInlineMarks checks the indexed text of entities, tags and "**" within words, and the positions of its bytes.
func TestInlineMarks(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"foo<br/>bar<BR >baz</p>", "foo bar baz "},
		{"H<sub>2</sub>O <span class=\"x\">a</span>", "H2O <span class=\"x\">a"},
		{"Donau&shy;dampf&#xAD;<wbr>schiff", "Donau\u00addampf\u00adschiff"},
		{"Caf&eacute; &amp; &lt;b&gt; &nosuch; R&D", "Café & <b> &nosuch; R&D"},
		{"**S**pecific, **M**e, 2**3 and a ** b", "**Specific, **Me, 2**3 and a ** b"},
		{"`a&nbsp;b` &nbsp;`c", "`a&nbsp;b` \u00a0`c"},
		{"\\&nbsp; \\<b> List<T> <B> <file>", "&nbsp; \\<b> List<T> <B> <file>"},
		{"my\\_name C\\# a\\\\_b \\[x\\] `c\\_d`", "my_name C# a\\\\_b \\[x\\] `c\\_d`"},
		{"$x<a \\\\ y & z>b$, i <b && c> d, <a href='x'>y</a>", "$x<a \\\\ y & z>b$, i <b && c> d, <a href='x'>y"},
		{"```\n<b>x</b>-\n```\n<b>y</b>", "```\n<b>x</b>\n```\ny"},
		{"<b>![a](data:image/svg+xml,<b>x&amp;</b>)</b>", "![a]()"},
	} {
		doc := must.Get(chunk.For("a.md", chunk.Options{})).Chunk("t", "a.md", []byte(c.text))
		left := chunk.IndexedText(&doc, &doc.Chunks[0], c.text)
		check.Equal(t, left.Text, c.want, "the text of %q", c.text)
		for i := range left.Text {
			if b := left.Text[i]; b != ' ' && b < utf8.RuneSelf && !strings.Contains(c.text, "&lt;") {
				check.That(t, c.text[left.At(i)] == b, "byte %d of %q is at %d", i, left.Text, left.At(i))
			}
		}
	}
	read := chunk.AsRead("Caf&eacute;")
	check.Equal(t, read.At(4)+1, len("Caf&eacute;"), "the end of an entity")
	check.Equal(t, read.At(3), len("Caf"), "the beginning of an entity")
}
