package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// smoke runs the programs of dir that this machine can run, itself or under an
// emulator: each must say its version, index a folder and find a passage in it.
func smoke(ctx context.Context, src source, targets []target, dir string) error {
	for _, t := range targets {
		runner, ok := runnerFor(t)
		if !ok {
			fmt.Printf("smoke %-14s SKIPPED: this machine cannot run it\n", t)
			continue
		}
		if err := smokeOne(ctx, src, append(runner, t.binary(dir))); err != nil {
			return fmt.Errorf("smoke test of %s: %w", t, err)
		}
		fmt.Printf("smoke %-14s passed %s\n", t, strings.Join(runner, " "))
	}
	return nil
}

// runnerFor is what programs of t are started with, and whether they can be.
func runnerFor(t target) ([]string, bool) {
	if t.os != runtime.GOOS {
		return nil, false
	}
	if t.arch == runtime.GOARCH {
		return nil, true
	}
	cpu := map[string]string{"arm64": "aarch64", "amd64": "x86_64"}[t.arch]
	for _, name := range []string{"qemu-" + cpu + "-static", "qemu-" + cpu} {
		if path, err := exec.LookPath(name); err == nil && t.os == "linux" {
			return []string{path}, true
		}
	}
	return nil, false
}

// smokeOne runs a program in a home of its own that holds nothing.
func smokeOne(ctx context.Context, src source, program []string) error {
	home, err := os.MkdirTemp("", "sheaf-smoke")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	notes := filepath.Join(home, "notes")
	if err := os.Mkdir(notes, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"git.md": "# Undo a commit\n\nUse reset.\n",
		"tea.md": "# Tea\n\nSteep for three minutes.\n"} {
		if err := os.WriteFile(filepath.Join(notes, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "sheaf " + src.version},
		{[]string{"index", notes}, ""},
		{[]string{"search", "--in", notes, "--json", "how do I undo a commit"}, `"path":"git.md"`},
		{[]string{"status", "--in", notes, "--json"}, `"documents":2`},
	} {
		args := append(slices.Clone(program[1:]), step.args...)
		cmd := exec.CommandContext(ctx, program[0], args...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_DATA_HOME=" + filepath.Join(home, "data"),
			"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("sheaf %s: %w\n%s", strings.Join(step.args, " "), err, out)
		}
		if !strings.Contains(string(out), step.want) {
			return fmt.Errorf("sheaf %s: no %q in\n%s", strings.Join(step.args, " "), step.want, out)
		}
	}
	return nil
}
