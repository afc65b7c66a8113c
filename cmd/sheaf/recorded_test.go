package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"sheaf/internal/must"
)

var updateRecorded = flag.Bool("update-recorded", false, "write the answers of testdata/recorded again")

// TestRecorded asks the real program the questions of testdata/recorded and compares the answers
// with the recorded ones. The folder is examples/notes with testdata/recorded/extra. The test masks
// times, ids, versions, ports and names of temporary folders.
//
// A question is a line that begins with "$ ", followed by lines that begin with "> ". Its answer
// follows, indented by two spaces. To record new answers: go test ./cmd/sheaf -run TestRecorded
// -update-recorded, then read the difference.
func TestRecorded(t *testing.T) {
	must.Whole(t, "runs without the race detector")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("scores are recorded on linux/amd64")
	}
	files := must.Get(filepath.Glob(filepath.Join("testdata", "recorded", "*.txt")))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRecorder(t)
			door, _, _ := strings.Cut(name, "_")
			ask := map[string]func(question) string{"http": r.request, "mcp": r.tool, "protocol": r.message}[door]
			r.compare(file, func(q question) string {
				if ask == nil || strings.HasPrefix(q.line, "sheaf ") {
					return r.command(q)
				}
				return ask(q)
			})
		})
	}
}

// question is one question of a recording, with its answer.
type question struct {
	line   string   // after "$ "
	more   []string // after "> "
	answer string
}

// recorder asks one running program about one folder.
type recorder struct {
	t       *testing.T
	work    string // holds the folder "notes" and the program's own folders
	env     []string
	address string // of sheaf serve; empty until the first request
	keys    map[string]string
	saved   map[string]string // parts of earlier HTTP answers, for later questions
	mcp     *client.Client
	sent    io.Writer     // standard input of sheaf mcp; nil before the first message
	came    *bufio.Reader // standard output of sheaf mcp
}

func newRecorder(t *testing.T) *recorder {
	work := t.TempDir()
	notes := filepath.Join(work, "notes")
	for _, from := range []string{
		filepath.Join("..", "..", "examples", "notes"), filepath.Join("testdata", "recorded", "extra"),
	} {
		must.Do(t, os.CopyFS(notes, os.DirFS(from)))
	}
	saved := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	must.Do(t, filepath.WalkDir(work, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, saved, saved)
	}))
	r := &recorder{t: t, work: work, keys: map[string]string{}, saved: map[string]string{}}
	for _, name := range []string{"PATH", "TMPDIR"} {
		r.env = append(r.env, name+"="+os.Getenv(name))
	}
	r.env = append(r.env, "HOME="+work, "TZ=UTC", "LC_ALL=C.UTF-8", "NO_COLOR=1")
	for _, name := range []string{"DATA", "CONFIG", "STATE", "CACHE"} {
		r.env = append(r.env, "XDG_"+name+"_HOME="+filepath.Join(work, ".home", strings.ToLower(name)))
	}
	return r
}

// compare asks every question of a file and compares the answers.
func (r *recorder) compare(file string, ask func(question) string) {
	content := must.Get(os.ReadFile(file))
	list := questions(string(content))
	if len(list) == 0 {
		r.t.Fatalf("%s has no questions", file)
	}
	var written strings.Builder
	for _, q := range list {
		answer := mask(ask(q), r.work)
		if !*updateRecorded && answer != q.answer {
			r.t.Errorf("%s: the answer to %q changed\nrecorded:\n%s\nnow:\n%s", file, q.line, q.answer, answer)
		}
		fmt.Fprintf(&written, "$ %s\n", q.line)
		for _, line := range q.more {
			fmt.Fprintf(&written, "> %s\n", line)
		}
		fmt.Fprintf(&written, "%s\n", indented(answer))
	}
	if *updateRecorded {
		must.Do(r.t, os.WriteFile(file, []byte(written.String()), 0o644))
	}
}

// indented puts two spaces before each line.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// questions reads a recording.
func questions(content string) []question {
	var list []question
	for line := range strings.Lines(content) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, question{line: text})
			continue
		}
		if len(list) == 0 {
			continue
		}
		last := &list[len(list)-1]
		if text, ok := strings.CutPrefix(line, "> "); ok {
			last.more = append(last.more, text)
		} else if text, ok := strings.CutPrefix(line, "  "); ok {
			last.answer += text + "\n"
		}
	}
	return list
}

