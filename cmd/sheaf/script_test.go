package main

import (
	"errors"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands that scripts have beyond the usual ones.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exit": expectExit,
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
