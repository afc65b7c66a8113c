package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/internal/suggest"
)

const rootHelp = `sheaf searches folders of documents.

  sheaf search how do I undo a commit

indexes what is new or changed in the current folder, then shows the passages
that answer best. The index lies in your data folder, never inside the notes
unless you ask for it (sheaf init --here).

Exit status:
  0  found, or done
  1  nothing found, or below a bound (sheaf eval --fail-below)
  2  wrong usage or configuration
  3  something that was named does not exist
  4  something is unavailable: locked, read-only or not answering
  5  the index is damaged
  6  any other error
  130  interrupted`

// Groups of commands in the help text.
const (
	groupSearch = "search"
	groupIndex  = "index"
	groupDoors  = "doors"
	groupOther  = "other"
)

// command builds the tree of commands. It does no other work, because every
// run pays for it.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "sheaf",
		Short:         "Search folders of documents",
		Long:          rootHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: groupSearch, Title: "Search:"},
		&cobra.Group{ID: groupIndex, Title: "Index:"},
		&cobra.Group{ID: groupDoors, Title: "Doors:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	root.SetHelpCommandGroupID(groupOther)
	root.CompletionOptions.DisableDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&a.in, "in", "", "work on this folder instead of the current one")
	flags.StringVar(&a.index, "index", "", "use the index in this folder")
	flags.String("color", "", "colored output: auto, always or never")
	markFolder(flags, "in", "index")
	root.AddCommand(
		a.searchCommand(),
		a.getCommand(),
		a.contextCommand(),
		a.similarCommand(),
		a.explainCommand(),
		a.initCommand(),
		a.addCommand(),
		a.indexCommand(),
		a.copyCommand(),
		a.exportCommand(),
		a.watchCommand(),
		a.serveCommand(),
		a.keyCommand(),
		a.aclCommand(),
		a.listCommand(),
		a.statusCommand(),
		a.checkCommand(),
		a.doctorCommand(),
		a.mcpCommand(),
		a.benchCommand(),
		a.chunksCommand(),
		a.completionCommand(),
		a.parityCommand(),
		a.evalCommand(),
		a.fuseCommand(),
		a.stageCommand(),
		a.tuneCommand(),
		a.adaptCommand(),
		a.configCommand(),
		a.profileCommand(),
		a.manCommand(),
		a.versionCommand(),
	)
	for _, c := range root.Commands() {
		checkSubcommands(c)
	}
	return root
}

// markFolder makes shells complete these flags with folders.
func markFolder(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, cobra.BashCompSubdirsInDir, []string{})
	}
}

// addJSON gives cmd the flag --json.
func (a *app) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object (see doc/json.md)")
}

// checkSubcommands makes commands that only group others refuse names they do
// not know.
func checkSubcommands(cmd *cobra.Command) {
	if !cmd.HasSubCommands() {
		return
	}
	if cmd.RunE == nil {
		cmd.Args = unknownCommand
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	err := sheaf.Invalidf("unknown command %q for %q", args[0], cmd.CommandPath())
	if near := suggest.Nearest(args[0], names); near != "" {
		return withHint(err, "did you mean %q?", cmd.CommandPath()+" "+near)
	}
	if cmd.HasParent() {
		return withHint(err, "the commands are %s", strings.Join(names, ", "))
	}
	return withHint(err, "to search for it: sheaf search %s; for all commands: sheaf help", strings.Join(args, " "))
}

func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return sheaf.Invalidf("%w", err)
	}
	name := unknown.GetSpecifiedName()
	var known []string
	each := func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	}
	cmd.Flags().VisitAll(each)
	cmd.InheritedFlags().VisitAll(each)
	invalid := sheaf.Invalidf("%w for %q", err, cmd.CommandPath())
	if near := suggest.Nearest(name, known); near != "" && len(name) > 1 {
		return withHint(invalid, "did you mean --%s?", near)
	}
	return withHint(invalid, "see: %s --help", cmd.CommandPath())
}

// arguments wraps a rule about the number of arguments so that its error is
// invalid input and shows how the command is used.
func arguments(rule cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := rule(cmd, args); err != nil {
			return withHint(sheaf.Invalidf("%w", err), "usage: %s", cmd.UseLine())
		}
		return nil
	}
}
