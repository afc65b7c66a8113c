package profile

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Show draws the profile as text: the parameters, then the pipeline of a query. limit and set are as in [Profile.Plan].
func (p *Profile) Show(limit int, set map[string]string) (string, error) {
	plan, err := p.Plan(limit, set)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.Name)
	if p.About != "" {
		fmt.Fprintf(&b, "  %s\n", p.About)
	}
	if p.Extends != "" {
		fmt.Fprintf(&b, "  changes %s\n", p.Extends)
	}
	if len(p.Parameters) > 0 {
		b.WriteString("\nparameters\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for i := range p.Parameters {
			param := &p.Parameters[i]
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", param.Name, plan.Values[param.Name], param.Range(), param.About)
		}
		if err := w.Flush(); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(&b, "\npipeline for %d results\n", limit)
	plan.drawSources(&b)
	if plan.Candidates != nil {
		b.WriteString("  first phase\n")
		plan.Candidates.draw(&b, "    ")
		fmt.Fprintf(&b, "    │ the best %d bound what follows\n", plan.Candidates.Limit)
		b.WriteString("  second phase\n")
		plan.Main.draw(&b, "    ")
		return b.String(), nil
	}
	plan.Main.draw(&b, "  ")
	return b.String(), nil
}

// drawSources adds the parts before the branches to the drawing.
func (p *Plan) drawSources(b *strings.Builder) {
	if e := p.Expand; e != nil {
		passage := ""
		if e.Passage {
			passage = " and an invented answer"
		}
		fmt.Fprintf(b, "  ? a chat model puts the query in up to %d other ways%s, within %s\n", e.Variants, passage,
			e.Timeout)
	}
	if s := p.Scan; s != nil {
		fmt.Fprintf(b, "  ? files are scanned; the best %d are cut into sections of %d characters, within %d MB\n",
			s.Files, s.ChunkChars, s.MemoryBytes>>20)
	}
}

// Range describes the values that a parameter may have: "0..1", "1..100, at least n" or "rrf | scores".
func (param *Parameter) Range() string {
	if len(param.OneOf) > 0 {
		return strings.Join(param.OneOf, " | ")
	}
	text := plain(param.Min) + ".." + plain(param.Max)
	if param.AtLeast != "" {
		text += ", at least " + param.AtLeast
	}
	return text
}

// draw adds each branch in one line to the drawing, then the steps after the branches.
func (ph *Phase) draw(b *strings.Builder, indent string) {
	width := 0
	for i := range ph.Branches {
		width = max(width, len(ph.Branches[i].Name))
	}
	for i := range ph.Branches {
		br := &ph.Branches[i]
		corner := "├"
		if i == 0 {
			corner = "┌"
		}
		fmt.Fprintf(b, "%s%s %-*s  %s · %d chunks", indent, corner, width, br.Name, br.describe(), br.Limit)
		if len(ph.Branches) > 1 {
			fmt.Fprintf(b, " · weight %s", plain(br.Weight))
		}
		if br.AtLeast != "" {
			fmt.Fprintf(b, " · at least as in %s", br.AtLeast)
		}
		if br.Weight == 0 {
			b.WriteString(" · left out")
		}
		b.WriteByte('\n')
		for _, s := range br.Then {
			fmt.Fprintf(b, "%s│ %-*s  ↳ %s\n", indent, width, "", s.Text)
		}
	}
	fmt.Fprintf(b, "%s┴ %s\n", indent, ph.FusionText)
	for _, s := range ph.Then {
		fmt.Fprintf(b, "%s↓ %s\n", indent, s.Text)
	}
}

func (br *Branch) describe() string {
	if br.Vector != nil {
		s := "meaning of " + br.Vector.Field
		if br.Vector.Candidates > 0 {
			s += fmt.Sprintf(" (%d passages looked at)", br.Vector.Candidates)
		}
		return s
	}
	var fields []string
	for _, f := range br.Text.Fields {
		fields = append(fields, f.Name+" x "+plain(f.Weight))
	}
	t := br.Text
	how := t.Combine
	if t.TieBreaker > 0 {
		how += " + " + plain(t.TieBreaker) + " x the others"
	}
	return fmt.Sprintf("words in %s (%s, %s statistics, k1 %s, b %s)", strings.Join(fields, ", "), how, t.Statistics,
		plain(t.K1), plain(t.B))
}

// Diff compares what [Profile.Show] draws for profiles a and b and a query with this limit. "-" marks lines that only a
// has, and "+" marks lines that only b has. If both drawings are equal, Diff returns "".
func Diff(a, b *Profile, limit int) (string, error) {
	var texts [2][]string
	for i, p := range [2]*Profile{a, b} {
		text, err := p.Show(limit, nil)
		if err != nil {
			return "", err
		}
		_, body, _ := strings.Cut(text, "\n\n") // without name and purpose
		texts[i] = strings.Split(strings.TrimSpace(body), "\n")
	}
	return diffLines(texts[0], texts[1]), nil
}

// diffLines compares lines by a longest common subsequence. Profiles are short, so a simple algorithm is enough.
func diffLines(a, b []string) string {
	common := make([][]int, len(a)+1) // lengths for a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i++
			j++
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&out, "- %s\n", strings.TrimSpace(a[i]))
			i++
		default:
			fmt.Fprintf(&out, "+ %s\n", strings.TrimSpace(b[j]))
			j++
		}
	}
	return out.String()
}

// New returns the text of a new profile for a user to edit. The new profile extends p, and sets every parameter to its
// default.
func New(name string, p *Profile) ([]byte, error) {
	n := node{file: name, line: 1, col: 1, kind: nodeScalar, text: name}
	if _, err := attempt(func() error { checkName(&n, "the name of a profile"); return nil }); err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# This file changes the profile %s. Settings that are not here keep their values.\n", p.Name)
	about := "Like " + p.Name + "."
	if name == p.Name {
		about = p.About
	}
	fmt.Fprintf(&b, "name: %s\nabout: %s\nextends: %s\n", quoteYAML(name), quoteYAML(about), quoteYAML(p.Name))
	if len(p.Parameters) > 0 {
		b.WriteString("parameters:\n")
		for i := range p.Parameters {
			param := &p.Parameters[i]
			fmt.Fprintf(&b, "  # %s (%s)\n  %s: %s\n", param.About, param.Range(), param.Name, quoteYAML(param.Default))
		}
	}
	return []byte(b.String()), nil
}

// quoteYAML returns s, in quotes if [Parse] would otherwise read another value, as for "null".
func quoteYAML(s string) string {
	if strings.ContainsAny(s, ":#{}[],&*!|>'\"%@`\n\\") || s != strings.TrimSpace(s) || s == "" || s == "null" ||
		strings.HasPrefix(s, "- ") {
		return fmt.Sprintf("%q", s)
	}
	return s
}
