package chunk_test

import (
	"strings"
	"testing"

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
			if len(got) != len(c.text) || strings.Count(string(got), "\n") != strings.Count(c.text, "\n") {
				t.Fatalf("%d bytes are %d: %q", len(c.text), len(got), got)
			}
			if shown := words(string(got)); shown != words(c.want) {
				t.Errorf("got  %q\nwant %q", shown, words(c.want))
			}
			if other := chunk.WithoutComments("a.html", []byte(c.text)); string(other) != c.text {
				t.Errorf("another kind of file: %q", other)
			}
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
	if len(doc.Chunks) != 1 || len(doc.Tags) != 1 || doc.Tags[0] != "tag" || len(doc.Chunks[0].Links) != 1 ||
		len(doc.Fields) != 0 {
		t.Errorf("chunks %d, tags %q, links %v, fields %v", len(doc.Chunks), doc.Tags, doc.Chunks[0].Links, doc.Fields)
	}
}

func TestSqueezed(t *testing.T) {
	if got := chunk.Squeezed("a" + strings.Repeat(" ", 100) + "b  c\n"); got != "a b  c\n" {
		t.Errorf("got %q", got)
	}
}

func FuzzComments(f *testing.F) {
	f.Add("%%a%% <!-- b\n\n--> `%%`")
	f.Add("%%\n- ```\n  <!--\n%%\n\\<!-->")
	f.Fuzz(func(t *testing.T, text string) {
		got := chunk.WithoutComments("a.md", []byte(text))
		if len(got) != len(text) {
			t.Fatalf("%d bytes are %d", len(text), len(got))
		}
		for i := range got {
			if (text[i] == '\n') != (got[i] == '\n') {
				t.Fatalf("line at %d of %q is %q", i, text, got)
			}
		}
	})
}
