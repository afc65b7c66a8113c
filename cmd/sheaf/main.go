// Command sheaf searches folders of documents by words and by meaning, and answers with sections of the right size.
//
//	sheaf search how do I undo a commit
//
// indexes new and changed files of the current folder, then answers. Subcommands of one subject share a file. Code for
// all of them is in app.go (streams, settings and output) and open.go (index and refresh). This package does not rank.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sheaf"
)

func main() { os.Exit(run()) }

// exitInterrupted is the exit status that shells expect after Ctrl-C: 128 + SIGINT.
const exitInterrupted = 130

// errNothing ends a command without results. The exit status is 1, and no message is printed.
var errNothing = errors.New("nothing found")

// run runs the program and returns the exit status. A first signal cancels the context, and the command stops at the
// next safe point between two commits. A second signal ends the process at once.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	a.args, a.stdin = os.Args[1:], contextReader{ctx, os.Stdin}
	err := a.command().ExecuteContext(ctx)
	err = errors.Join(err, a.flush())
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNothing):
		return 1
	case isUnread(err):
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "sheaf: interrupted; everything that was committed is kept, the next run goes on from there")
		return exitInterrupted
	}
	a.reportError(err)
	return sheaf.ExitCode(err)
}
