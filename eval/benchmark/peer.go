package benchmark

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sheaf"
)

// Task is what an engine does in a benchmark, for example to search words.
type Task string

// These are the tasks.
const (
	TaskWords   Task = "words"   // BM25 over title and text, any of the words, top 10
	TaskVectors Task = "vectors" // nearest vectors, top 10
	// TaskWide is TaskVectors with 1.5 times the dimensions: 384 for the built-in model.
	TaskWide   Task = "vectors384"
	TaskHybrid Task = "hybrid" // words and vectors, fused, top 10
)

// Tasks are all tasks, in the order of reports.
var Tasks = []Task{TaskWords, TaskVectors, TaskWide, TaskHybrid}

// nearest reports whether the task searches vectors only.
func (t Task) nearest() bool { return t == TaskVectors || t == TaskWide }

// peerTask returns the name of the task in a peer's command. TaskWide gives the name of TaskVectors; the peer reads the
// dimensions from Meta.Dims.
func (t Task) peerTask() string {
	if t == TaskWide {
		t = TaskVectors
	}
	return string(t)
}

// An engine follows this protocol. It is a program "peer-NAME". The command is
//
//	peer-NAME FOLDER TASK INDEX
//
// FOLDER has corpus.jsonl ({id, title, text} per line) and queries.jsonl ({id, class, text}). The files vectors.f32
// and queryvectors.f32 have rows of float32 (little endian, unit length, in the order of the lines). The file
// meta.json is {dims, documents, queries, clients, seconds}. INDEX is an empty folder for its index. The engine
// indexes all documents and makes the index durable. Then it runs the queries of each class, at first once to warm
// up, for at most three times "seconds". These answers are judged. Then it runs them three times with one client, and
// once with "clients" clients, for at most "seconds" each. It writes one JSON object, a Result, to standard output.
// For an unknown task it exits with status 3.

// statusNoTask is the exit status of a peer whose engine does not support the task.
const statusNoTask = 3

const (
	vectorsFile      = "vectors.f32"
	queryVectorsFile = "queryvectors.f32"
	metaFile         = "meta.json"
)

// Meta is the content of meta.json: see the protocol above.
type Meta struct {
	Dims      int     `json:"dims"`
	Documents int     `json:"documents"`
	Queries   int     `json:"queries"`
	Clients   int     `json:"clients"`
	Seconds   float64 `json:"seconds"`
}

// Result is the report of one engine.
type Result struct {
	// Version is the engine's version.
	Version string `json:"version"`
	// BuildSeconds is the time from the first document until the index is durable.
	BuildSeconds float64 `json:"build_seconds"`
	OpenSeconds  float64 `json:"open_seconds,omitempty"` // the time for opening; absent when not measured
	IndexBytes   int64   `json:"index_bytes"`            // the size of the index on disk
	// PeakBytes is the largest anonymous memory of the process during the build, minus its memory before the build. It
	// excludes pages of files, because the kernel can take them back.
	PeakBytes int64 `json:"peak_bytes"`
	// SearchBytes is the resident memory after all queries, including pages of mapped files.
	SearchBytes int64               `json:"search_bytes"`
	Classes     map[string]*Class   `json:"classes"` // the measurements of each class of queries
	Hits        map[string][]string `json:"hits"`    // the IDs of the best ten hits of each query that ran
}

// Class has the measurements for one class of queries.
type Class struct {
	Micros        [][]float64 `json:"micros"`         // the times of one client in microseconds: one list for each pass
	QPS           float64     `json:"qps"`            // how many queries one client finishes in a second
	ClientsQPS    float64     `json:"clients_qps"`    // how many queries all clients finish in a second
	ClientsMicros []float64   `json:"clients_micros"` // the times of the queries of all clients, in microseconds
}

// Quantile returns the quantile q of the times, in microseconds: the median of the quantiles of all passes.
func (c *Class) Quantile(q float64) float64 {
	var values []float64
	for _, pass := range c.Micros {
		if len(pass) > 0 {
			values = append(values, quantile(pass, q))
		}
	}
	return quantile(values, 0.5)
}

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Peer is a program that runs one engine.
type Peer struct {
	Name    string
	Command []string
}

// FindPeers returns the programs in a folder that are called peer-NAME, sorted by name.
func FindPeers(dir string) ([]Peer, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Peer
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), "peer-")
		info, err := e.Info()
		if ok && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			out = append(out, Peer{strings.TrimSuffix(name, ".exe"), []string{filepath.Join(dir, e.Name())}})
		}
	}
	return out, nil
}

// errNoTask says that the engine does not support a task.
var errNoTask = errors.New("does not do this")

// saidBytes limits how much of a failed peer's error stream an error shows, in bytes. The error shows the end.
const saidBytes = 2000

// Run lets a peer do a task on the corpus in dir. If the peer fails, the error shows the end of its error stream.
func (p *Peer) Run(ctx context.Context, dir string, task Task) (*Result, error) {
	index, err := os.MkdirTemp(dir, "index-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(index) }()
	cmd := exec.CommandContext(ctx, p.Command[0], append(slices.Clone(p.Command[1:]), dir, task.peerTask(), index)...)
	// A peer may have a server to stop, so interrupt it.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if exit.ExitCode() == statusNoTask {
			return nil, errNoTask
		}
		said := exit.Stderr[max(0, len(exit.Stderr)-saidBytes):]
		err = fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(string(said)), " "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", p.Name, task, err)
	}
	r := &Result{}
	if err := json.Unmarshal(out, r); err != nil {
		return nil, fmt.Errorf("%s: %s: its report cannot be read: %w", p.Name, task, err)
	}
	return r, r.valid(p.Name)
}

// valid returns an error for a report without results. Otherwise a peer that does nothing would be the fastest.
func (r *Result) valid(name string) error {
	if r.BuildSeconds <= 0 || len(r.Hits) == 0 || len(r.Classes) == 0 {
		return sheaf.Invalidf("%s: its report has no build time, no hits or no times", name)
	}
	for class, c := range r.Classes {
		if len(c.Micros) == 0 || len(c.Micros[0]) == 0 {
			return sheaf.Invalidf("%s: its report has no times for the class %s", name, class)
		}
	}
	return nil
}

// writeVectors writes the vectors of documents and of queries to the folder of a corpus, and meta.json with the sizes.
func writeVectors(dir string, documents, queries [][]float32, m Meta) error {
	for name, rows := range map[string][][]float32{vectorsFile: documents, queryVectorsFile: queries} {
		b := make([]byte, 0, 4*m.Dims*len(rows))
		for _, row := range rows {
			b, _ = binary.Append(b, binary.LittleEndian, row) // never fails
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, metaFile), b, 0o644)
}

// readVectors reads a file of vectors that have dims numbers each.
func readVectors(name string, dims int) ([][]float32, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if dims < 1 || len(b)%(4*dims) != 0 {
		return nil, sheaf.Invalidf("%s has %d bytes: no rows of %d numbers", name, len(b), dims)
	}
	flat := make([]float32, len(b)/4)
	if _, err := binary.Decode(b, binary.LittleEndian, flat); err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(flat, dims)), nil
}
