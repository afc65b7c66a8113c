package scan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store/storetest"
	"sheaf/text/query"
)

// word returns the nth word of an invented language.
func word(n uint64) string {
	const syllables = "bacedifoguhajekilomunapeqirosutavewixoyuza"
	text := []byte{'m'}
	for n++; n > 0; n /= 21 {
		text = append(text, syllables[2*(n%21):2*(n%21)+2]...)
	}
	return string(text)
}

// vault returns a folder of n notes of about 6.8 kB, in folders of 25, with headings and links.
// Word frequencies are as uneven as in real text. SHEAF_TEST_DIR names another folder.
func vault(b *testing.B, n int) string {
	if dir := os.Getenv("SHEAF_TEST_DIR"); dir != "" {
		return dir
	}
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 30_000)
	files := map[string]string{}
	for i := range n {
		var t strings.Builder
		fmt.Fprintf(&t, "---\ntags: [t%d]\nstatus: draft\n---\n# Note %d\n\n", i%40, i)
		for t.Len() < 6800 {
			if r.IntN(120) == 0 {
				fmt.Fprintf(&t, "\n\n## Heading %s\n\nSee [[note-%04d]]. ", word(zipf.Uint64()), r.IntN(n))
			}
			t.WriteString(word(zipf.Uint64()))
			t.WriteByte(' ')
		}
		files[fmt.Sprintf("folder-%02d/note-%04d.md", i/25, i)] = t.String()
	}
	return folder(b, files)
}

// BenchmarkTiered measures four targets: 50 ms for a scan of 1,000 files, and for cutting 500 candidates. Indexing
// 1,000 chunks has 100 ms, and the 95th percentile of answers 150 ms. "rg" is the time in which ripgrep, if
// installed, counts the same words in the same files. "cpu" and "rg-cpu" are processor times, which other programs do
// not change.
func BenchmarkTiered(b *testing.B) {
	queries := []string{word(26) + " " + word(43), word(63) + " " + word(119) + " " + word(291), "how is " + word(9) +
		" made of " + word(512), word(8191), "note heading"}
	if words := os.Getenv("SHEAF_TEST_QUERIES"); words != "" {
		queries = strings.Split(words, ",")
	}
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root := vault(b, n)
			for _, remembered := range []bool{false, true} {
				b.Run(fmt.Sprintf("remembered=%v", remembered), func(b *testing.B) {
					benchmarkQueries(b, root, queries, remembered)
				})
			}
		})
	}
}

func benchmarkQueries(b *testing.B, root string, queries []string, remembered bool) {
	s := searcher(b, root)
	profile := tiered(b)
	steps := map[string][]time.Duration{}
	rg, _ := exec.LookPath("rg")
	for i := 0; b.Loop(); i++ {
		if !remembered {
			scanner := must.Get(scan.New(scan.Options{Root: root, Analyzer: english(b)}))
			s.Scanner = scanner
		}
		text := queries[i%len(queries)]
		runtime.GC()
		start, used := time.Now(), storetest.CPU()
		r, err := s.Search(context.Background(), query.Parse(text, query.Options{Limit: 30}), profile, search.Options{})
		must.Do(b, err)
		steps["query"] = append(steps["query"], time.Since(start))
		steps["cpu"] = append(steps["cpu"], storetest.CPU()-used)
		for _, t := range r.Took {
			if name, ok := strings.CutPrefix(t.Step, "scan: "); ok {
				steps[name] = append(steps[name], t.Duration)
			}
		}
		steps["chunks"] = append(steps["chunks"], time.Duration(r.Scanned.Chunks)*time.Millisecond)
		if rg != "" {
			args := []string{"-c", "-i", "-F", "--no-messages"}
			for _, word := range strings.Fields(text) {
				args = append(args, "-e", word)
			}
			start := time.Now()
			cmd := exec.Command(rg, append(args, filepath.Clean(root))...)
			_ = cmd.Run() // status 1 means no match
			steps["rg"] = append(steps["rg"], time.Since(start))
			steps["rg-cpu"] = append(steps["rg-cpu"], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	for name, times := range steps {
		slices.Sort(times)
		unit := "-ms"
		if name == "chunks" {
			unit = ""
		}
		b.ReportMetric(float64(times[len(times)/2])/1e6, name+unit)
		if name == "query" {
			b.ReportMetric(float64(times[len(times)*95/100])/1e6, "p95-ms")
		}
	}
	b.ReportMetric(0, "ns/op")
}
