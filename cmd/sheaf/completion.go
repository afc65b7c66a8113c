package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/text/analysis"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Long: `Prints a script. With it, a shell completes commands, flags and their values. The
script for bash needs the package bash-completion, which most systems have.`,
		Example: `  source <(sheaf completion bash)
  sheaf completion zsh > "${fpath[1]}/_sheaf"
  sheaf completion fish > ~/.config/fish/completions/sheaf.fish`,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			script, err := completionScript(cmd.Root(), args[0])
			if err != nil {
				return err
			}
			return a.print(completionJSON{"sheaf.completion/1", args[0], script}, func() { fmt.Fprint(a.stdout, script) })
		},
	})
}

// completionJSON is the answer of `sheaf completion`.
type completionJSON struct {
	Schema string `json:"schema"`
	Shell  string `json:"shell"`  // the shell: bash, zsh, fish or powershell
	Script string `json:"script"` // the completion script for this shell
}

// fileFlags are the flags whose value is a file. [markFolder] marks the flags whose value is a folder.
var fileFlags = []string{"dataset", "html", "plot", "qrels", "queries", "report", "run", "svg", "topics"}

// commandsWithoutFiles lists the commands whose arguments are not files or folders.
var commandsWithoutFiles = []string{"sheaf search", "sheaf key add", "sheaf profile new"}

// completeValues adds completions to the flags and arguments of a command and its subcommands. It adds none where a
// value is a file, because shells then offer file names. Existing completions stay.
func (a *app) completeValues(cmd *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"profile": completeProfiles,
		"set":     a.completeParameters, "param": a.completeParameters, "change": a.completeParameters,
		"what-if":  a.completeParameters,
		"language": cobra.FixedCompletions(languages(), cobra.ShellCompDirectiveNoFileComp),
	}
	for flag, key := range map[string]string{"chunker": "chunker", "boundary": "chunk.window_boundary"} {
		if k, err := config.Lookup(key); err == nil {
			values[flag] = cobra.FixedCompletions(k.Allowed, cobra.ShellCompDirectiveNoFileComp)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		_, isFolder := f.Annotations[cobra.BashCompSubdirsInDir]
		if _, said := cmd.GetFlagCompletionFunc(f.Name); said || isFolder || f.Value.Type() == "bool" ||
			strings.HasPrefix(f.Value.Type(), "string") && slices.Contains(fileFlags, f.Name) {
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
	case !takes || slices.Contains(commandsWithoutFiles, cmd.CommandPath()):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	case cmd.HasSubCommands(): // eval; otherwise shells would show no files
		cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	for _, below := range cmd.Commands() {
		a.completeValues(below)
	}
}

// languages returns the values that --language and the setting of the same name accept.
func languages() []string { return append([]string{"auto", "none"}, analysis.Languages()...) }

// completeParameters completes parameters of the profile in force. The shell adds no files, and no space after them.
func (a *app) completeParameters(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	name := ""
	if f := cmd.Flags().Lookup("profile"); f != nil && f.Changed {
		name, _, _ = strings.Cut(strings.Trim(f.Value.String(), "[]"), ",")
	} else if f == nil && len(args) > 0 { // profile show
		name = args[0]
	} else if _, c, err := a.folderSettings(cmd); err == nil {
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

// scriptFixes are replacements in cobra's completion scripts, by shell: old text, then new text. Cobra's scripts
// evaluate the words on the command line, so a query such as $(rm x) would run a command. In PowerShell, a parenthesis
// or a brace can start a command too. The script for PowerShell therefore completes nothing after these characters.
var scriptFixes = map[string][][2]string{
	"bash": {{`    out=$(eval "${requestComp}" 2>/dev/null)
`, `    if [[ ${requestComp} == *[\` + "`" + `\(\<\>]* || ${requestComp} == *'${'[[:space:]\|]* ]]; then
        # What a query holds is not run: its words are given as they are, without what quotes them
        args=("${args[@]#[\"\']}") args=("${args[@]%[\"\']}") args=("${args[@]//\\/}")
        out=$(eval "${words[0]} __complete \"\${args[@]}\"" 2>/dev/null)
    else
        out=$(eval "${requestComp}" 2>/dev/null)
    fi
`}},
	"zsh": {{`    words=("${=words[1,CURRENT]}")
`, `    local -a typed
    typed=("${(@)words[1,CURRENT]}")
    words=("${=words[1,CURRENT]}")
`}, {`    out=$(eval ${requestComp} 2>/dev/null)
`, `    if [[ ${requestComp} == *[\` + "`" + `\(\<\>]* || ${requestComp} == *'${'[[:space:]\|]* ]]; then
        # What a query holds is not run: its words are given as they are, without what quotes them
        out=$(eval "${words[1]} __complete \"\${(@Q)typed[2,-1]}\"" 2>/dev/null)
    else
        out=$(eval ${requestComp} 2>/dev/null)
    fi
`}, {`=~ '-.*=' ]]`, `=~ '^-[^=]*=' ]]`}},
	"fish": {{`    set -l args (commandline -opc)
`, `    # and quote them again: a query is no command. ~ and variables in front are folders.
    set -l args (string escape -- (commandline -opc) | string replace -r "^'(~/|\\\$[A-Za-z_]\w*)" '$1\'')
`}, {`(string match -r -- '-.*=' "$lastArg")`, `(string match -r -- '^-[^=]*=' (commandline -ct))`},
		{`(string split --max 1 \t $`, `(string split --max 1 -- \t $`}},
	"powershell": {{`    Invoke-Expression -OutVariable out`, `    # What a query holds is not run
    if ($RequestComp -match '[({]') {
        return
    }
    Invoke-Expression -OutVariable out`}},
}

func completionScript(root *cobra.Command, shell string) (string, error) {
	var written strings.Builder
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&written, true)
	case "zsh":
		err = root.GenZshCompletion(&written)
	case "fish":
		err = root.GenFishCompletion(&written, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&written)
	default:
		err = sheaf.Invalidf("shell %q: must be bash, zsh, fish or powershell", shell)
	}
	script := written.String()
	for _, mend := range scriptFixes[shell] {
		if err == nil && strings.Count(script, mend[0]) != 1 {
			err = fmt.Errorf("the script for %s has no single %q", shell, mend[0])
		}
		script = strings.Replace(script, mend[0], mend[1], 1)
	}
	return script, err
}
