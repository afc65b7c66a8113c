package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// newAssistant starts sheaf mcp as an assistant does.
func newAssistant(ctx context.Context, program string, env []string, args ...string) (*client.Client, error) {
	c, err := client.NewStdioMCPClient(program, env, append([]string{"mcp"}, args...)...)
	if err != nil {
		return nil, err
	}
	start := mcp.InitializeRequest{}
	start.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	start.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(ctx, start); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// callTool runs "tool FOLDER NAME ARGUMENTS [FILE]": it starts "sheaf mcp" as an assistant does, with a foreign
// client library. It calls a tool with JSON arguments and prints the text of the answer. The prefix "error: " marks
// an error. With FILE, it saves FILE in the folder after the first call. Then it repeats the call until the answer
// changes, for at most ten seconds.
func callTool(ts *testscript.TestScript, args []string) {
	var arguments map[string]any
	ts.Check(json.Unmarshal([]byte(args[2]), &arguments))
	program, err := lookPath(ts, "sheaf")
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c, err := newAssistant(ctx, program, environment(ts), "--in", ts.MkAbs(args[0]))
	ts.Check(err)
	defer c.Close()
	ask := mcp.CallToolRequest{}
	ask.Params.Name, ask.Params.Arguments = args[1], arguments
	call := func() string {
		r, err := c.CallTool(ctx, ask)
		ts.Check(err)
		var text strings.Builder
		if r.IsError {
			text.WriteString("error: ")
		}
		for _, part := range r.Content {
			if t, ok := part.(mcp.TextContent); ok {
				text.WriteString(t.Text)
			}
		}
		return text.String()
	}
	answer := call()
	if len(args) == 4 {
		content := ts.ReadFile(args[3])
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), filepath.Base(args[3])), []byte(content), 0o644))
		before := answer
		for deadline := time.Now().Add(time.Minute); answer == before &&
			time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			answer = call()
		}
	}
	fmt.Fprintln(ts.Stdout(), answer)
}

// TestEntryNamesLastingPath checks that an entry names a path that stays valid when a package manager
// updates the program. For a program built for one run, it names the program in PATH.
func TestEntryNamesLastingPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	kept, other, link := filepath.Join(dir, "cellar", "1.0", "sheaf"), filepath.Join(dir, "other", "sheaf"),
		filepath.Join(dir, "bin", "sheaf")
	for _, file := range []string{kept, other, link} {
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if file == link {
			err = os.Symlink(kept, link)
		} else {
			err = os.WriteFile(file, nil, 0o755)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	none := func(string) (string, error) { return "", errors.New("not found") }
	in := func(path string) func(string) (string, error) {
		return func(string) (string, error) { return path, nil }
	}
	cached := filepath.Join(dir, strings.Repeat("0a", 32)+"-d", "sheaf")
	run := filepath.Join(dir, "go-build123", "b001", "exe", "sheaf")
	for _, c := range []struct {
		name, program string
		look          func(string) (string, error)
		want          string
		found         bool
	}{
		{"a link to this version", kept, in(link), link, true},
		{"another program", kept, in(other), kept, true},
		{"none in the path", kept, none, kept, true},
		{"built for one run", run, in(other), other, true},
		{"built for one run, and kept in the cache", cached, in(other), other, true},
		{"built for one run, and not installed", run, none, run, false},
		{"a path that is not absolute", run, in("sheaf"), run, false},
	} {
		got, found := lastingProgram(c.program, c.look)
		check.That(t, got == c.want && found == c.found, "%s: %s %v, want %s %v", c.name, got, found, c.want, c.found)
	}
}
