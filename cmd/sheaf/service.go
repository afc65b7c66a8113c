package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/wording"
)

// serviceOptions are the flags that all commands of sheaf service share.
type serviceOptions struct {
	name   string
	system bool
	user   string // the system service runs as this user
}

func (a *app) serviceCommand() *cobra.Command {
	var o serviceOptions
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Run sheaf serve as a service of this machine",
		Long: `Installs sheaf serve as a service: with systemd on Linux, launchd on macOS and the
service manager of Windows. Without --system it is your own service and needs no
rights. On Windows it is always a service of the system.`,
		Example: `  sheaf service install ~/notes --addr 127.0.0.1:7333
  sheaf service start
  sheaf service status
  sudo sheaf service install /srv/docs --system --user sheaf`,
	}
	f := cmd.PersistentFlags()
	f.StringVar(&o.name, "name", "sheaf", "name of the service")
	f.BoolVar(&o.system, "system", runtime.GOOS == "windows", "a service of the system instead of your own")
	cmd.AddCommand(a.serviceInstallCommand(&o), a.serviceUninstallCommand(&o), a.serviceStatusCommand(&o),
		o.control("start", "Start the service", service.Service.Start),
		o.control("stop", "Stop the service", service.Service.Stop),
		a.serviceRunCommand(&o))
	return cmd
}

func (a *app) serviceInstallCommand(o *serviceOptions) *cobra.Command {
	serve := a.serveCommand().Flags()
	cmd := &cobra.Command{
		Use:   "install [FOLDER…] [flags of sheaf serve]",
		Short: "Install the service for folders; the current one without a name",
		Long: `Installs a service that runs sheaf serve for the first folder. Further folders are
added to its index, as sheaf add does. The service starts with the machine, or when
you log in; sheaf service start starts it now.`,
		RunE: func(cmd *cobra.Command, folders []string) error { return a.installService(cmd, o, folders, serve) },
	}
	cmd.Flags().AddFlagSet(serve)
	cmd.Flags().StringVar(&o.user, "user", "", "with --system: the user that the service runs as")
	return cmd
}

func (a *app) installService(cmd *cobra.Command, o *serviceOptions, folders []string, serve *pflag.FlagSet) error {
	if o.user != "" && !o.system {
		return sheaf.Invalidf("--user needs --system: without --system the service runs as you")
	}
	if len(folders) == 0 {
		folders = []string{a.in}
	}
	for i, folder := range folders {
		real, err := collection.RealFolder(folder)
		if err != nil {
			return withHint(err, "name a folder that exists; the service cannot make it")
		}
		folders[i] = real
	}
	addr := serve.Lookup("addr").Value.String()
	if _, err := isLoopback("--addr", addr); err != nil {
		return err
	}
	args, err := a.startArguments("serve", folders[0])
	if err != nil {
		return err
	}
	serve.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			for _, value := range flagValues(f) {
				args = append(args, "--"+f.Name+"="+value)
			}
		}
	})
	s, err := o.service(args)
	if err != nil {
		return err
	}
	switch there, err := o.installed(s); {
	case err != nil:
		return o.explain("install", err)
	case there:
		return withHint(sheaf.Invalidf("the service %q is installed already", o.name),
			"sheaf service uninstall%s removes it, and --name gives a second service its own name", o.flags())
	}
	if len(folders) > 1 {
		if err := a.addFolders(cmd.Context(), folders); err != nil {
			return err
		}
	}
	if err := s.Install(); err != nil {
		if runtime.GOOS == "linux" {
			_ = os.Remove(o.unitFile()) // otherwise the next try finds the service installed
		}
		return o.explain("install", err)
	}
	fmt.Fprintf(a.stdout, "installed the service %q for %s; sheaf service start%s starts it\n", o.name,
		wording.Clean(folders[0]), o.flags())
	if runtime.GOOS == "linux" && !o.system {
		fmt.Fprintln(a.stderr, "note: the service runs while you are logged in; to run it always: loginctl enable-linger")
	}
	return nil
}

