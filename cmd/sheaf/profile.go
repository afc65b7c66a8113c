package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/internal/wording"
	"sheaf/profile"
)

func (a *app) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Show, check and make ranking profiles",
		Long: `A profile says how results are ranked: which branches retrieve, how they are
joined, which stages follow, and with which numbers. sheaf search --profile NAME
uses one, --set NAME=VALUE changes a parameter of it for one query.

Your own profiles are in ` + "`sheaf/profiles`" + ` in your configuration folder.`,
	}
	cmd.AddCommand(a.profileListCommand(), a.profileShowCommand(), a.profileCheckCommand(), a.profileDiffCommand(),
		a.profileNewCommand(), a.profileSchemaCommand())
	return cmd
}

func (a *app) profileSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of profiles, for editors",
		Long: `Prints the JSON Schema of profile files. Editors that know it complete and check
a profile while it is written: save it, and begin the profile with
# yaml-language-server: $schema=PATH`,
		RunE: func(*cobra.Command, []string) error {
			text, err := profile.Schema()
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(text)
			return err
		},
	}
}

func profileFolder() string { return filepath.Join(xdg.ConfigHome, "sheaf", "profiles") }

// loadProfile reads a profile by name. The error for a missing profile suggests the nearest name.
func loadProfile(name string) (*profile.Profile, error) {
	p, err := profile.Load(name, profile.In(profileFolder()))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, collection.NearFile(collection.FileFault("profile", err), name)
	}
	if errors.Is(err, sheaf.ErrNotFound) {
		// A wrong profile name is invalid input, not a search without results.
		err = sheaf.Invalidf("no profile is called %q", name)
		return nil, unknownName(err, name, profileNames(), "the profiles are %s", strings.Join(profileNames(), ", "))
	}
	return p, err
}

func profileNames() []string {
	infos, _ := profile.List(profileFolder()) // no names after an error
	var names []string
	for _, info := range infos {
		names = append(names, info.Name)
	}
	return names
}

func completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return profileNames(), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) profileListCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the profiles",
		RunE: func(*cobra.Command, []string) error {
			infos, err := profile.List(profileFolder())
			if err != nil {
				return err
			}
			rows := [][]string{}
			list := make([]profileJSON, len(infos))
			for i, info := range infos {
				list[i] = profileJSON{Name: info.Name, About: info.About, File: info.File, Builtin: info.Builtin}
				about := wording.Clean(info.About)
				if info.Err != nil {
					list[i].Error = info.Err.Error()
					about = a.out.Paint(terminal.Fault, wording.Clean(info.Err.Error()))
				}
				rows = append(rows, []string{a.out.Paint(terminal.Title, info.Name), about})
			}
			return a.print(profilesJSON{Schema: "sheaf.profile-list/1", Profiles: list}, func() { a.printTable(rows) })
		},
	})
}

// profilesJSON is the answer of `sheaf profile list`.
type profilesJSON struct {
	Profiles []profileJSON `json:"profiles"` // all profiles, built-in and your own
	Schema   string        `json:"schema"`
}

// profileJSON describes a profile in the list of `sheaf profile list`.
type profileJSON struct {
	Name    string `json:"name"`            // the name of the profile
	About   string `json:"about"`           // what the profile is for
	File    string `json:"file"`            // the file; of a built-in profile only its name
	Builtin bool   `json:"builtin"`         // whether the profile is part of Sheaf
	Error   string `json:"error,omitempty"` // why the file is no profile
}

func (a *app) profileShowCommand() *cobra.Command {
	var set []string
	var source, doc bool
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Draw the pipeline of a profile, or print it as written",
		Long: `Draws the pipeline of a profile, every number worked out; with --source prints it
as written; with --doc its reference, and without a name that of the whole language.`,
		ValidArgsFunction: completeProfiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, whole := range []string{"source", "doc"} {
				for _, number := range []string{"set", "limit"} {
					if cmd.Flags().Changed(whole) && cmd.Flags().Changed(number) {
						return sheaf.Invalidf("--%s and --%s exclude each other", whole, number)
					}
				}
			}
			if len(args) == 0 {
				if !doc {
					return sheaf.Invalidf("name a profile (%s), or give --doc", strings.Join(profileNames(), ", "))
				}
				text, err := profile.Reference()
				fmt.Fprint(a.stdout, text)
				return err
			}
			p, bound, err := a.bind(cmd, args[0], set)
			if err != nil {
				return err
			}
			text, err := p.Show(bound.Limit, bound.Values)
			switch {
			case doc:
				text, err = p.Reference()
			case a.json && err == nil:
				return a.printJSON(planOf(p, bound, text))
			case source:
				var written []byte
				_, written, err = profileSource(args[0])
				text = string(written)
			}
			fmt.Fprint(a.stdout, text)
			return err
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "set a parameter, as in --set meaning=0.3")
	cmd.Flags().BoolVar(&doc, "doc", false, "print the reference, as in doc/profiles.md")
	cmd.Flags().BoolVar(&source, "source", false, "print it as written")
	cmd.Flags().IntP("limit", "n", 0, "the number of results to work it out for")
	return a.withJSON(cmd)
}

