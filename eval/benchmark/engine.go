package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sheaf/internal/offheap"
)

// Top is the largest number of hits that a query returns. Pool is the largest number of hits of each leg of a hybrid
// query.
const (
	Top  = 10
	Pool = 50
)

// Engine is a search engine that a Go program can call. Each Engine does one [Task].
type Engine interface {
	// Version returns the engine's version, or "".
	Version() string
	// Build indexes all documents in the folder dir and makes the index durable. vectors has one vector for each
	// document; it is nil if the task searches words only. The engine must not use docs and vectors after Build.
	Build(ctx context.Context, dir string, docs []Document, vectors [][]float32) error
	// Open opens the index that Build made.
	Open(dir string) error
	// Ask returns the IDs of the Top best documents, best first. Several goroutines may call it at the same time.
	Ask(ctx context.Context, text string, vector []float32) ([]string, error)
	Close() error
}

// Sized is an [Engine] that runs in a process of its own, for example a server. The harness then measures the memory of
// that process instead of its own memory.
type Sized interface {
	// Process returns the ID of the engine's process, or "" if no process runs.
	Process() string
}

// processOf returns the ID of the process in which an engine runs, or "self" for this process.
func processOf(e Engine) string {
	if s, ok := e.(Sized); ok {
		return s.Process()
	}
	return "self"
}

// Main is the main function of a peer. It runs the task in the program's arguments, writes the report as the protocol
// in peer.go says, and exits. The function make returns nil if the engine does not support the task.
func Main(make func(Task, Meta) Engine) {
	if len(os.Args) != 4 {
		fmt.Fprintf(os.Stderr, "usage: %s FOLDER TASK INDEX (it is run by sheaf bench)\n", os.Args[0])
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := RunEngine(ctx, os.Args[1], Task(os.Args[2]), os.Args[3], make)
	switch {
	case errors.Is(err, errNoTask):
		os.Exit(statusNoTask)
	case err == nil:
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// RunEngine runs a task of an engine on the corpus in dir. The engine writes its index into the folder index. The
// function make returns nil if the engine does not support the task.
func RunEngine(ctx context.Context, dir string, task Task, index string, make func(Task, Meta) Engine) (*Result,
	error) {
	var m Meta
	b, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	e := make(task, m)
	if e == nil {
		return nil, errNoTask
	}
	queries, err := readLines[Query](filepath.Join(dir, queriesFile))
	if err != nil {
		return nil, err
	}
	vectors, err := readVectors(filepath.Join(dir, queryVectorsFile), m.Dims)
	if err != nil {
		return nil, err
	}
	r := &Result{Version: e.Version()}
	if err := r.build(ctx, e, dir, task, index, m); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // release the memory of building
	began := time.Now()
	if err := e.Open(index); err != nil {
		return nil, err
	}
	r.OpenSeconds = time.Since(began).Seconds()
	err = measure(ctx, queries, m, r, func(ctx context.Context, i int) ([]string, error) {
		return e.Ask(ctx, queries[i].Text, vectors[i])
	})
	r.SearchBytes, _ = pages(processOf(e))
	return r, errors.Join(err, e.Close())
}

// build lets the engine index the corpus. It measures the time, and by how much the memory grows.
func (r *Result) build(ctx context.Context, e Engine, dir string, task Task, index string, m Meta) error {
	corpus, err := readInput(dir, task, m.Dims)
	if err != nil {
		return err
	}
	defer corpus.free()
	debug.FreeOSMemory()
	before := anonymous(processOf(e))
	most := watch(func() int64 { return anonymous(processOf(e)) })
	began := time.Now()
	err = e.Build(ctx, index, corpus.docs.Items, corpus.vectors.Items)
	r.BuildSeconds = time.Since(began).Seconds()
	r.PeakBytes = most() - before
	if err != nil {
		return err
	}
	r.IndexBytes, err = folderBytes(index)
	return err
}

// watch calls amount again and again, until the caller calls peak. peak returns the largest value.
func watch(amount func() int64) (peak func() int64) {
	stop, ended := make(chan struct{}), make(chan int64)
	go func() {
		most := amount()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, amount())
			case <-stop:
				ended <- max(most, amount())
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-ended
	}
}

func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			info, fault := d.Info()
			if fault != nil {
				return fault
			}
			n += info.Size()
		}
		return err
	})
	return n, err
}

// anonymous returns the resident memory that belongs to a process alone, in bytes. It excludes shared memory and pages
// of files, because the kernel can take them back at any time.
func anonymous(process string) int64 {
	all, shared := pages(process)
	return all - shared
}