// addFolders adds the second and later folders to the index of the first folder.
func (a *app) addFolders(ctx context.Context, folders []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args, err := a.startArguments("add", folders[0])
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, program, append(args, folders[1:]...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("add folders to the index of %s: %w: %s", folders[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// startArguments returns the arguments with which another program starts a command of sheaf for a folder. The path of
// the index is absolute, because the other program may run elsewhere.
func (a *app) startArguments(command, folder string) ([]string, error) {
	args := []string{command, "--in", folder}
	if a.index == "" {
		return args, nil
	}
	index, err := filepath.Abs(a.index)
	return append(args, "--index", index), err
}

// command makes a subcommand that calls run with the installed service. It fails if the service is not installed.
func (o *serviceOptions) command(use, short string, run func(service.Service) error) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		RunE: func(*cobra.Command, []string) error {
			s, err := o.service(nil)
			if err != nil {
				return err
			}
			switch there, err := o.installed(s); {
			case err != nil:
				return o.explain("ask", err)
			case !there:
				return withHint(fmt.Errorf("%w: the service %q is not installed", sheaf.ErrNotFound, o.name),
					"sheaf service install FOLDER%s installs it", o.flags())
			}
			return run(s)
		},
	}
}

func (a *app) serviceUninstallCommand(o *serviceOptions) *cobra.Command {
	return o.command("uninstall", "Stop the service and remove it; the index stays", func(s service.Service) error {
		_ = s.Stop() // the service may already be stopped
		if err := o.explain("uninstall", s.Uninstall()); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "removed the service %q; the index stays\n", o.name)
		return nil
	})
}

func (o *serviceOptions) control(verb, short string, control func(service.Service) error) *cobra.Command {
	return o.command(verb, short, func(s service.Service) error { return o.explain(verb, control(s)) })
}

func (a *app) serviceStatusCommand(o *serviceOptions) *cobra.Command {
	const short = "Say whether the service runs; exit status 1 when it does not"
	return o.command("status", short, func(s service.Service) error {
		state, err := s.Status()
		switch {
		case err != nil && !errors.Is(err, service.ErrNotInstalled):
			return o.explain("ask", err)
		case state == service.StatusRunning:
			fmt.Fprintln(a.stdout, "running")
			return nil
		}
		fmt.Fprintln(a.stdout, "stopped")
		return errNothing
	})
}

// serviceRunCommand makes the command that Windows starts for the service. Other managers start sheaf serve directly.
func (a *app) serviceRunCommand(o *serviceOptions) *cobra.Command {
	return &cobra.Command{
		Use:    "run -- serve [flags]",
		Short:  "Answer the service manager of Windows",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := service.New(&servedProgram{app: a, outer: cmd.Context(), args: args}, o.config(args))
			if err != nil {
				return err
			}
			return s.Run()
		},
	}
}

// servedProgram runs sheaf serve under a service manager. The manager calls Start, which must return at once.
type servedProgram struct {
	app   *app
	outer context.Context
	args  []string
	stop  context.CancelFunc
	ended chan error
}

func (s *servedProgram) Start(service.Service) error {
	ctx, stop := context.WithCancel(s.outer)
	s.stop, s.ended = stop, make(chan error, 1)
	go func() {
		root := s.app.command()
		root.SetArgs(s.args)
		err := root.ExecuteContext(ctx)
		if ctx.Err() == nil { // the manager restarts the service
			s.app.reportError(err)
			os.Exit(max(1, sheaf.ExitCode(err)))
		}
		s.ended <- err
	}()
	return nil
}

func (s *servedProgram) Stop(service.Service) error {
	s.stop()
	<-s.ended
	return nil
}

// managers are the service managers that Sheaf supports, as the service library names them.
var managers = map[string]bool{"linux-systemd": true, "darwin-launchd": true, "windows-service": true}

// hasManager reports whether this machine runs a service manager. Tests replace it.
var hasManager = func(s service.System) bool { return s.Detect() }

