package main

import (
	"github.com/spf13/cobra"

	"sheaf"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "completion SHELL",
		GroupID: groupOther,
		Short:   "Print a completion script for bash, zsh, fish or powershell",
		Example: `  source <(sheaf completion bash)
  sheaf completion zsh > "${fpath[1]}/_sheaf"
  sheaf completion fish > ~/.config/fish/completions/sheaf.fish`,
		Args:      arguments(cobra.ExactArgs(1)),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return sheaf.Invalidf("shell %q: must be bash, zsh, fish or powershell", args[0])
		},
	}
}
