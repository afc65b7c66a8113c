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
)

// TestCrash kills a server with SIGKILL while documents are given to it and deleted, again
// and again, and looks whether every one that was acknowledged is there or gone, and whether
// every task is done that was accepted, also one whose own conditions would not hold when it
// is done twice.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	n := newNotes(t)
	acknowledged := map[string]string{}
	var answered []answeredRequest
	for round := range 4 {
		c := startCrashing(t, n)
		for _, a := range answered {
			if got := c.send(t, a.method, a.path, a.key, a.body); got != a.answer {
				t.Fatalf("round %d: %s %s repeated: %q, at first %q", round, a.method, a.path, got, a.answer)
			}
		}
		for id, text := range acknowledged {
			c.expect(t, id, text)
		}
		for _, a := range answered {
			c.expectDone(t, a.answer)
		}
		answered = c.write(t, round, acknowledged)
	}
	if len(acknowledged) < 20 {
		t.Errorf("%d documents were acknowledged: too few to tell", len(acknowledged))
	}
	t.Logf("%d documents were acknowledged and are there", len(acknowledged))
}

// crashing is a server in a process of its own.
type crashing struct {
	cmd     *exec.Cmd
	address string
}

func startCrashing(t *testing.T, n notes) *crashing {
	t.Helper()
	cmd := exec.Command("sheaf", "serve", "--addr", "127.0.0.1:0", "--in", n.folder, "--index", n.index)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line := make([]byte, 200)
	read, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	c := &crashing{cmd, strings.TrimSpace(strings.TrimPrefix(string(line[:read]), "listening on "))}
	ready(t, c.address)
	return c
}

// answeredRequest is a request with an Idempotency-Key and what it was answered:
// status and body.
type answeredRequest struct {
	method, path, key, body, answer string
}

// send sends a request and returns the status and body of its answer, "" when
// there is none.
func (c *crashing) send(t *testing.T, method, path, key, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, c.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
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
	if res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, answer)
	}
	return fmt.Sprint(res.StatusCode, " ", string(answer))
}

// write puts documents, one by one and by tasks, and kills the server meanwhile: a moment
// after so many were acknowledged.
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
		if i%3 == 2 { // a newer version of one that is there
			id = fmt.Sprintf("api:r%d/d%d.md", round, i-1)
		}
		body, err := json.Marshal(map[string]string{"text": text})
		method, path := http.MethodPut, "/v1/documents/"+id
		change := map[string]any{"id": id, "text": text}
		switch {
		case i%3 == 1 && i%7 == 0: // gone again, once
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
		if err != nil {
			t.Fatal(err)
		}
		a := answeredRequest{method, path, fmt.Sprintf("key %d of round %d", i, round), string(body), ""}
		if a.answer = c.send(t, a.method, a.path, a.key, a.body); a.answer == "" {
			if delete(acknowledged, id); i < enough { // it may be the old or the new version
				t.Fatal("the server ended before it was killed")
			}
			break
		}
		if method != http.MethodDelete { // which is 404 the second time
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

// expectDone waits until the task of an answer, if it has one, is done.
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

// expect waits until a document has a text, or is gone: an accepted task may not be done
// yet.
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
