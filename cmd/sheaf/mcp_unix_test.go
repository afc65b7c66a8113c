//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sheaf/internal/must"
)

// TestStoppedMCPAnswersRunningCalls checks that a stopped server answers running calls, because their index stays
// open.
func TestStoppedMCPAnswersRunningCalls(t *testing.T) {
	n := newNotes(t)
	n.write(t, "a.md", "# A\n\napples and pears\n")
	n.run(t, "index")
	cmd := exec.Command("sheaf", "mcp", "--in", n.folder, "--index", n.index)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())
	out := must.Get(cmd.StdoutPipe())
	must.Do(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	send := func(text string) {
		must.Get(fmt.Fprintln(in, text))
	}
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{` +
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	lines.Scan()
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	text := strings.Repeat("apples pears oranges plums ", 3_000)
	for id := range 20 {
		send(fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"context","arguments":{"text":"%s"}}}`, id+1, text))
	}
	for n := 0; lines.Scan(); n++ { // a busy machine may not have time for all calls
		if n == 0 { // the other calls are running or still unread
			must.Do(t, cmd.Process.Signal(os.Interrupt))
		}
		if answer := lines.Text(); !strings.Contains(answer, "a.md") && !strings.Contains(answer, "was stopped before") {
			t.Errorf("a call was answered with %.300s", answer)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
