package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/storeurl"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/internal/wording"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: `Settings come from flags, then SHEAF_* variables, then the project's file
(.sheaf.yaml or sheaf.yaml in the folder or above it), then your own file, then
the defaults; the first that names a key wins.

` + keyHelp(),
	}
	cmd.AddCommand(a.configShowCommand(), a.configGetCommand(), a.configSetCommand(), a.configUnsetCommand(),
		a.configPathCommand(), a.configSchemaCommand(), a.configTrustCommand())
	return cmd
}

func keyHelp() string {
	lines := []string{"Keys:"}
	for _, k := range config.Keys() {
		name := "  " + k.Name
		if k.Default != "" {
			name += " (" + k.Default + ")"
		}
		lines = append(lines, name, "      "+k.Help)
	}
	return strings.Join(lines, "\n")
}

// setIn adds to err the file or environment variable that sets key. If neither sets key, err stays unchanged.
func setIn(c *config.Config, key string, err error) error {
	origin := c.Origin(key)
	if err == nil || origin.Source == config.SourceDefault || origin.Source == config.SourceFlag {
		return err
	}
	return fmt.Errorf("%s: %w", origin, err)
}

// settingJSON is a setting with its origin.
type settingJSON struct {
	Key    string `json:"key"`    // the name of the setting
	Value  any    `json:"value"`  // the value that holds now
	Source string `json:"source"` // one of flag, environment, project, user and default
	Origin string `json:"origin"` // the flag, the variable, or file, line and column
}

// settingsJSON is the answer of `sheaf config show`.
type settingsJSON struct {
	Schema   string        `json:"schema"`
	Settings []settingJSON `json:"settings"` // every setting, with its value and origin
	Notices  []string      `json:"notices"`  // what Sheaf ignored in the files, and why
}

// oneSettingJSON is the answer of `sheaf config get`.
type oneSettingJSON struct {
	Schema string `json:"schema"`
	settingJSON
}

// setJSON is the answer of `sheaf config set`.
type setJSON struct {
	File   string `json:"file"` // the file that has the setting now
	Key    string `json:"key"`  // the name of the setting
	Schema string `json:"schema"`
}

// unsetJSON is the answer of `sheaf config unset`.
type unsetJSON struct {
	File   string `json:"file"`   // the file that had the setting
	Key    string `json:"key"`    // the name of the setting
	Origin string `json:"origin"` // where the value now comes from
	Schema string `json:"schema"`
	Value  any    `json:"value"` // the value that now holds
}

// pathsJSON is the answer of `sheaf config path`.
type pathsJSON struct {
	Project    string `json:"project"` // the file of the folder, or "" without such a file
	Schema     string `json:"schema"`
	User       string `json:"user"`        // your own file
	UserExists bool   `json:"user_exists"` // whether your own file exists
}

// trustJSON is the answer of `sheaf config trust`.
type trustJSON struct {
	Approved bool     `json:"approved"` // whether the content of the file is approved now
	File     string   `json:"file"`     // the path of the settings file
	Schema   string   `json:"schema"`
	Settings []string `json:"settings"` // the settings of the file that need approval
}

func settingOf(c *config.Config, k *config.Key) settingJSON {
	origin := c.Origin(k.Name)
	return settingJSON{Key: k.Name, Value: k.Value(&c.Values), Source: origin.Source.String(), Origin: origin.String()}
}

func (a *app) configShowCommand() *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print every setting, and with --origin where it was made",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, c, err := a.folderSettings(cmd)
			if err != nil {
				return err
			}
			var rows [][]string
			var settings []settingJSON
			for i := range config.Keys() {
				k := &config.Keys()[i]
				settings = append(settings, settingOf(c, k))
				row := []string{k.Name, wording.Clean(k.Format(&c.Values))}
				if origin {
					row = append(row, a.out.Paint(terminal.Dim, c.Origin(k.Name).String()))
				}
				rows = append(rows, row)
			}
			return a.print(settingsJSON{"sheaf.config/1", settings, orEmpty(c.Notices)}, func() { a.printTable(rows) })
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "say where each setting was made")
	return a.withJSON(cmd)
}

