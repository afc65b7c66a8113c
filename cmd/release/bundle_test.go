package main

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestBundleStarts checks the bundle for this machine. It unpacks the bundle as an assistant does, starts the
// manifest's server over the user's folder, and searches.
func TestBundleStarts(t *testing.T) {
	must.Whole(t, "builds the program")
	t.Setenv("SOURCE_DATE_EPOCH", "1767323045")
	dir, home := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "sheaf")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, "../sheaf").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	must.Do(t, os.Mkdir(filepath.Join(dir, "share"), 0o755))
	for _, name := range []string{"LICENSE", "NOTICE.md"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, "share", name), nil, 0o644))
	}
	must.Do(t, makeBundle(build{"1.2.3", runtime.GOOS, runtime.GOARCH}, program, dir))
	unpacked := filepath.Join(home, "bundle")
	names := unzip(t, filepath.Join(dir, "sheaf-1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH+".mcpb"), unpacked)
	want := []string{"manifest.json", "server/" + filepath.Base(program), "LICENSE", "NOTICE.md"}
	check.List(t, names, want, "files")
	text := must.Get(os.ReadFile(filepath.Join(unpacked, "manifest.json")))
	var m struct {
		Version string
		Server  struct {
			Config struct {
				Command string
				Args    []string
			} `json:"mcp_config"`
		}
		Tools         []struct{ Name string }
		Compatibility struct{ Platforms []string }
	}
	must.Do(t, json.Unmarshal(text, &m))
	system := strings.Replace(runtime.GOOS, "windows", "win32", 1)
	check.That(t, m.Version == "1.2.3" && slices.Equal(m.Compatibility.Platforms, []string{system}),
		"version %q for %q, want 1.2.3 for %s", m.Version, m.Compatibility.Platforms, system)
	folder := filepath.Join(home, "my notes")
	must.Do(t, os.Mkdir(folder, 0o755))
	note := "# Undo a commit\n\nUse reset.\n"
	must.Do(t, os.WriteFile(filepath.Join(folder, "git.md"), []byte(note), 0o644))
	fill := strings.NewReplacer("${__dirname}", unpacked, "${user_config.folder}", folder).Replace
	command := exec.CommandContext(t.Context(), filepath.FromSlash(fill(m.Server.Config.Command)))
	for _, arg := range m.Server.Config.Args {
		command.Args = append(command.Args, fill(arg))
	}
	command.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home,
		"XDG_CONFIG_HOME="+home, "LOCALAPPDATA="+home, "APPDATA="+home)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), &sdk.CommandTransport{Command: command}, nil))
	defer session.Close()
	list := must.Get(session.ListTools(t.Context(), nil))
	var served, named []string
	for _, tool := range list.Tools {
		served = append(served, tool.Name)
	}
	for _, tool := range m.Tools {
		named = append(named, tool.Name)
	}
	slices.Sort(served)
	slices.Sort(named)
	check.That(t, slices.Equal(served, named), "the server has the tools %q, the manifest names %q", served, named)
	answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search",
		Arguments: map[string]any{"query": "undo a commit"}})
	must.That(t, err == nil && !answer.IsError, "%v %v", answer, err)
	structured, _ := json.Marshal(answer.StructuredContent)
	check.That(t, strings.Contains(string(structured), "git.md"), "answer %s", structured)
}

// unzip unpacks an archive into dir, with the modes of its files, and returns their names in order.
func unzip(t *testing.T, name, dir string) (names []string) {
	t.Helper()
	archive := must.Get(zip.OpenReader(name))
	defer archive.Close()
	for _, entry := range archive.File {
		names = append(names, entry.Name)
		to := filepath.Join(dir, filepath.FromSlash(entry.Name))
		must.Do(t, os.MkdirAll(filepath.Dir(to), 0o755))
		from := must.Get(entry.Open())
		content := must.Get(io.ReadAll(from))
		must.Do(t, os.WriteFile(to, content, entry.Mode()))
	}
	return names
}
