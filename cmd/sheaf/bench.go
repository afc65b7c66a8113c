package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/eval/benchmark"
	"sheaf/internal/wording"
)

// benchJSON is the answer of `sheaf bench`.
type benchJSON struct {
	Clients int             `json:"clients"` // how many clients search at the same time
	Machine string          `json:"machine"` // the system, its processors and the version of Go
	Rows    []benchmark.Row `json:"rows"`    // one row for each engine, task and size
	Schema  string          `json:"schema"`
}

type benchOptions struct {
	benchmark.Options
	tasks       []string
	peers       []string
	peersFolder string
	svg         string
	report      string
}

func (a *app) benchCommand() *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench FOLDER...",
		Short: "Measure the engine beside others",
		Long: `Makes corpora from the Markdown in the folders. This engine and every other installed
engine index and search them, one after another. It prints speed, size, memory and
whether the answers are right. bench/setup.sh in the source installs the other
engines. Run nothing else at the same time.

Every engine indexes title and text, and answers queries of any of the words:
headings and link texts ("real"), and the most frequent words ("hot").`,
		Example: `  sheaf bench ~/docs
  sheaf bench --chunks 10000,100000,1000000 --peers bleve,tantivy --svg speed.svg ~/docs
  sheaf bench --chunks 100000,1000000 --seconds 5 --limit 5m --report speed.md ~/docs`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.bench(cmd, args, o) },
	}
	f := cmd.Flags()
	f.IntSliceVar(&o.Sizes, "chunks", []int{10_000}, "sizes of the corpora, in chunks")
	f.StringSliceVar(&o.tasks, "tasks", []string{"words", "vectors", "hybrid"}, "what to measure: words, vectors (of "+
		"256 and 384 dimensions), vectors384 (those alone), hybrid")
	f.StringSliceVar(&o.peers, "peers", nil, "engines to measure beside, none for this one alone (default all that "+
		"are installed)")
	f.StringVar(&o.peersFolder, "peers-folder", "", "folder of the other engines (default bench/bin of the source that "+
		"you are in)")
	f.StringVar(&o.Work, "work", "", "folder for corpora and indexes while it runs (default the system's)")
	f.StringVar(&o.svg, "svg", "", "also write a picture to this file")
	f.StringVar(&o.report, "report", "", "also write the tables to this file, after every engine: an interrupted run "+
		"leaves what it has")
	f.DurationVar(&o.Limit, "limit", 0, "longest time for one engine, task and size; engines that would take longer, "+
		"going by a smaller size, are left out (default no limit)")
	f.IntVar(&o.Clients, "clients", 8, "clients that ask together")
	f.Float64Var(&o.Seconds, "seconds", 15, "longest pass, in seconds")
	a.withJSON(cmd)
	markFolder(f, "peers-folder", "work")
	cmd.AddCommand(a.benchEngineCommand())
	return cmd
}

// benchEngineCommand is a hidden command that measures Sheaf's own engine, in a process of its own like the others.
func (a *app) benchEngineCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "engine FOLDER TASK INDEX",
		Hidden: true,
		Short:  "Run this engine as sheaf bench runs the others",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := benchmark.RunEngine(cmd.Context(), args[0], benchmark.Task(args[1]), args[2], benchmark.Own)
			if err != nil {
				return err
			}
			return a.printJSON(r)
		},
	}
}

func (a *app) bench(cmd *cobra.Command, folders []string, o benchOptions) error {
	for _, f := range folders {
		if _, err := collection.RealFolder(f); err != nil {
			return err
		}
	}
	for _, name := range o.tasks {
		if !slices.Contains(benchmark.Tasks, benchmark.Task(name)) {
			return sheaf.Invalidf("--tasks %q: must be words, vectors, vectors384 or hybrid", name)
		}
		o.Tasks = append(o.Tasks, benchmark.Task(name))
		if benchmark.Task(name) == benchmark.TaskVectors && !slices.Contains(o.tasks, string(benchmark.TaskWide)) {
			o.Tasks = append(o.Tasks, benchmark.TaskWide)
		}
	}
	if o.Clients < 1 || o.Clients > 1000 || o.Seconds <= 0 || o.Limit < 0 {
		return sheaf.Invalidf("--clients must be within 1..1000, --seconds above 0 and --limit not below 0")
	}
	program, err := os.Executable()
	if err == nil {
		o.Peers, err = o.findPeers()
	}
	if err == nil {
		o.Embedder, err = newBuiltIn()
	}
	if err != nil {
		return err
	}
	if err := checkFiles(o.svg, o.report); err != nil {
		return err
	}
	o.Folders, o.Step, o.Progress = folders, o.write, func(what string) { a.notice("%s", what) }
	o.Ours = benchmark.Peer{Name: "sheaf", Command: []string{program, "bench", "engine"}}
	report, err := benchmark.Run(cmd.Context(), o.Options)
	if report == nil || len(report.Rows) == 0 {
		return err
	}
	if a.json {
		return errors.Join(err, a.printJSON(benchJSON{Schema: "sheaf.bench/1", Machine: report.Machine,
			Clients: report.Clients, Rows: report.Rows}))
	}
	return errors.Join(err, report.Text(a.stdout))
}

// write writes the results so far into the files that the flags name.
func (o *benchOptions) write(report *benchmark.Report) error {
	for name, content := range map[string]func(io.Writer) error{o.svg: report.SVG, o.report: report.Text} {
		if name == "" {
			continue
		}
		if err := writeFile(name, content); err != nil {
			return err
		}
	}
	return nil
}

// findPeers returns the engines that the flags name, or all installed engines.
func (o *benchOptions) findPeers() ([]benchmark.Peer, error) {
	if len(o.peers) == 1 && o.peers[0] == "none" {
		return nil, nil
	}
	folder := o.peersFolder
	if folder == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		folder = benchmark.PeersFolder(dir)
	}
	switch {
	case folder == "" && len(o.peers) == 0:
		return nil, nil
	case folder == "":
		return nil, withHint(fmt.Errorf("%w: found no folder of other engines", sheaf.ErrNotFound),
			"sh bench/setup.sh in the source makes one; --peers-folder names it")
	}
	all, err := benchmark.FindPeers(folder)
	if err != nil {
		return nil, fmt.Errorf("find engines: %w", collection.FileFault("folder", err))
	}
	if len(o.peers) == 0 {
		return all, nil
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	var out []benchmark.Peer
	for _, want := range o.peers {
		i := slices.Index(names, want)
		if i < 0 {
			err := fmt.Errorf("%w: no engine %q in %s", sheaf.ErrNotFound, want, wording.Clean(folder))
			return nil, unknownName(err, want, names, "there are %s", strings.Join(names, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}
