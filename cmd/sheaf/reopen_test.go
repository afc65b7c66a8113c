package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// inAnotherProcess runs a command on an index as another process does.
func inAnotherProcess(t *testing.T, args ...string) {
	t.Helper()
	binary, err := exec.LookPath("sheaf")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func notesFor(t *testing.T) (write func(folder, name, text string), folder, extra, index string) {
	t.Helper()
	root := t.TempDir()
	write = func(folder, name, text string) {
		t.Helper()
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folder, extra = filepath.Join(root, "notes"), filepath.Join(root, "extra")
	write(folder, "a.md", "# A\n\napples in the garden and more of the words\n")
	write(extra, "e.md", "# E\n\nelephants\n")
	return write, folder, extra, filepath.Join(root, "index")
}

// TestServeReopens: a server shows what other processes do to its index: a folder that is
// added stays when it indexes itself, and an index that is made anew in another way is
// opened again.
func TestServeReopens(t *testing.T) {
	write, folder, extra, index := notesFor(t)
	address := serving(t, folder, index)
	found := func(word, name string) {
		t.Helper()
		waitFor(t, address+"/v1/search?query="+word, func(_ int, body string) bool { return strings.Contains(body, name) })
	}
	found("apples", "a.md")
	inAnotherProcess(t, "add", "--in", folder, "--index", index, extra)
	found("elephants", "e.md")
	write(folder, "b.md", "# B\n\nbears\n")
	found("bears", "b.md")
	found("elephants", "e.md")
	for _, how := range [][]string{{"--language", "de"}, {"--chunker", "window", "--language", "en"}} {
		inAnotherProcess(t, append([]string{"index", "--rebuild", "--in", folder, "--index", index}, how...)...)
		found("apples", "a.md")
		name := how[1] + ".md"
		write(folder, name, "# C\n\n"+how[1]+" camels\n")
		found("camels+"+how[1], name)
		status := fmt.Sprintf("%q", how[1])
		if how[1] != "de" {
			status = `"language":"en"`
		}
		waitFor(t, address+"/v1/status", func(_ int, body string) bool { return strings.Contains(body, status) })
	}
}

// TestMCPReopens is the same with an assistant on standard input and output, whose
// connection stays.
func TestMCPReopens(t *testing.T) {
	write, folder, _, index := notesFor(t)
	binary, err := exec.LookPath("sheaf")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewStdioMCPClient(binary, os.Environ(), "mcp", "--in", folder, "--index", index)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := mcp.InitializeRequest{}
	start.Params.ProtocolVersion, start.Params.ClientInfo = mcp.LATEST_PROTOCOL_VERSION, mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(ctx, start); err != nil {
		t.Fatal(err)
	}
	found := func(word, name string) {
		t.Helper()
		ask := mcp.CallToolRequest{}
		ask.Params.Name, ask.Params.Arguments = "search", map[string]any{"query": word}
		for ; ; time.Sleep(20 * time.Millisecond) {
			r, err := c.CallTool(ctx, ask)
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(r.Content); !r.IsError && strings.Contains(text, name) {
				return
			}
		}
	}
	found("apples", "a.md")
	for _, language := range []string{"de", "en"} {
		inAnotherProcess(t, "index", "--rebuild", "--in", folder, "--index", index, "--language", language)
		found("apples", "a.md")
		write(folder, language+".md", "# C\n\n"+language+" camels\n")
		found("camels", language+".md")
	}
}
