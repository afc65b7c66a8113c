package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkCommand times the real command, from process start to end. The folder has 3,000 files
// and about 30 MB, or is a copy of the folder that SHEAF_TEST_DIR names:
//
//	go test ./cmd/sheaf -run '^$' -bench Command -benchtime 100x
//
// cold makes the index. warm finds no changed file, changed finds one. ripgrep, if installed,
// counts a word in every file. Each reports the mean, 99th percentile and processor time.
func BenchmarkCommand(b *testing.B) {
	work := b.TempDir()
	binary := filepath.Join(work, "sheaf")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	notes := filepath.Join(work, "notes")
	if source := os.Getenv("SHEAF_TEST_DIR"); source != "" {
		if err := os.CopyFS(notes, os.DirFS(source)); err != nil {
			b.Fatal(err)
		}
	} else {
		writeNotes(b, notes, 3000, 10_000)
	}
	// Each run reads files with a fresh modification time again.
	past := time.Now().Add(-time.Hour)
	var file string
	err := filepath.WalkDir(notes, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") && file == "" {
			file = path
		}
		if err != nil {
			return err
		}
		return os.Chtimes(path, past, past)
	})
	if err != nil || file == "" {
		b.Fatalf("no Markdown in %s: %v", notes, err)
	}
	data := filepath.Join(work, "data")
	search := func() *exec.Cmd {
		cmd := exec.Command(binary, "search", "--in", notes, "how to install a module")
		cmd.Env = append(os.Environ(), "SHEAF_DATA_DIR="+data, "XDG_CONFIG_HOME="+filepath.Join(work, "config"),
			"XDG_STATE_HOME="+filepath.Join(work, "state"))
		return cmd
	}
	b.Run("cold", func(b *testing.B) {
		timed(b, search, func() error { return os.RemoveAll(data) })
	})
	b.Run("warm", func(b *testing.B) { timed(b, search, nil) })
	b.Run("changed", func(b *testing.B) {
		timed(b, search, func() error { return appendTo(file, "\nMore of it.\n") })
	})
	b.Run("ripgrep", func(b *testing.B) {
		if _, err := exec.LookPath("rg"); err != nil {
			b.Skip("no ripgrep: rg is not in PATH")
		}
		timed(b, func() *exec.Cmd { return exec.Command("rg", "-c", "-i", "module", notes) }, nil)
	})
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Close()
}

// timed runs a command b.N times. It does not time before. Exit status 1 (no result) counts as
// success.
func timed(b *testing.B, command func() *exec.Cmd, before func() error) {
	var took []time.Duration
	var busy time.Duration
	for range b.N {
		b.StopTimer()
		if before != nil {
			if err := before(); err != nil {
				b.Fatal(err)
			}
		}
		cmd := command()
		b.StartTimer()
		start := time.Now()
		err := cmd.Run()
		took = append(took, time.Since(start))
		busy += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if err != nil && cmd.ProcessState.ExitCode() != 1 {
			b.Fatalf("%v: %v", cmd, err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[(len(took)*99-1)/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(busy.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// writeNotes makes files of about size bytes with headings and paragraphs. Word frequencies follow
// natural text. The content is always the same.
func writeNotes(b *testing.B, dir string, files, size int) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, 40_000)
	word := func() string { return fmt.Sprintf("w%x", zipf.Uint64()) }
	for i := range files {
		var text strings.Builder
		fmt.Fprintf(&text, "# About %s %s\n\n", word(), word())
		for text.Len() < size {
			fmt.Fprintf(&text, "## %s %s module\n\n", word(), word())
			for range 80 {
				text.WriteString(word() + " ")
			}
			text.WriteString("\n\n")
		}
		folder := filepath.Join(dir, fmt.Sprintf("folder%02d", i%50))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("note%04d.md", i)), []byte(text.String()),
			0o644); err != nil {
			b.Fatal(err)
		}
	}
}
