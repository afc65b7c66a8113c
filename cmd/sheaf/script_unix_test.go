//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// nobody is the user for programs of a script that must not run as root.
const nobody = 65534

func asNobody(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// letIn lets every user enter folders of root and the temporary folders above them.
func letIn(dirs ...string) error {
	for _, dir := range dirs {
		for ; os.Geteuid() == 0 && strings.HasPrefix(dir, filepath.Clean(os.TempDir())+"/"); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err == nil {
				err = os.Chmod(dir, info.Mode().Perm()|0o011)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// canBeNobody reports whether this process can run a program without root rights.
var canBeNobody = sync.OnceValue(func() bool { return asNobody(exec.Command("true")).Run() == nil })

// unprivileged runs "unprivileged STATUS PROGRAM ARGUMENTS...": the program runs without root
// rights and must end with STATUS. Its output is in $WORK/out and $WORK/err.
func unprivileged(ts *testscript.TestScript, args []string) {
	path, err := lookPath(ts, args[1])
	ts.Check(err)
	ts.Check(letIn(filepath.Dir(ts.Getenv("WORK")), filepath.Dir(path)))
	cmd := asNobody(exec.Command(path, args[2:]...))
	cmd.Dir, cmd.Env = ts.MkAbs("."), environment(ts)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit status is checked below
	ts.Check(os.WriteFile(ts.MkAbs("out"), stdout.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("err"), stderr.Bytes(), 0o600))
	ts.Logf("%s%s", stdout.String(), stderr.String())
	if cmd.ProcessState == nil || strings.TrimSpace(args[0]) != strconv.Itoa(cmd.ProcessState.ExitCode()) {
		ts.Fatalf("it ended with %v, not with status %s", cmd.ProcessState, args[0])
	}
}

// canMount reports whether this process may mount a file system.
var canMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	return exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "none", dir).Run() == nil &&
		exec.Command("umount", dir).Run() == nil
})

// tmpfs runs "tmpfs FOLDER SIZE": it mounts a file system of that size on the folder until the
// script ends.
func tmpfs(ts *testscript.TestScript, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(exec.Command("mount", "-t", "tmpfs", "-o", "size="+args[1], "none", dir).Run())
	ts.Defer(func() { ts.Check(exec.Command("umount", "-l", dir).Run()) })
}
