package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/internal/wording"
)

// app is one run of the program. It has the streams, the flags of every command, and the settings when loaded.
type app struct {
	streams
	flags

	config *config.Config
	// storeFlag is the flag that chose the store in config. It is "" if the settings chose the store.
	storeFlag string
	// runWarnings has the warnings of this run, for example about an index that cannot be updated.
	runWarnings []string
	// lastRepair is the time when the program last tried to repair an open index.
	lastRepair time.Time
}

// streams are the streams of the process. Until [app.settings] loads the settings, out and err have default colors.
type streams struct {
	stdin            io.Reader
	stdout           *bufio.Writer
	stderr           io.Writer
	outFile, errFile *os.File
	out, err         *terminal.Output
}

// flags are flags that many commands share, and all arguments without the program name.
type flags struct {
	in    string // the value of --in
	index string // the value of --index
	json  bool
	jsonl bool
	yes   bool // the value of --yes
	args  []string
}

func newApp(stdin, stdout, stderr *os.File) *app {
	a := &app{streams: streams{stdin: stdin, stdout: bufio.NewWriterSize(stdout, 64<<10), stderr: stderr,
		outFile: stdout, errFile: stderr}}
	a.describeStreams("auto")
	return a
}

func (a *app) describeStreams(color string) {
	a.out = terminal.Open(a.outFile, color, os.Getenv)
	a.out.Writer = a.stdout
	a.err = terminal.Open(a.errFile, color, os.Getenv)
}

func (a *app) flush() error { return a.stdout.Flush() }

// settings returns the settings of the folder dir with the flags of cmd. The first call prints their notices.
func (a *app) settings(cmd *cobra.Command, dir string) (*config.Config, error) {
	if a.config != nil {
		return a.config, nil
	}
	c, err := loadSettings(cmd, dir)
	if err != nil {
		return nil, err
	}
	a.describeStreams(c.Color)
	a.notices(c.Notices...)
	a.config = c
	return c, nil
}

// loadSettings reads the settings of the folder dir and the flags of a command.
func loadSettings(cmd *cobra.Command, dir string) (*config.Config, error) {
	opts := config.Options{Dir: dir, UserFile: userConfigFile(), Environ: os.Environ(), Trust: trust()}
	for _, k := range config.Keys() {
		if f := cmd.Flags().Lookup(k.Flag); f != nil && f.Changed {
			opts.Flags = append(opts.Flags, config.Flag{Key: k.Name, Name: k.Flag, Values: flagValues(f)})
		}
	}
	if f := cmd.Flags().Lookup("no-refresh"); f != nil && f.Changed {
		opts.Flags = append(opts.Flags, config.Flag{Key: "refresh", Name: f.Name, Values: []string{"false"}})
	}
	return config.Load(opts)
}

// folderSettings returns the folder that the command works on, with its settings.
func (a *app) folderSettings(cmd *cobra.Command) (folder string, c *config.Config, err error) {
	if folder, err = a.commandFolder(); err == nil {
		c, err = a.settings(cmd, folder)
	}
	return folder, c, err
}

func flagValues(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

func userConfigFile() string { return filepath.Join(xdg.ConfigHome, "sheaf", "config.yaml") }

func trust() *config.Trust {
	return &config.Trust{Dir: filepath.Join(xdg.StateHome, "sheaf", "trust")}
}

func (a *app) notice(format string, args ...any) {
	text := wording.Clean(fmt.Sprintf(format, args...))
	fmt.Fprintln(a.stderr, a.err.Paint(terminal.Notice, "note:")+" "+text)
}

func (a *app) notices(texts ...string) {
	for _, text := range texts {
		a.notice("%s", text)
	}
}

// warn prints a warning, unless this run has printed the same text before. JSON output lists the warning too.
func (a *app) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(a.runWarnings, text) {
		return
	}
	a.runWarnings = append(a.runWarnings, text)
	a.notice("%s", text)
}

// allWarnings returns the warnings of this run, then the warnings in the parameter more. The result is never nil.
func (a *app) allWarnings(more ...string) []string {
	return append(orEmpty(slices.Clone(a.runWarnings)), more...)
}

// reportError prints err on the error stream: one line per fault, or JSON if the arguments ask for it.
func (a *app) reportError(err error) {
	var fault *collection.HintError
	if a.json || a.jsonl || asksJSON(a.args) {
		out := errorJSON{Error: err.Error(), ExitCode: sheaf.ExitCode(err)}
		if errors.As(err, &fault) {
			out.Hint = fault.Hint
		}
		_ = encodeLine(a.stderr, out)
		return
	}
	text := strings.TrimSuffix(err.Error(), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(a.stderr, a.err.Paint(terminal.Fault, "sheaf:")+" "+wording.Clean(line))
	}
	if errors.As(err, &fault) {
		fmt.Fprintln(a.stderr, a.err.Paint(terminal.Notice, "hint:")+" "+wording.Clean(fault.Hint))
	}
}