func profileSource(name string) (file string, text []byte, err error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		text, err = os.ReadFile(name)
		return name, text, err
	}
	return profile.In(profileFolder())(name)
}

// bind returns the profile called name, and its plan for the limit in force and the parameters in set.
func (a *app) bind(cmd *cobra.Command, name string, set []string) (*profile.Profile, *profile.Plan, error) {
	_, c, err := a.folderSettings(cmd)
	if err != nil {
		return nil, nil, err
	}
	p, err := loadProfile(name)
	if err != nil {
		return nil, nil, err
	}
	parameters, err := parseSet(set, p)
	if err != nil {
		return nil, nil, err
	}
	plan, err := p.Plan(usualLimit(c, p, parameters), parameters)
	return p, plan, err
}

// parseSet reads NAME=VALUE pairs. The error for an unknown name suggests the nearest one.
func parseSet(set []string, p *profile.Profile) (map[string]string, error) {
	values := map[string]string{}
	var names []string
	for _, parameter := range p.Parameters {
		names = append(names, parameter.Name)
	}
	for _, pair := range set {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, sheaf.Invalidf("parameter %q: want NAME=VALUE, as in meaning=0.3", pair)
		}
		if !slices.Contains(names, name) {
			err := sheaf.Invalidf("parameter %q: profile %s has no parameter %q", pair, p.Name, name)
			if hint := profile.Hint("parameter", name, names); hint != "" {
				return nil, withHint(err, "%s", hint)
			}
			if len(names) == 0 {
				return nil, withHint(err, "it has no parameters")
			}
			return nil, withHint(err, "its parameters are %s", strings.Join(names, ", "))
		}
		values[name] = value
	}
	return values, nil
}

// planJSON is the answer of `sheaf profile show`: the profile with its parameters set.
type planJSON struct {
	Schema     string          `json:"schema"`
	Name       string          `json:"name"`              // the name of the profile
	About      string          `json:"about"`             // what the profile is for
	Extends    string          `json:"extends,omitempty"` // the profile that this profile changes
	File       string          `json:"file"`              // the file; of a built-in profile only its name
	Limit      int             `json:"limit"`             // how many results the steps are for
	Parameters []parameterJSON `json:"parameters"`        // the parameters that a search may set
	Pipeline   string          `json:"pipeline"`          // the steps, as a text in YAML
}

// parameterJSON is a parameter of a profile.
type parameterJSON struct {
	Name    string   `json:"name"`              // the name of the parameter
	About   string   `json:"about"`             // what the parameter means
	Default string   `json:"default"`           // the default value
	Value   string   `json:"value"`             // the value that a search uses
	Min     *float64 `json:"min,omitempty"`     // the smallest allowed number
	Max     *float64 `json:"max,omitempty"`     // the largest allowed number
	Integer bool     `json:"integer,omitempty"` // whether only whole numbers are allowed
	OneOf   []string `json:"one_of,omitempty"`  // the allowed words
}

// planOf converts a profile and its plan for output. pipeline is the profile's text.
func planOf(p *profile.Profile, plan *profile.Plan, pipeline string) planJSON {
	out := planJSON{Schema: "sheaf.profile/1", Name: p.Name, About: p.About, Extends: p.Extends, File: p.File,
		Limit: plan.Limit, Parameters: []parameterJSON{}, Pipeline: pipeline}
	for _, parameter := range p.Parameters {
		j := parameterJSON{Name: parameter.Name, About: parameter.About, Default: parameter.Default,
			Value: plan.Values[parameter.Name], Integer: parameter.Integer(), OneOf: parameter.OneOf}
		if len(parameter.OneOf) == 0 {
			lo, hi := parameter.Min, parameter.Max
			j.Min, j.Max = &lo, &hi
		}
		out.Parameters = append(out.Parameters, j)
	}
	return out
}

// checkedProfilesJSON is the answer of `sheaf profile check`.
type checkedProfilesJSON struct {
	Profiles []checkedProfileJSON `json:"profiles"` // the checked profiles, in the order of the arguments
	Schema   string               `json:"schema"`
}

