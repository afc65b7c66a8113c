//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestMCPStopped: a call that is under way when the server is stopped is answered, from the
// index that stays open for it.
func TestMCPStopped(t *testing.T) {
	var held atomic.Bool
	asked, answer := make(chan struct{}), make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if held.CompareAndSwap(true, false) {
			close(asked)
			<-answer
		}
		embeddings(w, r)
	}))
	defer model.Close()
	t.Setenv("SHEAF_EMBEDDER_URL", model.URL+"/v1")
	t.Setenv("SHEAF_EMBEDDER_MODEL", "small")
	write, folder, _, index := notesFor(t)
	write(folder, "a.md", "# A\n\napples and pears\n")
	inAnotherProcess(t, "index", "--in", folder, "--index", index)
	cmd := exec.Command("sheaf", "mcp", "--in", folder, "--index", index)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	send := func(text string) {
		if _, err := fmt.Fprintln(in, text); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	lines.Scan()
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	held.Store(true)
	send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"apples"}}}`)
	<-asked
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // what does not wait for the call is closed by then
	close(answer)
	if lines.Scan(); !strings.Contains(lines.Text(), "a.md") || strings.Contains(lines.Text(), "isError") {
		t.Errorf("the call was answered with %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
