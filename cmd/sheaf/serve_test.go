package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sheaf/collection/intake"
	"sheaf/collection/location"
	"sheaf/internal/check"
	"sheaf/internal/must"
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
	must.Do(t, err)
	messages := must.Get(os.Create(filepath.Join(t.TempDir(), "stderr")))
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
		check.NoError(t, <-done, "end of serve")
		_ = out.Close()
		_ = messages.Close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must.That(t, err == nil, "no address: %v", err)
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), messages.Name()
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
		must.That(t, !time.Now().After(deadline), "%s: %v, %d %s", address, err, status, body)
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
	check.Equal(t, change(t, "PUT", address+"/v1/documents/api:git.md",
		`{"text": "# Undo a commit\n"}`), http.StatusCreated, "put")
	waitFor(t, address+"/v1/search?query=apples", func(_ int, body string) bool {
		return strings.Contains(body, `"api-2:a.md`)
	})
}

var curlLine = regexp.MustCompile(`(?m)^\$ (curl .*)$`)

// TestReadmeSession checks that the session in README.md runs as written.
func TestReadmeSession(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skipf("no curl: %v", err)
	}
	readme := must.Get(os.ReadFile(filepath.Join("..", "..", "README.md")))
	lines := curlLine.FindAllStringSubmatch(string(readme), -1)
	must.That(t, len(lines) != 0, "README.md has no session with curl")
	folder := filepath.Join(t.TempDir(), "notes")
	must.Do(t, os.CopyFS(folder, os.DirFS(filepath.Join("..", "..", "examples", "notes"))))
	address := serving(t, folder, filepath.Join(t.TempDir(), "index"))
	ready(t, address)
	for _, line := range lines {
		command := strings.ReplaceAll(line[1], "http://"+defaultAddr, address)
		out, err := exec.Command("sh", "-c", strings.Replace(command, "curl ", "curl --fail-with-body --silent --show-error ",
			1)).CombinedOutput()
		check.That(t, err == nil, "%s: %v\n%s", command, err, out)
		check.That(t, strings.Contains(string(out), "git/undo.md") || strings.Contains(string(out), "api:git.md"), "%s: %s",
			command, out)
	}
}

// TestSlowConnections checks that slow or silent connections delay no request, and end.
func TestSlowConnections(t *testing.T) {
	must.Whole(t, "waits for a timeout")
	n := newNotes(t)
	address := n.serve(t)
	ready(t, address)
	var slow []net.Conn
	for i := range 500 {
		conn := must.Get(net.Dial("tcp", strings.TrimPrefix(address, "http://")))
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
	took := time.Since(began)
	check.That(t, took <= headTimeout, "beside slow connections an answer took %v", took)
	must.Do(t, slow[0].SetReadDeadline(time.Now().Add(time.Minute)))
	_, err := io.Copy(io.Discard, slow[0])
	check.That(t, err == nil, "a slow connection did not end: %v", err)
}

// change sends a request that changes a document. The request must succeed. change returns the status.
func change(t *testing.T, method, address, body string) (status int) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	res := must.Get(http.DefaultClient.Do(req))
	res.Body.Close()
	must.That(t, res.StatusCode < 300, "%s %s: %s", method, address, res.Status)
	return res.StatusCode
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
		kept := must.Get(os.ReadFile(file))
		change(t, "DELETE", address+"/v1/documents/api:g.md", "")
		must.Do(t, os.WriteFile(file, kept, 0o600))
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
		must.Do(t, filepath.WalkDir(n.index, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			fmt.Fprintln(&out, path, info.Size(), info.ModTime().UnixNano())
			return err
		}))
		return out.String()
	}
	before := files()
	t.Run("serve", func(t *testing.T) {
		address := n.serve(t, "--read-only")
		n.write(t, "b.md", "# B\n\nbears\n")
		found(t, address, "apples", "a.md")
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPut, address+"/v1/documents/api:x.md",
			strings.NewReader(`{"text":"# X"}`)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "once")
		resp := must.Get(http.DefaultClient.Do(req))
		defer resp.Body.Close()
		check.That(t, resp.StatusCode >= 400, "a document is taken: %s", resp.Status)
	})
	after := files()
	check.That(t, after == before, "before\n%s\nafter\n%s", before, after)
}