// errorJSON is the JSON of an error.
type errorJSON struct {
	Error    string `json:"error"`
	Hint     string `json:"hint,omitempty"`
	ExitCode int    `json:"exit_code"`
}

// asksJSON reports whether the arguments contain --json or --jsonl. It works before the arguments are parsed.
func asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--json" || arg == "--jsonl" || arg == "--json=true" || arg == "--jsonl=true"
	})
}

// withHint adds advice to err, which must not be nil. The program prints the advice on a line of its own.
func withHint(err error, format string, args ...any) error {
	return collection.Hint(err, format, args...)
}

// commandFolder returns the real path of the command's folder: --in, or the current folder.
func (a *app) commandFolder() (string, error) { return collection.RealFolder(a.in) }

// confirm asks the user before a command loses data. --yes answers for the user. Without a terminal and without --yes,
// confirm returns an error. The parameter loss describes what is lost; alternative is a command that keeps the data.
func (a *app) confirm(loss, alternative string) error {
	if a.yes {
		a.notice("%s", loss)
		return nil
	}
	if !a.out.Terminal || a.json {
		return withHint(sheaf.Invalidf("%s: nothing is changed without --yes", loss), "to keep them: %s", alternative)
	}
	fmt.Fprintf(a.stdout, "%s\nremove them? [y/N] ", loss)
	if err := a.flush(); err != nil {
		return err
	}
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // an empty answer means no
	if isYes(answer) {
		return nil
	}
	return withHint(sheaf.Invalidf("%s: nothing is changed", loss), "to keep them: %s", alternative)
}

func isYes(answer string) bool {
	answer = strings.TrimSpace(answer)
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

// contextReader is standard input. Its Read returns when ctx ends. A plain read would continue to wait after a signal.
type contextReader struct {
	ctx   context.Context
	input io.Reader
}

// Read implements [io.Reader]. When ctx ends, Read returns the error of ctx, and drops input that arrives later.
func (a contextReader) Read(p []byte) (int, error) {
	type read struct {
		n   int
		err error
	}
	// The read may end long after the caller reuses p.
	buffer, done := make([]byte, len(p)), make(chan read, 1)
	go func() {
		n, err := a.input.Read(buffer)
		done <- read{n, err}
	}()
	select {
	case <-a.ctx.Done():
		return 0, a.ctx.Err()
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	}
}

// printJSON prints v as one JSON object. On a terminal, the object is indented; elsewhere it is on one line.
func (a *app) printJSON(v any) error {
	if !a.out.Terminal {
		return a.printLine(v)
	}
	encoder := json.NewEncoder(a.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// print writes v as JSON if a flag asks for JSON. Otherwise it calls people, which writes a text for people.
func (a *app) print(v any, people func()) error {
	if a.json {
		return a.printJSON(v)
	}
	people()
	return nil
}

func (a *app) printLine(v any) error { return encodeLine(a.stdout, v) }

func encodeLine(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// span is a range. Its JSON is [start, end].
type span sheaf.Span

func (s span) MarshalJSON() ([]byte, error) { return json.Marshal([2]int{s.Start, s.End}) }

// orEmpty returns an empty slice for nil, so that JSON has [] instead of null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// largestFirst returns the keys of sizes, sorted by size from large to small.
func largestFirst[N cmp.Ordered](sizes map[string]N) []string {
	return slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
}

// counted lists each count above 0 with its noun, for example "3 files, 1 folder". If all are 0, it returns none.
func counted(none string, counts ...count) string {
	var out []string
	for _, c := range counts {
		if c.n > 0 {
			out = append(out, wording.Count(c.n)+" "+c.noun)
		}
	}
	return cmp.Or(strings.Join(out, ", "), none)
}

type count struct {
	n    int
	noun string
}

// printTable prints rows in columns as wide as their widest cells, with two spaces between columns.
func (a *app) printTable(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-displayWidth(cell)+2))
			}
		}
		fmt.Fprintln(a.stdout, strings.TrimRight(b.String(), " "))
	}
}

// displayWidth returns how many terminal columns a text takes. It ignores escape sequences of this program.
func displayWidth(s string) int {
	width := 0
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		width += uniseg.StringWidth(before)
		if !found {
			return width
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
