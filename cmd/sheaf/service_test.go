package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kardianos/service"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// withSystemd replaces systemctl with a script that writes its arguments to the file log. It
// returns an empty home folder.
func withSystemd(t *testing.T, systemctl string) (home, log string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("systemd is a service manager of Linux")
	}
	home = t.TempDir()
	bin := filepath.Join(home, "bin")
	log = filepath.Join(home, "log")
	must.Do(t, os.Mkdir(bin, 0o755))
	script := "#!/bin/sh\necho \"$@\" >> " + log + "\n" + systemctl
	must.Do(t, os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o755))
	t.Setenv("HOME", home)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	was := hasManager
	hasManager = func(s service.System) bool { return s.String() == "linux-systemd" }
	t.Cleanup(func() { hasManager = was })
	return home, log
}

func TestServiceLifecycle(t *testing.T) {
	home, log := withSystemd(t, "case $1 in is-active) echo inactive; exit 3;; esac\n")
	notes := filepath.Join(home, "my notes")
	must.Do(t, os.Mkdir(notes, 0o755))
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "100% data"))
	unit := filepath.Join(home, ".config", "systemd", "user", "sheaf.service")

	refused(t, 3, "is not installed", "service", "start")
	refused(t, 3, "no such", "service", "install", filepath.Join(home, "nowhere"))
	refused(t, 2, "--user needs --system", "service", "install", notes, "--user", "me")
	done(t, "service", "install", notes, "--addr", "127.0.0.1:8080", "--origin", "https://a.org,https://b.org")
	content := must.Get(os.ReadFile(unit))
	check.Contains(t, content,
		`"serve" "--in" "`+notes+`" "--addr=127.0.0.1:8080" "--origin=https://a.org" "--origin=https://b.org"`,
		`Environment="XDG_DATA_HOME=`+home+`/100%% data"`, "WantedBy=default.target")
	refused(t, 2, "is installed already", "service", "install", notes)
	done(t, "service", "start")
	refused(t, 1, "", "service", "status")
	done(t, "service", "stop")
	done(t, "service", "uninstall")
	_, err := os.Stat(unit)
	check.That(t, err != nil, "the unit is still there")
	told := must.Get(os.ReadFile(log))
	check.Contains(t, told, "enable --user sheaf.service\n", "daemon-reload --user\n", "start --user sheaf.service\n",
		"stop --user sheaf.service\n", "disable --user sheaf.service\n")
}

// TestServiceFaults checks that an error of the service manager gives advice.
func TestServiceFaults(t *testing.T) {
	home, _ := withSystemd(t, "case $1 in is-active) echo inactive; exit 3;; enable) echo 'Permission denied' >&2; "+
		"exit 1;; esac\n")
	refused(t, 4, "needs a session", "service", "install", home)
	refused(t, 4, "needs a session", "service", "install", home) // the failed first try leaves no file
	refused(t, 3, "name a folder that exists", "service", "install", filepath.Join(home, "nothing"))
	hasManager = func(service.System) bool { return false }
	refused(t, 2, "found no service manager", "service", "install", home)
}

// TestSystemdUnit checks that systemd accepts the unit.
func TestSystemdUnit(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	program := must.Get(os.Executable())
	for _, o := range []serviceOptions{{name: "a"}, {name: "b", system: true, user: "root"}} {
		unit := filepath.Join(t.TempDir(), "sheaf-"+o.name+".service")
		text := systemdUnit(program, []string{"serve", "--in", `/srv/50% of "my" notes {{x}} $HOME\`}, &o,
			map[string]string{"XDG_DATA_HOME": "/srv/the data"})
		must.Do(t, os.WriteFile(unit, []byte(text), 0o644))
		out, err := exec.Command(verify, "verify", "--man=no", unit).CombinedOutput()
		check.That(t, err == nil && !strings.Contains(string(out), unit), "%v\n%s\n%s", err, out, text)
	}
}

// asked runs a command in this process.
func asked(args ...string) (out string, code int) {
	var told strings.Builder
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	a.args, a.stdout, a.stderr = args, bufio.NewWriter(&told), &told
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if flushed := a.flush(); err == nil {
		err = flushed
	}
	if errors.Is(err, errNothing) {
		return told.String(), 1
	}
	if err != nil {
		a.reportError(err)
	}
	return told.String(), sheaf.ExitCode(err)
}

func refused(t *testing.T, code int, words string, args ...string) {
	t.Helper()
	if out, got := asked(args...); got != code || !strings.Contains(out, words) {
		t.Errorf("%s: exit %d, want %d with %q: %s", strings.Join(args, " "), got, code, words, out)
	}
}

func done(t *testing.T, args ...string) {
	t.Helper()
	refused(t, 0, "", args...)
}
