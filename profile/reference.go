package profile

import (
	"fmt"
	"strings"
)

// Reference is the language's reference in Markdown, made from the tables that
// the decoder reads, and of the built-in profiles, made from their files.
func Reference() (string, error) {
	var b strings.Builder
	b.WriteString(referenceHead)
	b.WriteString("\n## Branches\n\nOf every branch:\n\n")
	writeOptions(&b, branchOptions)
	b.WriteString("\nOf a text branch, besides `fields`, which names the fields to search with their weights:\n\n")
	writeOptions(&b, textOptions)
	b.WriteString("\nOf a vector branch:\n\n")
	writeOptions(&b, vectorOptions)
	b.WriteString("\n## Before the branches\n\n")
	for _, k := range []*kind{&limitOptions, &expand, &scan} {
		fmt.Fprintf(&b, "`%s` %s.\n\n", k.name, k.about)
		writeOptions(&b, k.options)
		b.WriteString("\n")
	}
	b.WriteString("## Fusion\n\n`fuse` " + fusion.about + ".\n\n")
	writeOptions(&b, fusion.options)
	b.WriteString("\n## Stages\n\nOf every stage, besides its own settings:\n\n")
	writeOptions(&b, []option{whenOption})
	for i := range stages {
		k := &stages[i]
		fmt.Fprintf(&b, "\n### %s\n\n`%s` %s.", k.name, k.name, k.about)
		if k.short != "" {
			fmt.Fprintf(&b, " `%s: VALUE` sets `%s`.", k.name, k.short)
		}
		b.WriteString("\n")
		if len(k.options) > 0 {
			b.WriteString("\n")
			writeOptions(&b, k.options)
		}
	}
	b.WriteString("\n## Built-in profiles\n")
	for _, name := range builtinNames() {
		p, err := Load(name, Builtin)
		if err != nil {
			return "", err
		}
		text, err := p.Reference()
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + text)
	}
	return b.String(), nil
}

// Reference is the profile in Markdown: what it is for, its parameters, and the
// pipeline for ten results. The page of all profiles holds it.
func (p *Profile) Reference() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n\n", p.Name, p.About)
	if len(p.Parameters) > 0 {
		b.WriteString("| parameter | default | range | meaning |\n|---|---|---|---|\n")
		for j := range p.Parameters {
			param := &p.Parameters[j]
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", param.Name, param.Default, cell(param.Range()), cell(param.About))
		}
		b.WriteString("\n")
	}
	_, most, err := p.limit(nil)
	if err != nil {
		return "", err
	}
	text, err := p.Show(min(10, most), nil)
	if err != nil {
		return "", err
	}
	_, drawn, _ := strings.Cut(text, "\npipeline")
	fmt.Fprintf(&b, "```\npipeline%s```\n", drawn)
	return b.String(), nil
}

