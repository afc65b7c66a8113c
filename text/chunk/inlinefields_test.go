package chunk_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// TestFields checks that inline fields, as Dataview reads them, and tasks are properties of their
// section.
func TestFields(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a line", "status:: waiting\n", "status=waiting"},
		{"a name of several words", "Next step:: call\n", "Next step=call"},
		{"a bold name", "**Status**:: waiting\n", "Status=waiting"},
		{"letters of any script", "状态:: 等待\nprüfung:: nötig\n", "状态=等待 prüfung=nötig"},
		{"in a list", "- status:: waiting\n  - owner:: Ann\n1. cost:: 3\n", "status=waiting owner=Ann cost=3"},
		{"in a quote", "> status:: waiting\n", "status=waiting"},
		{"in square brackets", "It is [due:: 2026-03-01] then.\n", "due=2026-03-01"},
		{"in round brackets", "It is (cost:: 12.50) now, (cost::3) later.\n", "cost=12.50 cost=3"},
		{"brackets in brackets", "[owner:: [[Ann|the boss]]] and (seen:: at (noon))\n", "owner=[[Ann|the boss]] " +
			"seen=at (noon)"},
		{"in a table", "| a | b |\n|---|---|\n| (cost:: 2) | x |\n", "cost=2"},
		{"Windows line ends", "status:: waiting\r\nowner:: Ann\r\n", "status=waiting owner=Ann"},
		{"quotation marks", "code:: \"007\"\n", "code=007"},
		{"before the name of a block", "status:: waiting ^abc\n", "status=waiting"},
		{"kinds", "done:: true\nday:: 2026-03-01\nn:: 5\n", "done=true day=2026-03-01 n=5"},
		{"in a heading", "# Plan (cost:: 4)\n\nx\n", "cost=4"},
		{"open tasks", "- [ ] a\n* [ ] b\n+ [ ] c\n1. [ ] d\n2) [ ] e\n",
			"task=open task=open task=open task=open task=open"},
		{"other tasks", "- [x] a\n- [X] b\n- [/] c\n- [-] d\n- [!] e\n", "task=done task=done task=started task=open " +
			"task=cancelled task=open"},
		{"tasks in tasks", "- [ ] a\n  - [x] b\n", "task=open task=done"},
		{"tasks in quotes", "> - [ ] a\n", "task=open"},
		{"due dates", "- [ ] a 📅 2026-03-01\n- [x] b [due:: 2026-03-02]\n- [ ] c (due:: 2026-03-03) ^x\n- [ ] d " +
			"@due(2026-03-04)\n- [ ] e due: 2026-03-05\n- [ ] f due:2026-03-06\n- [ ] g 🗓️ 2026-03-07\n",
			"task=open due=2026-03-01 task.open=2026-03-01 task=done due=2026-03-02 task.done=2026-03-02 task=open " +
				"due=2026-03-03 task.open=2026-03-03 " +
				"task=open due=2026-03-04 task.open=2026-03-04 task=open due=2026-03-05 task.open=2026-03-05 task=open " +
				"due=2026-03-06 task.open=2026-03-06 task=open due=2026-03-07 task.open=2026-03-07"},
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
		{"a box that is no task", "[ ] a\n\nText [x] b\n\n- [x](a.md)\n- [[x]] y\n- [xx] z\n", ""},
		{"a long value", "status:: " + strings.Repeat("x", 2000) + "\n", ""},
		{"a date that is none", "- [ ] a 📅 2026-13-01\n", "task=open"},
	} {
		doc := cut(t, "a.md", c.text)
		var got []string
		for _, f := range doc.Fields {
			got = append(got, f.Name+"="+f.Value.String())
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: the fields are %q, want %q", c.name, g, c.want)
		}
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
	if want := ":DUE=2026-01-01 a:status=one b:status=two c: "; got != want {
		t.Errorf("the fields are %q, want %q", got, want)
	}
	if len(doc.Properties) != 2 || doc.Properties[1].Name != "DUE" || len(doc.Properties[1].Values) != 0 {
		t.Errorf("the properties are %+v", doc.Properties)
	}
	for _, o := range []chunk.Options{{Chunker: "sections"}, {Chunker: "window"}} {
		c := must.Get(chunk.New(o))
		if doc := c.Chunk("t", "a.md", []byte(text)); len(doc.Fields) != 3 {
			t.Errorf("%s: the fields are %v", o.Chunker, doc.Fields)
		}
	}
}