// TestMoveNamesGivenDocuments moves a folder to another store. Sheaf must name the given documents that stay behind.
func TestMoveNamesGivenDocuments(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // approvals are there
	n := newNotes(t)
	t.Run("put document", func(t *testing.T) {
		address := n.serve(t)
		ready(t, address)
		change(t, "PUT", address+"/v1/documents/api:g.md", `{"text":"# G\n\ngiraffes\n"}`)
	})
	const want = "1 document that came over HTTP stays in embedded: api:g.md; to copy what stays: " +
		"sheaf copy --given --from embedded --to 'opensearch://127.0.0.1:1/x' --in "
	const address = "opensearch://127.0.0.1:1/x"
	check.Contains(t, n.run(t, "config", "set", "store", address), want)

	// The other way round: the server has had the document, and the engine has not.
	server := location.Location{Root: n.folder, Dir: n.index, Exists: true}.Store(address).Dir
	must.Do(t, os.MkdirAll(server, 0o700))
	must.Do(t, os.Rename(filepath.Join(n.index, "intake.db"), filepath.Join(server, "intake.db")))
	must.Do(t, location.Record{Format: location.RecordFormat, Root: n.folder, Store: address}.Write(server))
	check.Contains(t, n.run(t, "config", "unset", "store"),
		"sheaf copy --given --from 'opensearch://127.0.0.1:1/x' --to embedded --in ")
	for _, wrong := range []string{"opensearch://127.0.0.1:1/y", "embedded"} {
		said, err := n.try("copy", "--given", "--from", wrong, "--to", "embedded")
		check.That(t, err != nil && (wrong == "embedded" || strings.Contains(said, "it used embedded, "+address)),
			"copy from %s: %v, %q", wrong, err, said)
	}
	for _, want := range []string{"\n1 document that came over HTTP was copied\n",
		"\n0 documents that came over HTTP were copied\n"} {
		check.Contains(t, n.run(t, "copy", "--given", "--from", address, "--to", "embedded"), want)
	}
	check.Contains(t, n.run(t, "copy", "--given", "--from", address, "--to", "embedded", "--json"), `"given":0`)
}

// TestAliasKeepsGivenDocuments moves an alias to another index. The documents that the alias has must come along.
func TestAliasKeepsGivenDocuments(t *testing.T) {
	name := fmt.Sprintf("alias-%d-%d", os.Getpid(), time.Now().Unix())
	server := strings.Replace(testServer(t, "opensearch"), "http", "opensearch", 1) + "/" + name
	n := newNotes(t)
	n.run(t, "copy", "--to", server+"-1", "--alias", name)
	t.Setenv("SHEAF_STORE", server)
	t.Run("put document", func(t *testing.T) {
		address := n.serve(t)
		ready(t, address)
		change(t, "PUT", address+"/v1/documents/api:g.md", `{"text":"# G\n\ngiraffes\n"}`)
	})
	check.Contains(t, n.run(t, "copy", "--to", server+"-2", "--alias", name), "1 document that came over HTTP was copied")
	check.Contains(t, n.run(t, "search", "giraffes"), "api:g.md")
}

// TestPageWithoutIndex checks that the page opens while the index is not open, and that its documents do not.
func TestPageWithoutIndex(t *testing.T) {
	for path, want := range map[string]int{"/?q=apples": 200, "/ui/app.js": 200, "/livez": 200, "/ui/document?id=a": 503,
		"/v1/search": 503} {
		w := httptest.NewRecorder()
		away().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		check.That(t, w.Code == want, "%s: %d, want %d", path, w.Code, want)
	}
}
