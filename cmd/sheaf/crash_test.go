package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestCrash repeatedly kills a server with SIGKILL while clients add and delete documents. It
// checks that each acknowledged change is kept and each accepted task completes. Some tasks have
// conditions that fail if the task runs twice.
func TestCrash(t *testing.T) {
	must.Whole(t, "takes seconds")
	n := newNotes(t)
	acknowledged := map[string]string{}
	var answered []answeredRequest
	for round := range 4 {
		c := startCrashing(t, n)
		for _, a := range answered {
			got := c.send(t, a.method, a.path, a.key, a.body)
			must.That(t, got == a.answer, "round %d: %s %s repeated: %q, at first %q", round, a.method, a.path, got, a.answer)
		}
		for id, text := range acknowledged {
			c.expect(t, id, text)
		}
		for _, a := range answered {
			c.expectDone(t, a.answer)
		}
		answered = c.write(t, round, acknowledged)
	}
	check.That(t, len(acknowledged) >= 20, "%d documents were acknowledged: too few to tell", len(acknowledged))
	t.Logf("%d documents were acknowledged and are there", len(acknowledged))
}

// crashing is a server in its own process.
type crashing struct {
	cmd     *exec.Cmd
	address string
}

func startCrashing(t *testing.T, n notes) *crashing {
	t.Helper()
	cmd := exec.Command("sheaf", "serve", "--addr", "127.0.0.1:0", "--in", n.folder, "--index", n.index)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out := must.Get(cmd.StdoutPipe())
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line := make([]byte, 200)
	read := must.Get(out.Read(line))
	go func() { _, _ = io.Copy(io.Discard, out) }()
	c := &crashing{cmd, strings.TrimSpace(strings.TrimPrefix(string(line[:read]), "listening on "))}
	ready(t, c.address)
	return c
}

// answeredRequest is a request with an Idempotency-Key and its answer: status and body.
type answeredRequest struct {
	method, path, key, body, answer string
}

// send sends a request and returns the status and body of the answer, or "" without an answer.
func (c *crashing) send(t *testing.T, method, path, key, body string) string {
	t.Helper()
	req := must.Get(http.NewRequest(method, c.address+path, strings.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return ""
	}
	must.That(t, res.StatusCode/100 == 2, "%s %s: %d %s", method, path, res.StatusCode, answer)
	return fmt.Sprint(res.StatusCode, " ", string(answer))
}

// write puts documents, one by one and by tasks. It kills the server shortly after some writes are
// acknowledged.
func (c *crashing) write(t *testing.T, round int, acknowledged map[string]string) (answered []answeredRequest) {
	t.Helper()
	enough, killed := 9+3*round, make(chan struct{})
	for i := 0; ; i++ {
		if i == enough {
			go func() {
				time.Sleep(time.Duration(3+11*round) * time.Millisecond)
				_ = c.cmd.Process.Kill()
				close(killed)
			}()
		}
		id, text := fmt.Sprintf("api:r%d/d%d.md", round, i), fmt.Sprintf("# Document %d\n\nof round %d\n", i, round)
		if i%3 == 2 { // a newer version of an existing document
			id = fmt.Sprintf("api:r%d/d%d.md", round, i-1)
		}
		body, err := json.Marshal(map[string]string{"text": text})
		method, path := http.MethodPut, "/v1/documents/"+id
		change := map[string]any{"id": id, "text": text}
		switch {
		case i%3 == 1 && i%7 == 0: // deleted, once
			id, text = fmt.Sprintf("api:r%d/d%d.md", round, i-1), deleted
			change = map[string]any{"id": id, "delete": true}
		case i%3 != 2:
			change["if_none_match"] = "*"
		}
		switch {
		case i%5 == 4:
			body, err = json.Marshal(map[string]any{"async": true, "documents": []any{change}})
			method, path = http.MethodPost, "/v1/documents"
		case text == deleted:
			body, method, path = nil, http.MethodDelete, "/v1/documents/"+id
		}
		must.Do(t, err)
		a := answeredRequest{method, path, fmt.Sprintf("key %d of round %d", i, round), string(body), ""}
		if a.answer = c.send(t, a.method, a.path, a.key, a.body); a.answer == "" {
			if delete(acknowledged, id); i < enough { // the old or the new version may remain
				t.Fatal("the server ended before it was killed")
			}
			break
		}
		if method != http.MethodDelete { // repeating a DELETE returns 404
			answered = append(answered, a)
		}
		acknowledged[id] = text
	}
	<-killed
	_ = c.cmd.Wait()
	return answered
}

// deleted stands for the text of a document that was deleted.
const deleted = ""

// expectDone waits until the task of an answer, if any, is done.
func (c *crashing) expectDone(t *testing.T, answer string) {
	t.Helper()
	var accepted struct{ Task *struct{ ID string } }
	if _, body, _ := strings.Cut(answer, " "); body == "" || json.Unmarshal([]byte(body), &accepted) != nil ||
		accepted.Task == nil {
		return
	}
	waitFor(t, c.address+"/v1/tasks/"+accepted.Task.ID, func(status int, body string) bool {
		var task struct{ State string }
		if status != 200 || json.Unmarshal([]byte(body), &task) != nil || task.State == "failed" {
			t.Errorf("an accepted task: %d %s", status, body)
			return true
		}
		return task.State == "done"
	})
}

// expect waits until a document has a text or is deleted. An accepted task may need time.
func (c *crashing) expect(t *testing.T, id, text string) {
	t.Helper()
	waitFor(t, c.address+"/v1/chunks/"+id, func(status int, body string) bool {
		var part struct{ Text string }
		if text == deleted {
			return status == 404
		}
		return status == 200 && json.Unmarshal([]byte(body), &part) == nil && part.Text == text
	})
}