// masks replace text that differs between two runs of one program.
var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`, [\d.]+ [kM]?B/s`), ""},
	{regexp.MustCompile(`\bin (\d+m)?\d+(\.\d+)?(ns|µs|ms|s)\b`), "in TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ns|µs|ms)\b`), "TIME"},
	{regexp.MustCompile(`("[a-z_]*(took|_ms|seconds|elapsed|uptime)[a-z_]*": ?)[\d.e-]+`), "${1}TIME"},
	{regexp.MustCompile(`"generation": ?\d+`), `"generation": NUMBER`},
	{regexp.MustCompile(`"next": ?"[\w-]{22}"`), `"next": "CURSOR"`},
	{regexp.MustCompile(`("(created|ended|revoked|watched)": ?)"20[\dT:.-]+(Z?)`), `${1}"MOMENT$3`},
	{regexp.MustCompile(`(last looked for at )20[\dT:-]+`), "${1}MOMENT"},
	// Dates of notes are whole minutes.
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:(\d\d\.\d+|0[1-9]|[1-5]\d)(Z?)`), "MOMENT$2"},
	{regexp.MustCompile(`on disk .*`), "on disk SIZES"},
	{regexp.MustCompile(`("(catalog|codes|columns|ids|positions|postings|ranks|scales|terms)": ?)\d+`), "${1}SIZE"},
	{regexp.MustCompile(`("source_bytes": ?\d+,\s*"bytes": ?)\d+`), "${1}SIZE"},
	{regexp.MustCompile(`("documents": ?)\d+(,\s*"firsts")`), "${1}SIZE$2"},
	{regexp.MustCompile(`[\d.]+ age in years`), "AGE age in years"},
	{regexp.MustCompile(`(key \w+ )\([a-z0-9]{8}\)`), "${1}(ID)"},
	{regexp.MustCompile(`((?:notes|own)[-_])[0-9a-f]{16}`), "${1}HASH"},
	{regexp.MustCompile(`\b\d+\.seg:`), "NUMBER.seg:"},
	{regexp.MustCompile(`(?m)^[a-z0-9]{8}(  ann   )`), "ID      $1"},
	{regexp.MustCompile(`("filter":"","id":)"[a-z0-9]{8}"`), `${1}"ID"`},
	{regexp.MustCompile(`revoked 20\d\d-\d\d-\d\d \d\d:\d\d`), "revoked MOMENT"},
	{regexp.MustCompile(`(Traceparent: 00-[0-9a-f]{32}-)[0-9a-f]{16}`), "${1}SPAN"},
	{regexp.MustCompile(`;dur=[\d.]+`), ";dur=TIME"},
	{regexp.MustCompile(`ETag: W/"[0-9a-f]{16}"`), `ETag: W/"HASH"`}, // a hash of text for programmers
	{regexp.MustCompile(`sheaf_\w+\{operation="ready",status="503"\} VALUE\n`), ""},
}

// mask also replaces the name of the temporary folder in paths.
func mask(answer, work string) string {
	answer = strings.ReplaceAll(answer, work, "WORK")
	for _, m := range masks {
		answer = m.pattern.ReplaceAllString(answer, m.by)
	}
	if answer != "" && !strings.HasSuffix(answer, "\n") {
		answer += "\n"
	}
	return answer
}

// command runs a shell line in the folder of notes. Lines after "> " are its input.
func (r *recorder) command(q question) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", q.line)
	cmd.Dir, cmd.Env = filepath.Join(r.work, "notes"), r.env
	cmd.Stdin = strings.NewReader(strings.Join(append(q.more, ""), "\n"))
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	_ = cmd.Run() // the output has the exit status
	text := out.String()
	if name, key, ok := r.newKey(q.line, text); ok {
		r.keys[name] = key
		text = strings.ReplaceAll(text, key, "KEY")
	}
	if messages.Len() > 0 {
		text += "-- standard error --\n" + messages.String()
	}
	return fmt.Sprintf("exit %d\n%s", cmd.ProcessState.ExitCode(), text)
}

var addsKey = regexp.MustCompile(`^sheaf key add (\w+)`)

// newKey finds the key that a command made.
func (r *recorder) newKey(line, out string) (name, key string, ok bool) {
	m := addsKey.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	for word := range strings.FieldsSeq(out) {
		if strings.HasPrefix(word, "sheaf_") {
			return m[1], word, true
		}
	}
	return "", "", false
}

// serve starts the server on a free port and waits until it is ready.
func (r *recorder) serve() {
	cmd := exec.Command("sheaf", "serve", "--addr", "127.0.0.1:0", "--no-watch")
	cmd.Dir, cmd.Env = filepath.Join(r.work, "notes"), r.env
	out := must.Get(cmd.StdoutPipe())
	must.Do(r.t, cmd.Start())
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		r.t.Fatalf("sheaf serve gives no address: %v", err)
	}
	r.address = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		answer := must.Get(http.Get(r.address + "/readyz"))
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return
		}
	}
	r.t.Fatal("sheaf serve is not ready after a minute")
}

// shownHeaders are the recorded headers of an answer.
var shownHeaders = []string{
	"Accept-Encoding", "Access-Control-Allow-Origin", "Allow", "Cache-Control", "Content-Encoding",
	"Content-Security-Policy", "Content-Type", "ETag", "Location", "Retry-After", "Vary", "WWW-Authenticate",
	"X-Content-Type-Options", "X-Request-Id",
}

// request sends "METHOD PATH" to the server. Lines after "> " are headers ("Name: value"), then the body. "@NAME"
// before the method sends the key called NAME. Two headers are not sent: "Show: NAME" records another header, "Await:
// TEXT" repeats the request until TEXT appears. fill replaces text in double braces.
func (r *recorder) request(q question) string {
	if r.address == "" {
		r.serve()
	}
	line, key := q.line, ""
	if name, rest, ok := strings.Cut(line, " "); ok && strings.HasPrefix(name, "@") {
		line, key = rest, r.keys[name[1:]]
	}
	method, path, _ := strings.Cut(r.fill(line), " ")
	headers, body := http.Header{}, []string{}
	for _, line := range q.more {
		line = r.fill(line)
		name, value, ok := strings.Cut(line, ": ")
		if ok && len(body) == 0 && !strings.ContainsAny(name, `{"[ `) {
			headers.Add(name, value)
			continue
		}
		body = append(body, line)
	}
	ask := must.Get(http.NewRequest(method, r.address+path, strings.NewReader(strings.Join(body, "\n"))))
	ask.Header = headers
	if host := headers.Get("Host"); host != "" {
		ask.Host = host
	}
	if len(body) > 0 && headers.Get("Content-Type") == "" {
		ask.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		ask.Header.Set("Authorization", "Bearer "+key)
	}
	ask.Header.Set("X-Request-Id", "recorded")
	shown, await := append(headers.Values("Show"), shownHeaders...), headers.Get("Await")
	headers.Del("Show")
	headers.Del("Await")
	answer, content, err := exchange(ask)
	for deadline := time.Now().Add(20 * time.Second); err == nil && !strings.Contains(string(content), await); {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: the answer never has %q", q.line, await)
		}
		time.Sleep(10 * time.Millisecond)
		answer, content, err = exchange(ask)
	}
	if err != nil {
		return err.Error()
	}
	r.save(answer.Header, content)
	var b strings.Builder
	fmt.Fprintln(&b, answer.Status)
	for _, name := range shown {
		for _, value := range answer.Header.Values(name) {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	switch {
	case path == "/metrics":
		b.WriteString(bucket.ReplaceAllString(sample.ReplaceAllString(string(content), "$1 VALUE"), "$1 "))
	case path == "/openapi.json" && answer.StatusCode == http.StatusOK:
		b.WriteString(interfaceOf(r.t, content))
	default:
		b.WriteString(laidOut(content))
	}
	if task := r.saved["task"]; task != "" {
		return strings.ReplaceAll(b.String(), task, "TASK")
	}
	return b.String()
}

// exchange sends a request and reads the answer. Only a request without a body can be sent again.
func exchange(ask *http.Request) (*http.Response, []byte, error) {
	answer, err := http.DefaultTransport.RoundTrip(ask)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	content, err := readAnswer(answer)
	return answer, content, err
}

// readAnswer reads the body of an answer. It unzips the body if the request asked for gzip.
func readAnswer(answer *http.Response) ([]byte, error) {
	if answer.Header.Get("Content-Encoding") != "gzip" || answer.Request.Method == http.MethodHead {
		return io.ReadAll(answer.Body)
	}
	unzipped, err := gzip.NewReader(answer.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzipped)
}

// sample is a line of metrics with its value.
var sample = regexp.MustCompile(`(?m)^([a-z_]+(?:\{[^}]*\})?) [\d.e+-]+$`)

// bucket joins a line of a histogram's bucket with the next one of the same labels.
var bucket = regexp.MustCompile(`(le="[\d.]+")\} VALUE\n\w+_bucket\{[^}]*,`)

// save keeps the ETag, the next cursor and the last task for later questions.
func (r *recorder) save(header http.Header, content []byte) {
	var answer struct {
		Next string
		Task struct{ ID string }
	}
	_ = json.Unmarshal(content, &answer) // other answers have none of these
	for name, value := range map[string]string{"etag": header.Get("ETag"), "next": answer.Next, "task": answer.Task.ID} {
		if value != "" {
			r.saved[name] = value
		}
	}
}

// braces matches "{{NAME}}" and "{{TEXT x NUMBER}}".
var braces = regexp.MustCompile(`\{\{(.+?)(?: x (\d+))?\}\}`)

// fill replaces {{etag}}, {{next}} and {{task}} with values of an earlier answer. It replaces
// {{TEXT x NUMBER}} with NUMBER repetitions of TEXT.
func (r *recorder) fill(line string) string {
	return braces.ReplaceAllStringFunc(line, func(found string) string {
		m := braces.FindStringSubmatch(found)
		if times, err := strconv.Atoi(m[2]); err == nil {
			return strings.Repeat(m[1], times)
		}
		if value, ok := r.saved[m[1]]; ok {
			return value
		}
		return found
	})
}

// laidOut writes JSON with one value per line. It returns other text unchanged.
func laidOut(content []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, content, "", " ") != nil {
		return string(content)
	}
	return b.String()
}