// pages returns two sizes in bytes. all is a process's resident memory. shared is the part that is shared or belongs to
// files. process is the number of the process, or "self". If process is "" or unknown, both sizes are 0.
func pages(process string) (all, shared int64) {
	if process == "" {
		return 0, 0
	}
	b, err := os.ReadFile(filepath.Join("/proc", process, "statm"))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 3 {
		return 0, 0
	}
	all, _ = strconv.ParseInt(fields[1], 10, 64)
	shared, _ = strconv.ParseInt(fields[2], 10, 64)
	size := int64(os.Getpagesize())
	return all * size, shared * size
}

// input is a corpus that an engine indexes. It is outside the heap of Go, because a larger heap delays the garbage
// collector. The garbage that waits would then count as memory of the engine.
type input struct {
	docs    offheap.List[Document]
	vectors offheap.List[[]float32] // one for each document; empty for a task without vectors
	texts   offheap.Texts
	numbers offheap.List[float32]
}

func readInput(dir string, task Task, dims int) (*input, error) {
	in := &input{}
	err := eachLine(filepath.Join(dir, corpusFile), func(one *Document) {
		in.docs.Add(Document{ID: in.texts.Add([]byte(one.ID)), Title: in.texts.Add([]byte(one.Title)),
			Text: in.texts.Add([]byte(one.Text))})
	})
	if err == nil && task != TaskWords {
		err = in.readVectors(filepath.Join(dir, vectorsFile), dims)
	}
	if err != nil {
		in.free()
		return nil, err
	}
	return in, nil
}

func (in *input) readVectors(name string, dims int) error {
	rows, err := readVectors(name, dims)
	if err != nil {
		return err
	}
	in.numbers.Resize(len(rows) * dims)
	for i, row := range rows {
		own := in.numbers.Items[i*dims : (i+1)*dims : (i+1)*dims]
		copy(own, row)
		in.vectors.Add(own)
	}
	return nil
}

// free releases the memory of the corpus. Callers must not use the corpus after that.
func (in *input) free() {
	in.docs.Free()
	in.vectors.Free()
	in.texts.Free()
	in.numbers.Free()
}

const (
	// passes is the number of times that one client runs the queries of each class.
	passes = 3
	// The first pass ends after warmupPasses times the limit of a measured pass. The benchmark judges the answers of the
	// first pass, but does not measure its times.
	warmupPasses = 3
)

// askFunc answers the query with index i. It returns the IDs of the hits.
type askFunc func(ctx context.Context, i int) ([]string, error)

// measure runs the queries as the protocol in peer.go says. It sets r.Hits and r.Classes.
func measure(ctx context.Context, queries []Query, m Meta, r *Result, f askFunc) error {
	byClass := map[string][]int{}
	for i, q := range queries {
		byClass[q.Class] = append(byClass[q.Class], i)
	}
	r.Hits, r.Classes = map[string][]string{}, map[string]*Class{}
	limit := time.Duration(m.Seconds * float64(time.Second))
	for class, list := range byClass {
		began := time.Now()
		for _, i := range list {
			hits, err := f(ctx, i)
			if err != nil {
				return err
			}
			r.Hits[queries[i].ID] = hits
			if time.Since(began) > warmupPasses*limit {
				break
			}
		}
		c := &Class{}
		for range passes {
			began := time.Now()
			var micros []float64
			for _, i := range list {
				start := time.Now()
				if _, err := f(ctx, i); err != nil {
					return err
				}
				micros = append(micros, float64(time.Since(start).Nanoseconds())/1000)
				if time.Since(began) > limit {
					break
				}
			}
			c.Micros = append(c.Micros, micros)
			c.QPS = max(c.QPS, float64(len(micros))/time.Since(began).Seconds())
		}
		var err error
		if c.ClientsQPS, c.ClientsMicros, err = runTogether(ctx, list, m.Clients, limit, f); err != nil {
			return err
		}
		r.Classes[class] = c
	}
	return nil
}

// runTogether runs the queries with the indexes in list, with several clients at the same time. A client that is ready
// takes the next query. runTogether ends after limit, or after every query ran twice. qps is the number of queries in a
// second; micros has the microseconds of each query. err is the last error of a query.
func runTogether(ctx context.Context, list []int, clients int, limit time.Duration, f askFunc) (qps float64,
	micros []float64, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	var next atomic.Int64
	began := time.Now()
	for range max(clients, 1) {
		wait.Go(func() {
			var mine []float64
			for time.Since(began) < limit {
				at := int(next.Add(1)) - 1
				if at >= 2*len(list) {
					break
				}
				start := time.Now()
				_, fault := f(ctx, list[at%len(list)])
				mine = append(mine, float64(time.Since(start).Nanoseconds())/1000)
				if fault != nil {
					mu.Lock()
					err = fault
					mu.Unlock()
					return
				}
			}
			mu.Lock()
			micros = append(micros, mine...)
			mu.Unlock()
		})
	}
	wait.Wait()
	return float64(len(micros)) / time.Since(began).Seconds(), micros, err
}
