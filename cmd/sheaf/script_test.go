package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands that scripts have beyond the usual ones.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exit":   expectExit,
	"binary": writeBinary,
}

// writeBinary runs "binary FILE": it makes a file that is no text, an hour
// old: files of this moment are looked at again by the next run.
func writeBinary(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: binary FILE")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, []byte("\x7fELF\x00\x01\x02\x00"), 0o644))
	past := time.Now().Add(-time.Hour)
	ts.Check(os.Chtimes(path, past, past))
}

// expectExit runs "exit STATUS PROGRAM ARGUMENTS...": the program must end
// with exactly this status.
func expectExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit STATUS PROGRAM ARGUMENTS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var status *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &status) {
		got = status.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status is %d, want %d", got, want)
	}
}
