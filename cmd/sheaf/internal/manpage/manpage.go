// Package manpage answers the question "what does the manual say of a command?".
// It writes a tree of cobra commands as pages of section 1, one file a command,
// in the man macros that groff and mandoc read. Cobra's own generator wants two
// parsers of Markdown more for the same pages.
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

// WriteAll writes a page for root and for every command below it that help
// lists into dir, which must exist: "sheaf.1", "sheaf-key-add.1". The heads of
// the pages name version and date, so equal arguments give equal bytes.
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

// Page is the page of one command.
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
	seeAlso(&b, cmd)
	return b.Bytes()
}

// paragraphs has those of a help text as wide as the page is, and keeps the lines of
// those in which something is indented.
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

// literal keeps the lines of help texts, which are broken and indented by hand.
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

// byDefault is what --help says of the value that a flag has when it is not given.
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

// commands lists those below cmd that help lists, each with what it does.
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

func seeAlso(b *bytes.Buffer, cmd *cobra.Command) {
	if cmd.HasParent() {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", reference(cmd.Parent()))
	}
}

// reference names the page of a command.
func reference(cmd *cobra.Command) string { return ".BR " + escape(pageName(cmd)) + " (1)" }

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

var special = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

// escape makes text that the man macros show as it is: no line of it is a
// request, and dashes and quotes can be copied into a shell.
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
