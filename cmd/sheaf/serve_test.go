package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/intake"
)

// serving runs sheaf serve on a free port until the test ends, and returns the address.
func serving(t *testing.T, folder, index string, args ...string) string {
	t.Helper()
	address, _ := servingAloud(t, folder, index, args...)
	return address
}

// servingAloud is like serving, and also returns the file with the standard error of the server.
func servingAloud(t *testing.T, folder, index string, args ...string) (address, aloud string) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	messages, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		a := newApp(os.Stdin, in, messages)
		cmd := a.command()
		cmd.SetArgs(append([]string{"serve", "--addr", "127.0.0.1:0", "--in", folder, "--index", index}, args...))
		err := cmd.ExecuteContext(ctx)
		_ = in.Close()
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve ended with %v", err)
		}
		_ = out.Close()
		_ = messages.Close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v", err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), messages.Name()
}

// TestServeSaysThatNothingIsIndexed checks that a server with --no-watch on an unindexed folder
// says that no file is indexed.
func TestServeSaysThatNothingIsIndexed(t *testing.T) {
	n := newNotes(t)
	told := func(aloud string) bool {
		text, err := os.ReadFile(aloud)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "nothing is indexed")
	}
	address, aloud := servingAloud(t, n.folder, n.index, "--no-watch")
	if !told(aloud) {
		t.Error("it does not say that nothing is indexed")
	}
	n.run(t, "index")
	found(t, address, "apples", "a.md")
	if _, aloud := servingAloud(t, n.folder, n.index, "--no-watch"); told(aloud) {
		t.Error("it says that nothing is indexed of what is")
	}
}

// TestServerNamesIndexedFolder checks that a server started in a subfolder says that its index covers
// the folder above.
func TestServerNamesIndexedFolder(t *testing.T) {
	folder, index := t.TempDir(), t.TempDir()
	part := filepath.Join(folder, "part")
	writeNote(t, folder, "a.md", "apples\n")
	writeNote(t, part, "b.md", "apples\n")
	notes{folder: folder, index: index}.run(t, "index")
	for in, want := range map[string]bool{folder: false, part: true} {
		_, aloud := servingAloud(t, in, index)
		text, err := os.ReadFile(aloud)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), "not of "+part+" alone"); got != want {
			t.Errorf("in %s: told %v, want %v: %s", in, got, want, text)
		}
	}
}

// waitFor requests address until check succeeds, for at most a minute. A server that reopens its
// index is briefly unreachable.
func waitFor(t *testing.T, address string, check func(status int, body string) bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, body := 0, []byte(nil)
		res, err := http.Get(address)
		if err == nil {
			status = res.StatusCode
			body, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil && check(status, string(body)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v, %d %s", address, err, status, body)
		}
	}
}

// TestServeAFolderCalledAPI checks that a server of a folder called api accepts documents without a
// folder, which use the tree api.
func TestServeAFolderCalledAPI(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "api")
	writeNote(t, folder, "a.md", "# A\n\napples\n")
	address := serving(t, folder, t.TempDir())
	waitFor(t, address+"/v1/search?query=apples", func(_ int, body string) bool {
		return strings.Contains(body, `"api-2:a.md`)
	})
	if status := change(t, "PUT", address+"/v1/documents/api:git.md",
		`{"text": "# Undo a commit\n"}`); status != http.StatusCreated {
		t.Errorf("%d", status)
	}
	waitFor(t, address+"/v1/search?query=apples", func(_ int, body string) bool {
		return strings.Contains(body, `"api-2:a.md`)
	})
}

// TestServerRemovesLeftovers checks that serve removes old leftovers of killed processes beside the index.
func TestServerRemovesLeftovers(t *testing.T) {
	folder, index := t.TempDir(), t.TempDir()
	old, young := filepath.Join(index, ".new-old"), filepath.Join(index, ".new-young")
	for _, file := range []string{old, young} {
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if hour := time.Now().Add(-time.Hour); os.Chtimes(old, hour, hour) != nil {
		t.Fatal("the file cannot be made older")
	}
	serving(t, folder, index)
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old file is left: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a file that may be being written: %v", err)
	}
}

