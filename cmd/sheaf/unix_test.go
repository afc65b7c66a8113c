//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sheaf/collection/intake"
	"sheaf/internal/check"
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
	must.Do(t, cmd.Wait())
}

// TestCancelableInput checks that the first Ctrl-C ends a command that waits for standard input.
func TestCancelableInput(t *testing.T) {
	for _, args := range [][]string{{"chunks", "-"}, {"context", "-"}} {
		cmd := exec.Command("sheaf", args...)
		var said strings.Builder
		cmd.Dir, cmd.Stderr = t.TempDir(), &said
		in, err := cmd.StdinPipe()
		must.Do(t, err)
		must.Do(t, cmd.Start())
		// Write more than a pipe holds, so the command must be reading. Then send nothing.
		must.Get(in.Write([]byte(strings.Repeat("words\n", 50_000))))
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		must.Do(t, cmd.Process.Signal(os.Interrupt))
		err = cmd.Wait()
		late.Stop()
		check.That(t, cmd.ProcessState.ExitCode() == exitInterrupted, "%v: %v: %s", args, err, &said)
	}
}

// TestServeReadOnly checks that a server answers from an index on read-only media, even if accepted
// documents wait there for indexing.
func TestServeReadOnly(t *testing.T) {
	if !canMount() {
		t.Skip("nothing can be mounted")
	}
	n := newNotes(t)
	index := n.index
	t.Run("make index", func(t *testing.T) {
		address := n.serve(t)
		found(t, address, "apples", "a.md")
		for _, id := range []string{"b", "c"} {
			change(t, http.MethodPut, address+"/v1/documents/api:"+id+".md", `{"text": "Bananas."}`)
		}
	})
	reads := func(t *testing.T) {
		if out, err := exec.Command("mount", "--bind", index, index).CombinedOutput(); err != nil {
			t.Skipf("mount: %s", out)
		}
		defer func() {
			out, err := exec.Command("umount", "-l", index).CombinedOutput()
			check.That(t, err == nil, "umount: %s", out)
		}()
		if out, err := exec.Command("mount", "-o", "remount,ro,bind", index).CombinedOutput(); err != nil {
			t.Skipf("mount: %s", out)
		}
		t.Run("serve", func(t *testing.T) { // fails if the server ends by itself
			address := n.serve(t)
			ready(t, address)
			found(t, address, "apples", "a.md")
		})
	}
	t.Run("no pending document", reads)
	// Imitate a crash that left an accepted document out of the index.
	must.Do(t, intake.Open(index).Update(func(tx *intake.Tx) error {
		changed := strings.Replace(string(tx.Document("api:b.md")), "Bananas", "Cherries", 1)
		return tx.Put("api:b.md", []byte(changed))
	}))
	t.Run("pending document", reads)
}
