//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

func canBeNobody() bool { return false }

func canMount() bool { return false }

func unprivileged(ts *testscript.TestScript, _ []string) {
	ts.Fatalf("there are no users like those of Unix")
}

func tmpfs(ts *testscript.TestScript, _ []string) { ts.Fatalf("nothing can be mounted") }