// TestPortInUse checks that the error for a port in use gives the reason and advice.
func TestPortInUse(t *testing.T) {
	n := newNotes(t)
	taken := strings.TrimPrefix(n.serve(t), "http://")
	messages, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Close()
	for _, command := range [][]string{{"serve", "--addr"}, {"mcp", "--http"}} {
		run := func(addr string) error {
			cmd := newApp(os.Stdin, messages, messages).command()
			cmd.SetArgs(append(command, addr, "--in", n.folder, "--index", n.index))
			return cmd.ExecuteContext(t.Context())
		}
		var hinted *collection.HintError
		if err := run(taken); !errors.Is(err, sheaf.ErrUnavailable) || !errors.As(err, &hinted) ||
			!strings.Contains(hinted.Hint, "name another port with "+command[1]) {
			t.Errorf("%s at a port that is taken: %v", command[0], err)
		}
		if err := run("127.0.0.1:99999"); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), "65535") {
			t.Errorf("%s at no port: %v", command[0], err)
		}
	}
	if told, err := os.ReadFile(messages.Name()); err != nil || len(told) > 0 {
		t.Errorf("%v, and of servers that cannot be: %s", err, told)
	}
}

// TestInvalidFlagIsReportedBeforeIndexing checks that an invalid flag is reported before an index is made.
func TestInvalidFlagIsReportedBeforeIndexing(t *testing.T) {
	n := newNotes(t)
	over, end := context.WithCancel(t.Context())
	end() // a check that comes later never runs
	for _, c := range []struct{ args, want string }{
		{"serve --concurrency=-1", "--concurrency is -1: must be 1 or more, or 0 for the default"},
		{"serve --addr nowhere", `--addr is "nowhere": must be HOST:PORT`},
		{"mcp --http nowhere", `--http is "nowhere": must be HOST:PORT`},
		{"mcp --http 0.0.0.0:0", `--http is "0.0.0.0:0": must be an address of the loopback`},
		{"serve --addr 127.0.0.1:", `--addr is "127.0.0.1:": must be HOST:PORT`},
		{"mcp --http 127.0.0.1:", `--http is "127.0.0.1:": must be HOST:PORT`},
		{"mcp --http 127.0.0.1:8765/mcp", `--http is "127.0.0.1:8765/mcp": must be HOST:PORT`},
	} {
		cmd := newApp(os.Stdin, os.Stdout, os.Stderr).command()
		cmd.SetArgs(append(strings.Fields(c.args), "--in", n.folder, "--index", n.index))
		if err := cmd.ExecuteContext(over); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("sheaf %s: %v", c.args, err)
		}
		if _, err := os.Stat(n.index); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("sheaf %s has made an index: %v", c.args, err)
			_ = os.RemoveAll(n.index)
		}
	}
}

func TestServerOnNetworkNeedsKeys(t *testing.T) {
	n := newNotes(t)
	run := func(args ...string) (string, error) {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		a := newApp(os.Stdin, in, os.Stderr)
		cmd := a.command()
		cmd.SetArgs(append(args, "--in", n.folder, "--index", n.index))
		err = errors.Join(cmd.ExecuteContext(t.Context()), a.flush(), in.Close())
		text, _ := io.ReadAll(out)
		return strings.TrimSpace(string(text)), err
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		if _, err := run("serve", "--addr", addr); !errors.Is(err, sheaf.ErrInvalid) ||
			!strings.Contains(err.Error(), "no keys") {
			t.Errorf("serve on %s without keys: %v", addr, err)
		}
	}
	secret, err := run("key", "add", "ann", "--access", "user:ann")
	if err != nil || !strings.HasPrefix(secret, "sheaf_") {
		t.Fatalf("key add: %q, %v", secret, err)
	}
	address := n.serve(t)
	ready(t, address)
	status := func(key string) int {
		req, err := http.NewRequest("GET", address+"/v1/search?query=apples", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if right, wrong := status(secret), status(secret+"x"); right != 200 || wrong != 401 {
		t.Errorf("with a key: %d, with a wrong key: %d", right, wrong)
	}
	if _, err := run("key", "revoke", "ann"); err != nil || status(secret) != 401 {
		t.Errorf("a revoked key: %v, %d", err, status(secret))
	}
	if _, err := run("key", "add", "x", "--expires", "soon"); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("key add --expires soon: %v", err)
	}
}

var curlLine = regexp.MustCompile(`(?m)^\$ (curl .*)$`)

// TestReadmeSession checks that the session in README.md runs as written.
func TestReadmeSession(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skipf("no curl: %v", err)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := curlLine.FindAllStringSubmatch(string(readme), -1)
	if len(lines) == 0 {
		t.Fatal("README.md has no session with curl")
	}
	folder := filepath.Join(t.TempDir(), "notes")
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("..", "..", "examples", "notes"))); err != nil {
		t.Fatal(err)
	}
	address := serving(t, folder, filepath.Join(t.TempDir(), "index"))
	ready(t, address)
	for _, line := range lines {
		command := strings.ReplaceAll(line[1], "http://"+defaultAddr, address)
		out, err := exec.Command("sh", "-c", strings.Replace(command, "curl ", "curl --fail-with-body --silent --show-error ",
			1)).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		if !strings.Contains(string(out), "git/undo.md") && !strings.Contains(string(out), "api:git.md") {
			t.Errorf("%s: %s", command, out)
		}
	}
}

