// Command release builds what is released of Sheaf into dist/: static binaries,
// archives with manual pages and completions, Debian packages, a bill of
// materials, a Homebrew formula, a Containerfile and checksums. Equal sources,
// version and Go give equal bytes. Then it runs what this machine can run.
//
//	go run ./cmd/release [flags] [VERSION]
//
// It is run from the root of the repository; release.sh does that.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("release", pflag.ExitOnError)
	check := flags.Bool("check", false, "build every target twice, in two folders and from nothing, compare the "+
		"bytes, and stop")
	only := flags.String("only", "", "comma-separated `TARGETS` such as linux/amd64; empty is all")
	url := flags.String("url", "", "where the archives will lie, for the Homebrew formula; empty is beside it")
	out := flags.String("out", "dist", "the `FOLDER` to write into; what lies there is removed first")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 1 {
		return fmt.Errorf("one VERSION at most, got %q", flags.Args())
	}
	src, err := describe(ctx, flags.Arg(0))
	if err != nil {
		return err
	}
	targets, err := parseTargets(*only)
	if err != nil {
		return err
	}
	if *check {
		return checkReproducible(ctx, src, targets)
	}
	dir, err := filepath.Abs(*out)
	if err != nil {
		return err
	}
	if err := makeAll(ctx, src, targets, dir, *url); err != nil {
		return err
	}
	return smoke(ctx, src, targets, dir)
}

// parseTargets reads a list such as "linux/amd64,windows/arm64".
func parseTargets(list string) ([]target, error) {
	if list == "" {
		return allTargets, nil
	}
	var targets []target
	for name := range strings.SplitSeq(list, ",") {
		var found bool
		for _, t := range allTargets {
			if t.String() == name {
				targets, found = append(targets, t), true
			}
		}
		if !found {
			return nil, fmt.Errorf("target %q: must be one of %v", name, allTargets)
		}
	}
	return targets, nil
}

// makeAll writes everything into dir, checksums last.
func makeAll(ctx context.Context, src source, targets []target, dir, url string) error {
	if err := empty(dir); err != nil {
		return err
	}
	fmt.Printf("sheaf %s, commit %.12s\n", src.version, src.commit)
	var binaries []string
	for _, t := range targets {
		fmt.Printf("building %s\n", t)
		binary := t.binary(dir)
		if err := build(ctx, src, t, ".", binary); err != nil {
			return err
		}
		binaries = append(binaries, binary)
	}
	share, err := makeShare(ctx, src, dir, binaries)
	if err != nil {
		return err
	}
	sums := map[target]string{}
	for _, t := range targets {
		archive, err := makeArchive(src, t, dir, share)
		if err != nil {
			return err
		}
		if sums[t], err = sha256File(archive); err != nil {
			return err
		}
		if err := makeBundle(src, t, dir, share); err != nil {
			return err
		}
		if t.os == "linux" {
			if err := makeDeb(src, t, dir, share); err != nil {
				return err
			}
		}
		fmt.Printf("  %-14s %s\n", t, filepath.Base(archive))
	}
	if err := makeSBOM(ctx, src, binaries, filepath.Join(dir, "sheaf-"+src.version+".cdx.json")); err != nil {
		return err
	}
	if err := makeFormula(src, sums, url, filepath.Join(dir, "sheaf.rb")); err != nil {
		return err
	}
	if err := makeContainer(src, dir); err != nil {
		return err
	}
	return writeSums(dir)
}

// empty empties dir, and refuses a folder that is not from a release.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, mark)); err != nil {
			return fmt.Errorf("%s: has files, but no %s that says they are from a release: remove them yourself, or name "+
				"another folder with --out", dir, mark)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, mark), nil, 0o644)
}

// mark is the name of a file in every folder that this command may empty.
const mark = ".release"
