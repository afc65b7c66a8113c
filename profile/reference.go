package profile

import (
	_ "embed" // the beginning of the page
	"fmt"
	"strings"
)

// Reference returns a Markdown page that describes the profile language. Its sources are the decoder's tables and the
// built-in profiles.
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
	writeOptions(&b, []*Option{whenOption})
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

// Reference describes the profile in Markdown: its purpose, its parameters, and its pipeline for ten results. The page
// about all profiles contains this text.
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

// referenceHead is the beginning of the reference page, before the tables.
//
//go:embed reference.md
var referenceHead string

func writeOptions(b *strings.Builder, options []*Option) {
	b.WriteString("| setting | default | allowed | meaning |\n|---|---|---|---|\n")
	for _, o := range options {
		standard := "`" + o.Default + "`"
		if o.Default == "" {
			standard = "none"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", o.Name, standard, cell(o.domain()), cell(o.About))
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// StageOptions returns the settings of the stage called name. If there is no such stage, it returns nil.
func StageOptions(name string) []*Option {
	if k := stageNamed(name); k != nil {
		return k.allOptions()
	}
	return nil
}

// FusionOptions returns the settings of the fusion that joins rankings of other systems.
func FusionOptions() []*Option { return runFusion.options }

// StageHelp describes the stage called name, for the command sheaf stage. It says what the stage does, and describes
// each setting in one line. If no stage has this name, the error lists [RunStages].
func StageHelp(name string) (string, error) {
	k := stageNamed(name)
	if k == nil {
		return "", unknownStage(name, RunStages())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.\n", k.name, k.about)
	width := 0
	for _, o := range k.options {
		width = max(width, len(o.Name))
	}
	for _, o := range k.options {
		standard := "must be given"
		if o.Default != "" {
			standard = "default " + o.Default
		}
		fmt.Fprintf(&b, "  --%-*s  %s (%s; %s)\n", width, o.Name, o.About, o.Allowed(), standard)
	}
	return b.String(), nil
}