func completeKeys(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return config.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completeSetting completes the name of a setting, then its value. It offers files for a value that may be a path.
func completeSetting(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeKeys(cmd, args, typed)
	}
	k, err := config.Lookup(args[0])
	switch {
	case err != nil:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case k.Name == "profile":
		return completeProfiles(cmd, nil, typed)
	case k.Name == "language":
		return languages(), cobra.ShellCompDirectiveNoFileComp
	case k.Kind == config.KindBool:
		return []string{"true", "false"}, cobra.ShellCompDirectiveNoFileComp
	case k.Path, k.Name == "exclude", k.Name == "include":
		return nil, cobra.ShellCompDirectiveDefault
	}
	return k.Allowed, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) configGetCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:               "get KEY",
		Short:             "Print one setting",
		ValidArgsFunction: completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := config.Lookup(args[0])
			if err != nil {
				return err
			}
			_, c, err := a.folderSettings(cmd)
			if err != nil {
				return err
			}
			return a.print(oneSettingJSON{"sheaf.config-get/1", settingOf(c, key)},
				func() { fmt.Fprintln(a.stdout, key.Format(&c.Values)) })
		},
	})
}

func (a *app) configSetCommand() *cobra.Command {
	var w whichFile
	cmd := &cobra.Command{
		Use:   "set KEY VALUE...",
		Short: "Write a setting into your file, or with --project into the folder's",
		Long: `Writes a setting into your own file, which holds for all folders, or with --project
into the file of this folder. What you write into the folder's file is approved, as
sheaf config trust does it, unless that file holds other settings that need approval.

The setting store goes into the folder's file unless --user says otherwise: every folder
has an index of its own. An address that names an index, schema or class is refused in
your own file, because all folders would fill that one place.`,
		Example: `  sheaf config set limit 20
  sheaf config set --project exclude drafts/ '*.tmp'
  sheaf config set store postgres://me@host/database?schema=notes
  sheaf config set --user store opensearch://host:9200`,
		ValidArgsFunction: completeSetting,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := a.writeSetting(cmd, w, args[0], func(file string, inProject bool) error {
				if err := checkNamed(args[0], args[1], !inProject); err != nil {
					return err
				}
				return config.Set(file, args[0], args[1:])
			})
			if err != nil {
				return err
			}
			return a.print(setJSON{Schema: "sheaf.config-set/1", Key: args[0], File: file}, func() {
				fmt.Fprintf(a.stdout, "%s is set in %s\n", args[0], file)
			})
		},
	}
	w.addFlags(cmd)
	return a.withJSON(cmd)
}

// noteLeftBehind prints a note about documents from HTTP in the old store, if the settings now name another store. It
// prints nothing if it cannot read the settings or the stores.
func (a *app) noteLeftBehind(folder string, before, now *config.Config) {
	b := *a
	b.config = now
	from := cmp.Or(before.Store.URL, collection.EngineStore)
	to := cmp.Or(now.Store.URL, collection.EngineStore)
	base, _, err := a.finder(now).Find(a.workFolder(folder))
	if err != nil || from == to {
		return
	}
	source, err := b.placeOf(base, "store", from)
	target, fault := b.placeOf(base, "store", to)
	if err != nil || fault != nil || source == target {
		return
	}
	if ids, err := collection.LeftBehind(source, target); err == nil && len(ids) > 0 {
		a.notice("%s", collection.LeftBehindText(ids, base.Root, from, to))
	}
}

// whichFile has the flags --project and --user, which choose the settings file to write.
type whichFile struct{ project, user bool }

func (w *whichFile) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.project, "project", false, "write to the file in the folder, the default for store")
	cmd.Flags().BoolVar(&w.user, "user", false, "write to your own file, the default for all others")
}

// file returns the settings file to write key to, and whether it is the project's file in the command's folder. Without
// --project and --user, the key "store" goes into the project's file, and other keys go into the user's file. Both
// flags together are an error.
func (w whichFile) file(a *app, key string) (name string, inProject bool, err error) {
	if w.project && w.user {
		return "", false, sheaf.Invalidf("--project and --user name different files: give one of them")
	}
	if !w.project && (w.user || key != "store") {
		return userConfigFile(), false, nil
	}
	dir, err := a.commandFolder()
	return projectFile(dir), true, err
}

