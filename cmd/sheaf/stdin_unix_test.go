//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sheaf/internal/must"
)

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
		if cmd.ProcessState.ExitCode() != exitInterrupted {
			t.Errorf("%v: %v: %s", args, err, &said)
		}
	}
}