const referenceHead = `# Profiles

A profile is a ranking system written down: what to retrieve, how to join it,
what to do with the result. This page is made from the program's own tables
(` + "`go test ./profile -update`" + `).

    name: mine
    about: Words and meaning, half and half, at most two sections of a document.
    parameters:
      meaning: {default: 0.5, min: 0, max: 1, about: How much meaning counts.}
    branches:
      - {name: words, retrieve: text, fields: {title: 2, body: 1}, limit: 4x, weight: 1 - meaning}
      - {name: meaning, retrieve: vector, limit: 4x, weight: meaning}
    fuse: {method: rrf, k: 60}
    then:
      - per_document: 2
      - top: limit

- ` + "`name`" + ` (small letters, digits, - and _) and ` + "`about`" + ` say what it is.
- ` + "`parameters`" + ` are what a query may override: a number with ` + "`default`, `min`, `max`" + ` and,
  for whole numbers, ` + "`integer: true`" + `; or a word with ` + "`default` and `one_of`" + `.
  ` + "`at_least`" + ` asks that a number is not less than an expression over the parameters before it.
- ` + "`branches`" + ` each retrieve a ranking of chunks; ` + "`then`" + ` in a branch lists the stages of that branch.
  A branch of weight 0 does not run. Without an embedding model, vector branches are left out, and the result says so.
- ` + "`fuse`" + ` joins the branches. A single branch needs none.
- ` + "`then`" + ` lists the stages after it, in order. A stage is a name, or a name with its settings.
- ` + "`candidates`" + ` is a first phase: branches, ` + "`fuse`, `then`" + ` and a ` + "`limit`" + ` of its own; its hits bound what the branches find.
  Or ` + "`candidates: {scan: {...}}`" + `: the candidates are found in the files themselves, without an index, and the branches search those.
- ` + "`expand`" + ` has a chat model put the query in other words; ` + "`limits`" + ` says how many results may be wanted.
- ` + "`extends`" + ` names a profile that this one changes, one in the same folder first; a profile that is called like a built-in one may change that. Parameters are joined by name, and a single value is a new default;
  ` + "`branches`" + ` written as a mapping changes branches by name; every other key replaces that of the extended profile.

Where a number stands, an expression may: numbers, ` + "`limit`" + ` (how many results are wanted), the names of number parameters,
` + "`+ - x * /`" + `, parentheses, ` + "`max() min() ceil() floor()`" + ` and ` + "`if(condition, then, else)`" + `, where everything but 0 is true.
` + "`4x`" + ` is short for ` + "`4 x limit`" + `, so ` + "`10 / 4x`" + ` is ` + "`10 / 4 x limit`" + `. Within braces an expression with commas stands in quotation marks. Where a word of some stands, ` + "`$name`" + ` takes it from the parameter of that name.

Everything is checked when a profile is loaded, and again when a query sets parameters.
`

func writeOptions(b *strings.Builder, options []option) {
	b.WriteString("| setting | default | allowed | meaning |\n|---|---|---|---|\n")
	for i := range options {
		o := &options[i]
		standard := "`" + o.standard + "`"
		if o.standard == "" {
			standard = "none"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", o.name, standard, cell(o.allowed()), cell(o.about))
	}
}

// cell makes a text fit a cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// Option describes a setting.
type Option struct {
	// Default is "" when the setting must be given.
	Name, About, Default string
	// Allowed says what it takes; Flag says that it is true or false.
	Allowed string
	Flag    bool
	// Number says that it is a number within Min..Max, or an expression for one;
	// Integer asks for a whole one.
	Number, Integer bool
	Min, Max        float64
	// OneOf are the words that it may be; without any, and when it is nothing of
	// the above, it is a text.
	OneOf []string
}

func describe(options []*option) (out []Option) {
	for _, o := range options {
		out = append(out, Option{Name: o.name, About: o.about, Default: o.standard, Allowed: o.written(),
			Flag: o.kind == typeBool, Number: o.isNumber(), Integer: o.kind == typeInteger,
			Min: o.min, Max: o.max, OneOf: o.choices})
	}
	return out
}

// written says what the option takes outside a profile, where it is one text.
func (o *option) written() string {
	if o.kind == typeTexts {
		return o.allowed() + " with commas between them"
	}
	return o.allowed()
}

// StageOptions returns the settings of a stage; none when there is no such stage.
func StageOptions(name string) []Option {
	k := stageNamed(name)
	if k == nil {
		return nil
	}
	return describe(k.allOptions())
}

// FusionOptions returns the settings of a fusion of rankings that come from elsewhere.
func FusionOptions() []Option { return describe(pointers(runFusion.options)) }

// StageHelp describes a kind of stage and its settings, a line each. The error for an
// unknown name offers the stages that rankings of other systems can go through.
func StageHelp(name string) (string, error) {
	k := stageNamed(name)
	if k == nil {
		return "", unknownStage(name, runStages)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.\n", k.name, k.about)
	width := 0
	for i := range k.options {
		width = max(width, len(k.options[i].name))
	}
	for i := range k.options {
		o := &k.options[i]
		standard := "must be given"
		if o.standard != "" {
			standard = "default " + o.standard
		}
		fmt.Fprintf(&b, "  --%-*s  %s (%s; %s)\n", width, o.name, o.about, o.written(), standard)
	}
	return b.String(), nil
}
