package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/profile"
)

func (a *app) stageCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "stage NAME [--SETTING=VALUE...] RUN",
		GroupID: groupRank,
		Short:   "Apply a ranking stage to rankings that other systems made",
		Long: `Applies one stage, as profiles have them, to the rankings of a run (a TREC run
file or JSON; - is the standard input) and prints the result. Settings are those
of the stage: sheaf stage NAME --help lists them. What stands before the last #
of an ID is its document. Beside the settings: --limit N, the most hits of a query
(1000), --name NAME, the name of the run that is printed, --json. See
doc/stages.md.`,
		Example: `  sheaf stage aggregate --method=top_m_sum --m=3 chunks.run
  sheaf stage elbow --ratio=0.5 --max=20 bm25.run | sheaf stage normalize -`,
		// The settings depend on the stage, so RunE parses them.
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return profile.RunStages(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := parseStageArguments(args)
			if err != nil {
				return err
			}
			if o.help {
				return a.stageHelp(cmd, o.name)
			}
			a.json = o.json
			if o.name == "" || len(o.files) != 1 {
				return sheaf.Invalidf("want a stage and one run: sheaf stage NAME [--SETTING=VALUE...] RUN")
			}
			step, err := profile.NewRunStage(o.name, o.set, o.limit)
			if err != nil {
				return err
			}
			runs, err := a.readRuns(o.files)
			if err != nil {
				return err
			}
			out, err := runs[0].Apply(step.Stage)
			if err != nil {
				return err
			}
			return a.printRun(out, o.run, o.limit)
		},
	}
}

// stageArguments are the arguments and flags of sheaf stage.
type stageArguments struct {
	name, run  string
	files      []string
	set        map[string]string
	limit      int
	json, help bool
}

func parseStageArguments(args []string) (stageArguments, error) {
	o := stageArguments{run: "sheaf", limit: 1000, set: map[string]string{}}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-h" {
			arg = "--help"
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if o.name == "" {
				o.name = arg
			} else {
				o.files = append(o.files, arg)
			}
			continue
		}
		if arg == "-n" {
			arg = "--limit"
		}
		name, value, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case name == "help":
			o.help = true
			continue
		case name == "json":
			o.json = true
			continue
		case !given && i+1 < len(args):
			i++
			value = args[i]
		case !given:
			return o, sheaf.Invalidf("%s has no value: write %s=VALUE", arg, arg)
		}
		if _, twice := o.set[name]; twice {
			return o, sheaf.Invalidf("--%s is given twice", name)
		}
		switch name {
		case "limit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return o, sheaf.Invalidf("--limit %q: must be a whole number of at least 1", value)
			}
			o.limit = n
		case "name":
			o.run = value
		default:
			o.set[name] = value
		}
	}
	return o, nil
}

// stageHelp prints the list of stages, or the settings of the stage called name.
func (a *app) stageHelp(cmd *cobra.Command, name string) error {
	if name == "" {
		if err := cmd.Help(); err != nil {
			return err
		}
		_, err := a.stdout.WriteString("\nStages: " + strings.Join(profile.RunStages(), ", ") + "\n")
		return err
	}
	text, err := profile.StageHelp(name)
	if err != nil {
		return err
	}
	if !slices.Contains(profile.RunStages(), name) {
		text += "\nIt needs to know documents, and works in profiles only.\n"
	}
	_, err = a.stdout.WriteString(text)
	return err
}