func (a *app) configUnsetCommand() *cobra.Command {
	var w whichFile
	cmd := &cobra.Command{
		Use:   "unset KEY",
		Short: "Remove a setting from your file, or with --project from the folder's",
		Long: `Removes a setting from your own file, or with --project from the file in this folder,
and says which value holds now. The setting store is removed from the folder's file
unless --user says otherwise.`,
		Example: `  sheaf config unset limit
  sheaf config unset --project profile`,
		ValidArgsFunction: completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := config.Lookup(args[0])
			if err != nil {
				return err
			}
			file, err := a.writeSetting(cmd, w, key.Name, func(file string, _ bool) error {
				return config.Unset(file, key.Name)
			})
			if err != nil && !errors.Is(err, sheaf.ErrNotFound) {
				return err
			}
			_, c, fault := a.folderSettings(cmd)
			if fault != nil {
				return fault
			}
			if err != nil {
				return a.elsewhereSet(err, c, key)
			}
			now := settingOf(c, key)
			return a.print(unsetJSON{Schema: "sheaf.config-unset/1", Key: key.Name, File: file,
				Value: now.Value, Origin: now.Origin}, func() {
				fmt.Fprintf(a.stdout, "%s is removed from %s; it is %s now (%s)\n", key.Name, file,
					cmp.Or(wording.Clean(key.Format(&c.Values)), "empty"), now.Origin)
			})
		},
	}
	w.addFlags(cmd)
	return a.withJSON(cmd)
}

// elsewhereSet adds advice to err, the error for a file that does not set key. The advice names the place that sets
// key. If only the default or a flag sets key, err stays unchanged.
func (a *app) elsewhereSet(err error, c *config.Config, key *config.Key) error {
	in := ""
	if a.in != "" {
		in = " --in " + wording.ShellQuoted(a.in)
	}
	switch origin := c.Origin(key.Name); origin.Source {
	case config.SourceProject:
		return withHint(err, "it is set in %s: sheaf config unset --project %s --in %s", origin.File, key.Name,
			wording.ShellQuoted(filepath.Dir(origin.File)))
	case config.SourceUser:
		return withHint(err, "it is set in %s: sheaf config unset --user %s%s", origin.File, key.Name, in)
	case config.SourceEnvironment:
		return withHint(err, "it is set in the environment: %s", origin)
	}
	return err
}

// writeSetting changes a key with the function write, in the file that w chooses. It returns the name of the file, and
// approves the changed file of a project: see writeApproved. If the folder now uses another store, it prints a note
// about documents that stay in the old store.
func (a *app) writeSetting(cmd *cobra.Command, w whichFile, key string,
	write func(file string, inProject bool) error) (file string, err error) {
	file, inProject, err := w.file(a, key)
	if err != nil {
		return "", err
	}
	var before *config.Config
	folder, unread := a.commandFolder()
	if unread == nil {
		before, unread = loadSettings(cmd, folder)
	}
	if inProject {
		err = a.writeApproved(file, func() error { return write(file, true) })
	} else {
		err = write(file, false)
	}
	if err != nil || unread != nil {
		return file, err
	}
	if now, err := loadSettings(cmd, folder); err == nil {
		a.noteLeftBehind(folder, before, now)
	}
	return file, nil
}

// writeApproved changes a project's file with the function write. It then approves the new content, but only if the old
// content was approved or needed no approval.
func (a *app) writeApproved(file string, write func() error) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return collection.FileFault("configuration file", err)
	}
	if err := write(); err != nil {
		return err
	}
	after, found, err := sensitive(file)
	if err != nil || len(found) == 0 {
		return err
	}
	if found, err = config.Sensitive(file, before); err != nil || len(found) > 0 && !trust().Approved(file, before) {
		a.notice("%s holds settings that are not approved: see them and approve them with sheaf config trust", file)
		return err
	}
	return trust().Approve(file, after)
}

