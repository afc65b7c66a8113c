package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rogpeppe/go-internal/testscript"
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

// callTool runs "tool FOLDER NAME ARGUMENTS [FILE]": it starts "sheaf mcp" as an assistant does,
// with a client library that other people wrote. It calls a tool with JSON arguments and prints the
// text of the answer. The prefix "error: " marks an error. With FILE, it saves FILE in the folder
// after the first call, then repeats the call until the answer changes, for at most ten seconds.
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