// tool calls a tool of sheaf mcp: "NAME {arguments}".
func (r *recorder) tool(q question) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if r.mcp == nil {
		r.mcp = r.assistant(ctx)
	}
	name, text, _ := strings.Cut(q.line, " ")
	var arguments map[string]any
	if err := json.Unmarshal([]byte(text), &arguments); err != nil {
		r.t.Fatalf("%s: %v", q.line, err)
	}
	ask := mcp.CallToolRequest{}
	ask.Params.Name, ask.Params.Arguments = name, arguments
	answer, err := r.mcp.CallTool(ctx, ask)
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	if answer.IsError {
		b.WriteString("error: ")
	}
	for _, part := range answer.Content {
		if text, ok := part.(mcp.TextContent); ok {
			b.WriteString(text.Text + "\n")
			continue
		}
		other, err := json.Marshal(part) // such as a link to a resource
		must.Do(r.t, err)
		fmt.Fprintf(&b, "%s\n", other)
	}
	if answer.StructuredContent != nil {
		structured := must.Get(json.MarshalIndent(answer.StructuredContent, "", " "))
		fmt.Fprintf(&b, "-- structured --\n%s\n", structured)
	}
	return b.String()
}

// message sends a line to sheaf mcp unchanged. If the message has an id, it reads one line as the answer.
func (r *recorder) message(q question) string {
	if r.sent == nil {
		r.converse()
	}
	if _, err := io.WriteString(r.sent, r.fill(q.line)+"\n"); err != nil {
		return "error: " + err.Error()
	}
	if strings.Contains(q.line, `"method": "notifications/`) {
		return ""
	}
	line, err := r.came.ReadString('\n')
	if err != nil {
		return "error: " + err.Error()
	}
	return laidOut([]byte(line))
}