// sensitive returns the content of a configuration file, and lists the settings in it that need approval.
func sensitive(file string) (content []byte, found []string, err error) {
	if content, err = os.ReadFile(file); err != nil {
		return nil, nil, collection.FileFault("configuration file", err)
	}
	found, err = config.Sensitive(file, content)
	return content, found, err
}

// checkNamed checks a value for the key profile or store, and accepts every value for other keys. It returns an error
// for a missing profile or an invalid address, because every later command would fail. If everywhere is true, the
// setting is for all folders. checkNamed then also refuses an address with a place: see errOnePlace.
func checkNamed(key, value string, everywhere bool) error {
	var err error
	var t *storeurl.Target
	switch {
	case value == "": // means the default
	case key == "profile":
		_, err = loadProfile(value)
	case key == "store" && value != collection.EngineStore:
		if t, err = storeurl.Parse(value, "name", storeurl.Secrets{}); err == nil && everywhere && t.Named {
			err = errOnePlace(t)
		}
	}
	return err
}

// errOnePlace returns the error for settings of all folders that name a place, because all folders would share it.
func errOnePlace(t *storeurl.Target) error {
	return withHint(sheaf.Invalidf("store %s names the %s %s, and your own settings apply to every folder: all "+
		"folders would fill that one %[2]s", t, t.PlaceKind(), t.Place),
		"set it for one folder, from there: sheaf config set store ADDRESS; for all folders, leave %s out: each gets its own",
		t.Place)
}

// projectFile returns the path of the project's file in dir. The file need not exist.
func projectFile(dir string) string {
	for _, name := range config.ProjectFileNames {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return filepath.Join(dir, config.ProjectFileNames[0])
}

func (a *app) configPathCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "path",
		Short: "Print which files settings are read from",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, c, err := a.folderSettings(cmd)
			if err != nil {
				return err
			}
			missing := ""
			if c.UserFile == "" {
				missing = " (does not exist)"
			}
			return a.print(pathsJSON{Schema: "sheaf.config-path/1", User: userConfigFile(),
				UserExists: c.UserFile != "", Project: c.ProjectFile}, func() {
				a.printTable([][]string{{"user", userConfigFile() + missing}, {"project", cmp.Or(c.ProjectFile, "none")}})
			})
		},
	})
}

func (a *app) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of configuration files, for editors",
		RunE:  func(*cobra.Command, []string) error { return a.printJSON(config.Schema()) },
	}
}

func (a *app) configTrustCommand() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Approve what a configuration file says about endpoints, secrets and paths outside its folder",
		Long: `A configuration file that lies in a searched folder may have come from somebody
else. Until you approve it, its endpoints, secrets and paths outside the folder
are ignored, with a note. The approval is for this content: after a change the
file needs it again. Without FILE, the file in force in this folder is meant.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.fileToTrust(cmd, args)
			if err != nil {
				return err
			}
			content, found, err := sensitive(path)
			if err != nil {
				return err
			}
			change := trust().Approve
			if remove {
				change = trust().Revoke
			}
			if err := change(path, content); errors.Is(err, os.ErrNotExist) && remove {
				return fmt.Errorf("%w: this content of %s is not approved", sheaf.ErrNotFound, path)
			} else if err != nil {
				return err
			}
			return a.print(trustJSON{Schema: "sheaf.config-trust/1", File: path, Approved: !remove,
				Settings: orEmpty(found)}, func() {
				verb := "approved"
				if remove {
					verb = "not approved any more"
				}
				if len(found) == 0 {
					found = []string{"nothing in it needs approval"}
				}
				fmt.Fprintf(a.stdout, "%s: %s\n", verb, path)
				for _, line := range found {
					fmt.Fprintln(a.stdout, "  "+wording.Clean(line))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take the approval back")
	return a.withJSON(cmd)
}

// fileToTrust returns the absolute path of the file to approve: the argument, or else the project's file in force.
func (a *app) fileToTrust(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 1 {
		return filepath.Abs(args[0])
	}
	folder, c, err := a.folderSettings(cmd)
	if err != nil {
		return "", err
	}
	if c.ProjectFile == "" {
		return "", fmt.Errorf("%w: no settings file applies to %s", sheaf.ErrNotFound, folder)
	}
	return filepath.Abs(c.ProjectFile)
}
