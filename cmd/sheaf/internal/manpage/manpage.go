// Package manpage writes manual pages (section 1) for a tree of cobra commands, one file per command, in man macros.
// Cobra's own generator would need two more Markdown parsers for the same pages.
package manpage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// WriteAll writes a page for root and for each of its commands into dir, for example "sheaf.1" and "sheaf-key-add.1".
// The caller must make dir first. WriteAll leaves out hidden commands. The head of each page has version and date, so
// the same arguments give the same bytes.
func WriteAll(dir string, root *cobra.Command, version string, date time.Time) error {
	if err := os.WriteFile(filepath.Join(dir, pageName(root)+".1"), Page(root, version, date), 0o644); err != nil {
		return err
	}
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if err := WriteAll(dir, c, version, date); err != nil {
			return err
		}
	}
	return nil
}

// Page returns the page of one command.
func Page(cmd *cobra.Command, version string, date time.Time) []byte {
	var b bytes.Buffer
	name := pageName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 %s %s\n", quote(strings.ToUpper(name)), date.UTC().Format(time.DateOnly),
		quote(cmd.Root().Name()+" "+version))
	fmt.Fprintf(&b, ".nh\n.ad l\n.SH NAME\n%s \\- %s\n", escape(name), escape(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escape(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	if cmd.Long == "" {
		fmt.Fprintf(&b, "%s.\n", escape(strings.TrimSuffix(cmd.Short, ".")))
	} else {
		paragraphs(&b, cmd.Long)
	}
	commands(&b, cmd)
	options(&b, "OPTIONS", cmd.NonInheritedFlags())
	options(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		literal(&b, cmd.Example)
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", reference(cmd.Parent()))
	}
	return b.Bytes()
}

// paragraphs writes a help text, wrapped at the width of the page. A paragraph with indented lines keeps its lines.
func paragraphs(b *bytes.Buffer, text string) {
	for i, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			literal(b, p)
		} else {
			fmt.Fprintf(b, "%s\n", escape(p))
		}
	}
}

// literal writes text with the line breaks and indents that it has.
func literal(b *bytes.Buffer, text string) {
	fmt.Fprintf(b, ".nf\n%s\n.fi\n", escape(strings.Trim(text, "\n")))
}

func options(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		usage += byDefault(f)
		b.WriteString(".TP\n.B ")
		if f.Shorthand != "" {
			b.WriteString(escape("-" + f.Shorthand + ", "))
		}
		b.WriteString(escape(strings.TrimRight("--"+f.Name+" "+value, " ")))
		fmt.Fprintf(b, "\n%s\n", escape(usage))
	})
}

// byDefault returns the default value of a flag as --help shows it, such as " (default 10)", or "".
func byDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	if f.Value.Type() == "string" {
		return fmt.Sprintf(" (default %q)", f.DefValue)
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

// commands writes the subcommands of cmd with their descriptions. It leaves out hidden subcommands.
func commands(b *bytes.Buffer, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(b, ".TP\n%s\n%s\n", reference(c), escape(c.Short))
		}
	}
}

func reference(cmd *cobra.Command) string { return ".BR " + escape(pageName(cmd)) + " (1)" }

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

var special = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

// escape changes text so that man macros print it unchanged, and readers can copy dashes and quotes into a shell.
func escape(text string) string {
	lines := strings.Split(special.Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func quote(text string) string { return `"` + escape(text) + `"` }
