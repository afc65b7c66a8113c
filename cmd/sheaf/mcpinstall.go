package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/assistant"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/internal/wording"
)

type installOptions struct {
	name        string
	yes, remove bool
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install [ASSISTANT...]",
		Short: "Write the entry for sheaf into the configuration of assistants",
		Long: `Adds this folder as an MCP server to the assistants that are named, or to all that
are installed. It shows what would be written and asks before every file; what
else is in the file stays. Known assistants: ` +
			strings.Join(assistantNames(assistant.All(assistant.Places{})), ", ") + `.`,
		Example: `  sheaf mcp install --in ~/notes claude-code
  sheaf mcp install --remove cursor`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			rest := slices.DeleteFunc(assistantNames(assistant.All(assistant.Places{})), func(name string) bool {
				return slices.Contains(args, name)
			})
			return rest, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.mcpInstall(args, o) },
	}
	cmd.Flags().StringVar(&o.name, "name", "sheaf", "name of the entry")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.remove, "remove", false, "take the entry out")
	return cmd
}

func assistantNames(list []assistant.Assistant) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// assistants returns the assistants that the arguments name, or all installed assistants.
func assistants(p assistant.Places, names []string) ([]assistant.Assistant, error) {
	all := assistant.All(p)
	if len(names) == 0 {
		out := slices.DeleteFunc(slices.Clone(all), func(one assistant.Assistant) bool { return !one.Present() })
		if len(out) == 0 {
			return nil, withHint(fmt.Errorf("%w: found no assistant that sheaf knows", sheaf.ErrNotFound), "name one: %s",
				strings.Join(assistantNames(all), ", "))
		}
		return out, nil
	}
	var out []assistant.Assistant
	for _, name := range names {
		i := slices.IndexFunc(all, func(one assistant.Assistant) bool { return one.Name == name })
		if i < 0 {
			err := sheaf.Invalidf("no assistant is called %q", name)
			return nil, unknownName(err, name, assistantNames(all), "known are %s", strings.Join(assistantNames(all), ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

func (a *app) mcpInstall(names []string, o installOptions) error {
	if o.name == "" || strings.ContainsFunc(o.name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return sheaf.Invalidf("--name %q: must be letters, digits, - and _", o.name)
	}
	folder, err := a.commandFolder()
	if err != nil {
		return err
	}
	folder = a.workFolder(folder)
	start, err := a.startArguments("mcp", folder)
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	list, err := assistants(assistant.PlacesOn(runtime.GOOS, home, folder, os.Getenv), names)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program, found := lastingProgram(program, exec.LookPath)
	if !found && !o.remove {
		return withHint(sheaf.Invalidf("%s is a program of go run, which is removed later, and no sheaf is in the PATH",
			program), "install it first: go install ./cmd/sheaf, and add the folder that it goes to to your PATH")
	}
	if entry := program + " " + strings.Join(start, " "); !o.remove && !utf8.ValidString(entry) {
		return sheaf.Invalidf("%q is not UTF-8, and settings of assistants are: rename the folder", entry)
	}
	answers := bufio.NewReader(a.stdin)
	var faults []error // one bad file must not stop the others
	for i := range list {
		var change *assistant.Change
		if o.remove {
			change, err = list[i].Remove(o.name)
		} else {
			change, err = list[i].Add(assistant.Server{Name: o.name, Command: program, Args: start})
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		agreed, err := a.askToChange(&list[i], change, answers, o.yes)
		if err != nil { // later questions would get no answer either
			return errors.Join(append(faults, err)...)
		}
		if !agreed {
			continue
		}
		if err := change.Write(); err != nil {
			faults = append(faults, fmt.Errorf("write the configuration of %s: %w", list[i].Title, err))
			continue
		}
		fmt.Fprintln(a.stdout, "written; restart the assistant to use it")
	}
	return errors.Join(faults...)
}

// goRunFolder matches the folder of a program of "go run": a temporary folder, or the cache of the go command.
var goRunFolder = regexp.MustCompile(`[/\\](go-build[0-9]*|[0-9a-f]{64}-d)[/\\]`)

// lastingProgram returns a path of this program that stays valid, for an assistant's entry. It prefers the path in
// PATH, because a package manager puts each version into a new folder. A program that "go run" built has no lasting
// path, so lastingProgram returns the sheaf in PATH. If PATH has no sheaf, it returns false. look finds a program in
// PATH, as exec.LookPath does.
func lastingProgram(program string, look func(string) (string, error)) (string, bool) {
	inPath, err := look("sheaf")
	known := err == nil && filepath.IsAbs(inPath)
	if goRunFolder.MatchString(program) {
		if known {
			program = inPath
		}
		return program, known
	}
	a, missing := os.Stat(inPath)
	b, fault := os.Stat(program)
	if known && missing == nil && fault == nil && os.SameFile(a, b) {
		return inPath, true
	}
	return program, true
}

// askToChange shows a change and asks the user whether to make it. It reads the user's reply from answers, and returns
// whether the user agrees. If the parameter yes is true, it does not ask and returns true. For a change without effect
// it always returns false.
func (a *app) askToChange(to *assistant.Assistant, c *assistant.Change, answers *bufio.Reader, yes bool) (bool, error) {
	file := wording.Clean(c.File)
	if !c.Changes() {
		fmt.Fprintf(a.stdout, "%s: nothing to change in %s\n", to.Title, file)
		return false, nil
	}
	fmt.Fprintf(a.stdout, "%s: %s\n", to.Title, a.out.Paint(terminal.Path, file))
	before, entry := c.Shown()
	for _, part := range []struct{ sign, text string }{{"-", before}, {"+", entry}} {
		if part.text != "" {
			for line := range strings.SplitSeq(part.text, "\n") {
				fmt.Fprintf(a.stdout, "  %s %s\n", part.sign, wording.Clean(line))
			}
		}
	}
	if yes {
		return true, nil
	}
	fmt.Fprint(a.stdout, "write it? [y/N] ")
	if err := a.flush(); err != nil {
		return false, err
	}
	answer, err := answers.ReadString('\n')
	if isYes(answer) {
		return true, nil
	}
	if err != nil && answer == "" {
		return false, withHint(sheaf.Invalidf("no answer was given, so %s stays unchanged", file),
			"--yes writes without asking")
	}
	fmt.Fprintln(a.stdout, "left as it is")
	return false, nil
}
