package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/internal/suggest"
)

const rootHelp = `sheaf searches folders of documents.

  sheaf search how do I undo a commit

indexes the new and changed files of the current folder, then shows the passages
that answer best. The index is in your data folder. It is inside the notes only if
you ask for that (sheaf init --here).

Exit status:
  0  found, or done
  1  nothing found, or below a bound (sheaf eval --fail-below)
  2  wrong usage or configuration, such as an unknown profile
  3  a named file, folder, document or key does not exist
  4  something is unavailable: locked, read-only or not answering
  5  the index is damaged
  6  any other error
  130  interrupted`

// command builds the tree of commands. It does nothing else, because every run of the program waits for it.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "sheaf",
		Short:         "Search folders of documents",
		Long:          rootHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
	}
	version := root.Flags().Bool("version", false, "the same as sheaf version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return a.printVersion()
		}
		return cmd.Help()
	}
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if a.json && a.jsonl {
			return sheaf.Invalidf("--json and --jsonl exclude each other")
		}
		return nil
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(a.flagError)
	root.SetHelpCommand(helpCommand())
	group := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
		root.SetHelpCommandGroupID(title) // the help command is in the last group
	}
	group("Find and read:", a.searchCommand(), a.getCommand(), a.contextCommand(), a.similarCommand(), a.explainCommand())
	group("Choose the folders, see what is indexed:", a.initCommand(), a.addCommand(), a.removeCommand(),
		a.indexCommand(), a.watchCommand(), a.listCommand(), a.statusCommand())
	group("Answer people, programs and assistants:", a.serveCommand(), a.serviceCommand(), a.keyCommand(),
		a.aclCommand(), a.mcpCommand())
	group("Check, repair and move an index:", a.copyCommand(), a.exportCommand(), a.checkCommand(), a.doctorCommand())
	group("Understand and improve the ranking:", a.benchCommand(), a.chunksCommand(), a.parityCommand(), a.evalCommand(),
		a.fuseCommand(), a.stageCommand(), a.tuneCommand(), a.profileCommand())
	group("Set up the program:", a.completionCommand(), a.configCommand(), a.versionCommand())
	root.AddCommand(a.manCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&a.in, "in", "", "work on this folder instead of the current one")
	flags.StringVar(&a.index, "index", "", "use the index in this folder")
	flags.String("color", "", "colored output: auto, always or never")
	markFolder(flags, "in", "index")
	completeWords(root, "color", "auto", "always", "never")
	setArguments(root)
	if len(a.args) > 0 && (a.args[0] == cobra.ShellCompRequestCmd || a.args[0] == cobra.ShellCompNoDescRequestCmd) {
		a.completeValues(root)
	}
	return root
}

// setArguments makes the subcommands of cmd check their arguments. A group of commands refuses unknown names.
func setArguments(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		switch {
		case c.HasSubCommands() && c.RunE == nil:
			c.Args = unknownCommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case c.Args == nil && !c.DisableFlagParsing:
			c.Args = checkArguments
		}
		setArguments(c)
	}
}

// markFolder marks flags whose value is a folder. The shell then offers folders as values.
func markFolder(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, cobra.BashCompSubdirsInDir, []string{})
	}
}

// completeWords says which values a flag may have. The shell then offers these values.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object (see doc/json.md)")
	return cmd
}

// withIndex opens the index of the command's folder, calls the function run, and closes the index.
func (a *app) withIndex(cmd *cobra.Command, o openOptions, run func(*session) error) error {
	s, err := a.open(cmd, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return run(s)
}

// onIndex returns a RunE that opens the index of the command's folder, calls run, and closes the index.
func (a *app) onIndex(o openOptions, run func(*cobra.Command, *session, []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.withIndex(cmd, o, func(s *session) error { return run(cmd, s, args) })
	}
}

// folderArgument takes the folder of a command from its argument, as if it were the value of --in.
func (a *app) folderArgument(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		a.in = args[0]
	}
	return checkArguments(cmd, args)
}

// otherNames maps command names of other programs to the names of Sheaf's commands, for advice.
var otherNames = map[string]string{
	"find": "search", "grep": "search", "query": "search", "ask": "search", "vsearch": "search",
	"update": "index", "ingest": "index", "embed": "index", "build": "index", "refresh": "index",
	"collection": "ls --collections", "collections": "ls --collections", "collection add": "add",
	"collection remove": "remove",
	"cat":               "get", "show": "get", "read": "get", "multi-get": "get",
	"delete": "remove", "rm": "remove", "related": "similar", "why": "explain", "server": "serve", "audit": "acl audit",
	"trust": "config trust",
}

// otherFlags maps flags of other programs to Sheaf's flags, for advice.
var otherFlags = map[string]string{
	"top-k": "limit", "top": "limit", "count": "limit", "max-results": "limit", "num-results": "limit",
	"port": "addr", "listen": "addr", "bind": "addr", "collection": "in", "folder": "in", "dir": "in", "path": "in",
	"format": "json", "output": "json", "force": "rebuild", "full": "rebuild",
}

