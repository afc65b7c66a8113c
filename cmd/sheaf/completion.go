package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/analysis"
	"sheaf/cmd/sheaf/internal/config"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

type completionJSON struct {
	Schema string `json:"schema"`
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

func (a *app) completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "completion SHELL",
		GroupID: groupOther,
		Short:   "Print a completion script for bash, zsh, fish or powershell",
		Long: `Prints what has a shell complete commands, flags and their values. That of bash needs
the package bash-completion, which most systems have.`,
		Example: `  source <(sheaf completion bash)
  sheaf completion zsh > "${fpath[1]}/_sheaf"
  sheaf completion fish > ~/.config/fish/completions/sheaf.fish`,
		Args:      arguments(cobra.ExactArgs(1)),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.json {
				return writeCompletion(cmd.Root(), args[0], a.stdout)
			}
			var script strings.Builder
			if err := writeCompletion(cmd.Root(), args[0], &script); err != nil {
				return err
			}
			return a.printJSON(completionJSON{"sheaf.completion/1", args[0], script.String()})
		},
	}
	a.addJSON(cmd)
	return cmd
}

// fileFlags are the flags that take a file. Those of folders are marked (markFolder).
var fileFlags = []string{"dataset", "html", "plot", "qrels", "queries", "report", "run", "svg", "topics"}

// fileless are the commands whose arguments are no files or folders.
var fileless = []string{"sheaf search", "sheaf key add", "sheaf profile new"}

// completeValues says what flags and arguments of a command, and of those below it, are
// completed with where they do not say so themselves: shells show the files of the folder
// otherwise, which few take.
func (a *app) completeValues(cmd *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"profile": completeProfiles,
		"set":     a.completeParameters, "param": a.completeParameters, "change": a.completeParameters, "what-if": a.completeParameters,
		"language": cobra.FixedCompletions(languages(), cobra.ShellCompDirectiveNoFileComp),
	}
	for flag, key := range map[string]string{"chunker": "chunker", "boundary": "chunk.window_boundary"} {
		if k, err := config.LookupOrError(key); err == nil {
			values[flag] = cobra.FixedCompletions(k.Allowed, cobra.ShellCompDirectiveNoFileComp)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		_, isFolder := f.Annotations[cobra.BashCompSubdirsInDir]
		if _, said := cmd.GetFlagCompletionFunc(f.Name); said || isFolder || f.Value.Type() == "bool" || strings.HasPrefix(f.Value.Type(), "string") && slices.Contains(fileFlags, f.Name) {
			return
		}
		complete := cobra.NoFileCompletions
		if known := values[f.Name]; known != nil {
			complete = known
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
	})
	switch takes := strings.Contains(cmd.Use, " "); {
	case cmd.ValidArgsFunction != nil || len(cmd.ValidArgs) > 0:
	case !takes || slices.Contains(fileless, cmd.CommandPath()):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	case cmd.HasSubCommands(): // of eval, beside which shells show no files otherwise
		cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	for _, below := range cmd.Commands() {
		a.completeValues(below)
	}
}

// languages are what --language and the setting can be.
func languages() []string { return append([]string{"auto", "none"}, analysis.Languages()...) }

// completeParameters completes the names of the parameters of the profile that a command uses.
func (a *app) completeParameters(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	name := ""
	if f := cmd.Flags().Lookup("profile"); f != nil && f.Changed {
		name, _, _ = strings.Cut(strings.Trim(f.Value.String(), "[]"), ",")
	} else if f == nil && len(args) > 0 { // profile show
		name = args[0]
	} else if c, err := a.folderSettings(cmd); err == nil {
		name = c.Profile
	}
	p, err := loadProfile(name)
	if err != nil {
		return nil, directive
	}
	names := make([]string, len(p.Parameters))
	for i := range p.Parameters {
		names[i] = cobra.CompletionWithDesc(p.Parameters[i].Name+"=", p.Parameters[i].About)
	}
	return names, directive
}

// writeCompletion writes the completion script of a shell.
func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return sheaf.Invalidf("shell %q: must be bash, zsh, fish or powershell", shell)
}