func (o *serviceOptions) service(args []string) (service.Service, error) {
	for _, manager := range service.AvailableSystems() {
		if managers[manager.String()] && hasManager(manager) {
			return manager.New(&servedProgram{}, o.config(args))
		}
	}
	return nil, withHint(sheaf.WithCategory(sheaf.ErrUnsupported,
		errors.New("found no service manager: systemd, launchd or Windows services must run")),
		"start it yourself: sheaf serve --in FOLDER, or let your container or init system start it")
}

// installed reports whether the service is installed. Some versions of systemd report a stopped service like a
// missing one, so installed also looks for the unit file.
func (o *serviceOptions) installed(s service.Service) (bool, error) {
	_, err := s.Status()
	switch {
	case errors.Is(err, fs.ErrPermission):
		return false, err
	case !errors.Is(err, service.ErrNotInstalled):
		return true, nil
	case runtime.GOOS != "linux":
		return false, nil
	}
	_, err = os.Stat(o.unitFile())
	return err == nil, nil
}

func (o *serviceOptions) unitFile() string {
	folder := "/etc/systemd/system"
	if home, err := os.UserHomeDir(); err == nil && !o.system {
		folder = filepath.Join(home, ".config", "systemd", "user")
	}
	return filepath.Join(folder, o.name+".service")
}

// flags returns the flags that other subcommands of sheaf service need to find this service.
func (o *serviceOptions) flags() string {
	text := ""
	if o.name != "sheaf" {
		text += " --name " + o.name
	}
	if o.system && runtime.GOOS != "windows" {
		text += " --system"
	}
	return text
}

func (o *serviceOptions) config(args []string) *service.Config {
	env := map[string]string{}
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		if value := os.Getenv(name); value != "" && o.user == "" {
			env[name] = value
		}
	}
	program, err := os.Executable()
	if err != nil {
		program = "sheaf"
	}
	if runtime.GOOS == "windows" {
		args = append([]string{"service", "run", "--name", o.name, "--"}, args...)
	}
	return &service.Config{
		Name: o.name, DisplayName: "Sheaf (" + o.name + ")", Description: "Sheaf, a search engine for documents",
		Executable: program, Arguments: args, UserName: o.user, EnvVars: env,
		Option: service.KeyValue{"UserService": !o.system, "RunAtLoad": true,
			"SystemdScript": systemdUnit(program, args, o, env)},
	}
}

// explain adds advice to an error of a service manager; nil stays nil. verb says what failed, such as "install".
func (o *serviceOptions) explain(verb string, err error) error {
	if err == nil {
		return nil
	}
	err = sheaf.WithCategory(sheaf.ErrUnavailable, fmt.Errorf("%s the service %q: %w", verb, o.name, err))
	switch {
	case !o.system:
		return withHint(err, "your own service needs a session: log in as yourself, not by su or sudo, or use --system")
	case runtime.GOOS == "windows":
		return withHint(err, "run this as an administrator")
	}
	return withHint(err, "run this as an administrator, or leave out --system for your own service")
}

func systemdUnit(program string, args []string, o *serviceOptions, env map[string]string) string {
	after, settings, target := "", "", "default.target"
	if o.system {
		after, target = "After=network-online.target\nWants=network-online.target\n", "multi-user.target"
	}
	if o.user != "" {
		settings = "User=" + systemdSpecifiers.Replace(o.user) + "\n"
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		settings += "Environment=" + systemdQuoted(name+"="+env[name]) + "\n"
	}
	command := systemdQuoted(program)
	for _, arg := range args {
		command += " " + strings.ReplaceAll(systemdQuoted(arg), "$", "$$")
	}
	return fmt.Sprintf(`[Unit]
Description=Sheaf, a search engine for documents
%s
[Service]
ExecStart=%s
%sRestart=on-failure
RestartSec=5
NoNewPrivileges=true

[Install]
WantedBy=%s
`, after, command, settings, target)
}

// systemdSpecifiers escapes "%", which begins a specifier, and "{{", which begins a template of the service library.
var systemdSpecifiers = strings.NewReplacer("%", "%%", "{{", `\x7b\x7b`)

func systemdQuoted(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(word)
	return `"` + systemdSpecifiers.Replace(word) + `"`
}