// TestSlowConnections checks that slow or silent connections delay no request, and end.
func TestSlowConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a timeout")
	}
	n := newNotes(t)
	address := n.serve(t)
	ready(t, address)
	var slow []net.Conn
	for i := range 500 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%2 == 0 {
			fmt.Fprint(conn, "GET /v1/search?query=apples HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		}
		slow = append(slow, conn)
	}
	began := time.Now()
	waitFor(t, address+"/v1/search?query=apples", func(status int, body string) bool {
		return status == 200 && strings.Contains(body, "a.md")
	})
	if took := time.Since(began); took > headTimeout {
		t.Errorf("beside slow connections an answer took %v", took)
	}
	if err := slow[0].SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, slow[0]); err != nil {
		t.Errorf("a slow connection did not end: %v", err)
	}
}

// change sends a request that changes a document. The request must succeed. change returns the status.
func change(t *testing.T, method, address, body string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, address, res.Status)
	}
	return res.StatusCode
}

// TestGivenDocumentIsShownByID checks that commands show a given document by its ID, not by the path of a
// file, and without a date.
func TestGivenDocumentIsShownByID(t *testing.T) {
	n := newNotes(t)
	n.write(t, "a.md", "# A\n\ngiraffes of a file\n")
	t.Run("put document", func(t *testing.T) {
		address := n.serve(t)
		ready(t, address)
		change(t, "PUT", address+"/v1/documents/api:a.md", `{"text":"# A\n\ngiraffes\n"}`)
	})
	for command, want := range map[string]string{"search giraffes": "api:a.md:",
		"search --json giraffes": `"path":"api:a.md"`, "ls": "api:a.md\n", "ls -l": "given without a file",
		"ls --json": `"path":"api:a.md"`, "get api:a.md:3": "giraffes\n"} {
		out, err := n.try(strings.Fields(command)...)
		if err != nil || !strings.Contains(out, want) || strings.Contains(out, "1970") {
			t.Errorf("%s: %v %s", command, err, out)
		}
	}
}

// TestIndexCommandIndexesGivenDocument checks that sheaf index indexes a given document that a killed server left
// unindexed, as the next server would. While another server runs, it leaves that document alone.
func TestIndexCommandIndexesGivenDocument(t *testing.T) {
	n := newNotes(t)
	file := filepath.Join(n.index, intake.FileName)
	t.Run("put document", func(t *testing.T) {
		address := n.serve(t)
		ready(t, address)
		change(t, "PUT", address+"/v1/documents/api:g.md", `{"text":"# G\n\ngiraffes\n"}`)
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		change(t, "DELETE", address+"/v1/documents/api:g.md", "")
		if err := os.WriteFile(file, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		n.run(t, "index")
		waitFor(t, address+"/v1/search?query=giraffes", func(status int, body string) bool {
			return status == http.StatusOK && !strings.Contains(body, "g.md")
		})
	})
	n.run(t, "index")
	n.run(t, "search", "giraffes")
	n.run(t, "check")
}

// TestReadOnlyServerWritesNothing checks that a read-only server answers and refuses documents. Every file
// of the index stays unchanged, even if a file of the folder changes.
func TestReadOnlyServerWritesNothing(t *testing.T) {
	n := newNotes(t)
	n.run(t, "index")
	files := func() string {
		var out strings.Builder
		err := filepath.WalkDir(n.index, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			fmt.Fprintln(&out, path, info.Size(), info.ModTime().UnixNano())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	before := files()
	t.Run("serve", func(t *testing.T) {
		address := n.serve(t, "--read-only")
		n.write(t, "b.md", "# B\n\nbears\n")
		found(t, address, "apples", "a.md")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address+"/v1/documents/api:x.md",
			strings.NewReader(`{"text":"# X"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "once")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("a document is taken: %s", resp.Status)
		}
	})
	if after := files(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}