// unknownName adds the most similar known name to the error of an unknown name, or else the parameter hint.
func unknownName(err error, name string, known []string, hint string, args ...any) error {
	if near := suggest.Nearest(name, known); near != "" {
		return withHint(err, "did you mean %q?", near)
	}
	return withHint(err, hint, args...)
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
	for n := min(2, len(args)); n > 0 && !cmd.HasParent(); n-- {
		if ours := otherNames[strings.Join(args[:n], " ")]; ours != "" {
			return withHint(err, "did you mean %q?", cmd.CommandPath()+" "+ours)
		}
	}
	near := suggest.Nearest(args[0], names)
	switch {
	case near != "":
		return withHint(err, "did you mean %q?", cmd.CommandPath()+" "+near)
	case len(names) == 0:
		return withHint(err, "%s has no commands below it", cmd.CommandPath())
	case cmd.HasParent():
		return withHint(err, "the commands are %s", strings.Join(names, ", "))
	}
	return withHint(err, "to search for it: sheaf search %s; for all commands: sheaf help", strings.Join(args, " "))
}

// helpCommand makes the command "help", which shows the help of another command. It fails for an unknown command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(found, rest)
			}
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if above, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range above.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// valueKinds describes the value that a flag needs, by the type of the flag.
var valueKinds = map[string]string{"int": "a whole number", "int64": "a whole number", "uint64": "a whole number",
	"float64": "a number",
	"bool":    "true or false", "duration": "a time such as 30s or 5m"}

func (a *app) flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &bad) && valueKinds[bad.GetFlag().Value.Type()] != "":
		invalid := sheaf.Invalidf("--%s is %q: must be %s", bad.GetFlag().Name, bad.GetValue(),
			valueKinds[bad.GetFlag().Value.Type()])
		if word := bad.GetFlag().Shorthand + bad.GetValue(); slices.Contains(a.args, "-"+word) {
			return withHint(invalid, dashHint, cmd.CommandPath(), word)
		}
		return invalid
	case errors.As(err, &bad) && bad.GetFlag().Value.Type() == "stringSlice":
		return withHint(sheaf.Invalidf("--%s is %q: separate values with commas, and quote a value that holds a comma "+
			"or a quotation mark", bad.GetFlag().Name, bad.GetValue()),
			`as in --%s '"a, b","say ""c"""'`, bad.GetFlag().Name)
	case !errors.As(err, &unknown):
		return withHint(sheaf.Invalidf("%w", err), "see: %s --help", cmd.CommandPath())
	case !cmd.HasParent() && len(a.args) > 0 && !strings.HasPrefix(a.args[0], "-"):
		return unknownCommand(cmd, a.args[:1]) // the flags of an unknown command are unknown
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
	near := otherFlags[name]
	if !slices.Contains(known, near) {
		near = suggest.Nearest(name, known)
	}
	if near != "" && len(name) > 1 {
		return withHint(invalid, "did you mean --%s?", near)
	}
	word := unknown.GetSpecifiedShortnames()
	if word != "" && cmd.Name() == "search" {
		return withHint(invalid, "to leave out what holds %q, put -- before the query: sheaf search -- -%s", word, word)
	}
	if word != "" {
		return withHint(invalid, dashHint, cmd.CommandPath(), word)
	}
	return withHint(invalid, "see: %s --help", cmd.CommandPath())
}

// dashHint is the hint about an argument that was read as a flag.
const dashHint = "put -- before an argument that begins with -: %s -- -%s"

// checkArguments returns an error if the number of arguments does not fit the usage of the command. For the usage "get
// ADDRESS..." the number must be at least one, for "explain QUERY [ADDRESS]" one or two.
func checkArguments(cmd *cobra.Command, args []string) error {
	if f := cmd.Flags().ShorthandLookup("p"); f != nil && f.Changed { // -path:x is -p with the value "ath:x"
		if word := f.Shorthand + f.Value.String(); strings.HasPrefix(word, "path:") || strings.HasPrefix(word, "prop.") {
			return withHint(sheaf.Invalidf("%q was read as the flag -p", "-"+word), dashHint, cmd.CommandPath(), word)
		}
	}
	use := regexp.MustCompile(` --\w* \S+`).ReplaceAllString(cmd.Use, "")
	needed, optional, _ := strings.Cut(use, " [")
	need := strings.Fields(strings.ReplaceAll(needed, "...", ""))[1:]
	most := len(need)
	if optional != "" {
		most++
	}
	switch {
	case len(args) < len(need):
		return withHint(sheaf.Invalidf("%s needs %s", cmd.CommandPath(), strings.Join(need[len(args):], " and ")),
			"usage: %s", cmd.UseLine())
	case len(args) <= most || strings.Contains(use, "...") || strings.Contains(use, "…"):
		return nil
	}
	usage := "usage: " + cmd.UseLine()
	if len(args) > 1 {
		usage += "; quotation marks make one argument of several words"
	}
	return withHint(sheaf.Invalidf("%s: too many arguments: %s", cmd.CommandPath(), strings.Join(args, " ")), "%s", usage)
}
