package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
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