// converse starts sheaf mcp and ends it after a minute.
func (r *recorder) converse() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, "sheaf", "mcp")
	cmd.Dir, cmd.Env = filepath.Join(r.work, "notes"), r.env
	in := must.Get(cmd.StdinPipe())
	out := must.Get(cmd.StdoutPipe())
	must.Do(r.t, cmd.Start())
	r.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		cancel()
	})
	r.sent, r.came = in, bufio.NewReader(out)
}

// assistant starts sheaf mcp with a client that other people wrote.
func (r *recorder) assistant(ctx context.Context) *client.Client {
	program := must.Get(exec.LookPath("sheaf"))
	c := must.Get(newAssistant(ctx, program, r.env, "--in", filepath.Join(r.work, "notes")))
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// interfaceOf returns an OpenAPI document without prose, one short part on a line.
func interfaceOf(t *testing.T, content []byte) string {
	var api map[string]any
	must.Do(t, json.Unmarshal(content, &api))
	var b strings.Builder
	writePart(&b, "", withoutProse(api))
	return b.String()
}

// withoutProse returns a part of an OpenAPI document without texts for programmers. It only mentions patterns.
func withoutProse(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = withoutProse(value[i])
		}
	case map[string]any:
		for name, member := range value {
			_, isText := member.(string)
			switch {
			case isText && name == "pattern":
				value[name] = true
			case name == "example", name == "examples",
				isText && slices.Contains([]string{"description", "title", "summary"}, name):
				delete(value, name)
			default:
				value[name] = withoutProse(member)
			}
		}
	}
	return value
}

// writePart writes a value as JSON after its name, or the members of a long object.
func writePart(b *strings.Builder, name string, value any) {
	text, err := json.Marshal(value)
	members, ok := value.(map[string]any)
	if err != nil || !ok || len(text) < 100 {
		fmt.Fprintf(b, "%s %s\n", name, text)
		return
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		writePart(b, name+"/"+member, members[member])
	}
}
