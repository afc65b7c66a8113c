//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestCancelableInput checks that the first Ctrl-C ends a command that waits for standard input.
func TestCancelableInput(t *testing.T) {
	for _, args := range [][]string{{"chunks", "-"}, {"context", "-"}} {
		cmd := exec.Command("sheaf", args...)
		var said strings.Builder
		cmd.Dir, cmd.Stderr = t.TempDir(), &said
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Write more than a pipe holds, so the command must be reading. Then send nothing.
		if _, err := in.Write([]byte(strings.Repeat("words\n", 50_000))); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		late.Stop()
		if cmd.ProcessState.ExitCode() != exitInterrupted {
			t.Errorf("%v: %v: %s", args, err, &said)
		}
	}
}