// checkedProfileJSON is a checked profile with its fault.
type checkedProfileJSON struct {
	Name  string `json:"name"`            // the name or file, as the command got it
	Error string `json:"error,omitempty"` // what is wrong with the profile
}

func (a *app) profileCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE|NAME...",
		Short: "Say whether profiles are right, and where they are not",
		RunE: func(_ *cobra.Command, args []string) error {
			var faults []error
			checked := make([]checkedProfileJSON, len(args))
			for i, name := range args {
				checked[i].Name = name
				if _, err := loadProfile(name); err != nil {
					faults = append(faults, err)
					checked[i].Error = err.Error()
				} else if !a.json {
					fmt.Fprintf(a.stdout, "%s: right\n", wording.Clean(name))
				}
			}
			if a.json {
				if err := a.printJSON(checkedProfilesJSON{Schema: "sheaf.profile-check/1", Profiles: checked}); err != nil {
					return err
				}
			}
			return errors.Join(faults...)
		},
	}
	return a.withJSON(cmd)
}

// profileDiffJSON is the answer of `sheaf profile diff`.
type profileDiffJSON struct {
	A      string   `json:"a"`     // the name or file of the first profile
	B      string   `json:"b"`     // the name or file of the second profile
	Lines  []string `json:"lines"` // the differences as people read them; empty when both do the same
	Schema string   `json:"schema"`
}

func (a *app) profileDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "diff A B",
		Short:             "Show in which steps and numbers two profiles differ",
		ValidArgsFunction: completeProfiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			left, plan, err := a.bind(cmd, args[0], nil)
			if err != nil {
				return err
			}
			right, _, err := a.bind(cmd, args[1], nil)
			if err != nil {
				return err
			}
			text, err := profile.Diff(left, right, plan.Limit)
			if err != nil {
				return err
			}
			lines := []string{}
			if text != "" {
				lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			}
			out := profileDiffJSON{Schema: "sheaf.profile-diff/1", A: args[0], B: args[1], Lines: lines}
			return a.print(out, func() {
				if len(lines) == 0 {
					fmt.Fprintf(a.stdout, "%s and %s do the same\n", args[0], args[1])
				}
				for _, line := range lines {
					switch line[0] {
					case '-':
						line = a.out.Paint(terminal.Removed, line)
					case '+':
						line = a.out.Paint(terminal.Added, line)
					}
					fmt.Fprintln(a.stdout, line)
				}
			})
		},
	}
	cmd.Flags().IntP("limit", "n", 0, "the number of results to work them out for")
	return a.withJSON(cmd)
}

// newProfileJSON is the answer of `sheaf profile new`.
type newProfileJSON struct {
	File   string `json:"file"` // the path of the new file
	From   string `json:"from"` // the name of the profile that the new one changes
	Name   string `json:"name"` // the name of the new profile
	Schema string `json:"schema"`
}

func (a *app) profileNewCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a profile of your own that changes another",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.in != "" {
				return withHint(sheaf.Invalidf("--in %s: your profiles belong to no folder", a.in),
					"leave --in out; to use the profile in one folder: sheaf config set --project profile %s", args[0])
			}
			name := args[0]
			if _, _, err := profile.Builtin(name); err == nil && (name != from || !cmd.Flags().Changed("from")) {
				return withHint(sheaf.Invalidf("%q is a built-in profile", name),
					"choose another name, or change it under its own name: sheaf profile new %s --from %s", name, name)
			}
			p, err := loadProfile(from)
			if err != nil {
				return err
			}
			text, err := profile.New(name, p)
			if err != nil {
				return err
			}
			if !filepath.IsLocal(name + ".yaml") { // on Windows con.yaml is the console and nul.yaml the null device
				return sheaf.Invalidf("%q: this system allows no file of this name: choose another name", name)
			}
			path := filepath.Join(profileFolder(), name+".yaml")
			if err := writeNew(path, text); err != nil {
				return err
			}
			return a.print(newProfileJSON{Schema: "sheaf.profile-new/1", Name: name, From: from, File: path}, func() {
				fmt.Fprintf(a.stdout, "%s changes %s: edit it, then: sheaf profile check %s\n", path, from, name)
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", profile.Default, "the profile to change")
	_ = cmd.RegisterFlagCompletionFunc("from", completeProfiles)
	return a.withJSON(cmd)
}

// writeNew writes a new file. It returns an error if the file exists.
func writeNew(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return sheaf.Invalidf("%s exists already: choose another name", path)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
