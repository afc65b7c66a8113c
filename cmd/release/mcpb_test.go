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
)

// TestBundleStarts unpacks the bundle for this machine as an assistant does, starts the server that its manifest names
// over the folder that the user named, and asks it.
func TestBundleStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir, home := t.TempDir(), t.TempDir()
	src := source{version: "1.2.3", commit: "ab", date: day, home: "https://example.org/you/sheaf"}
	host := target{runtime.GOOS, runtime.GOARCH}
	if err := build(t.Context(), src, host, filepath.Join("..", ".."), host.binary(dir)); err != nil {
		t.Fatal(err)
	}
	if err := makeBundle(src, host, dir, []file{{name: "LICENSE"}, {name: "README.md"}}); err != nil {
		t.Fatal(err)
	}
	unpacked := filepath.Join(home, "bundle")
	names := unzip(t, filepath.Join(dir, "sheaf-1.2.3-"+host.os+"-"+host.arch+".mcpb"), unpacked)
	want := []string{"manifest.json", "server/" + filepath.Base(host.binary(dir)), "LICENSE"}
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	text, err := os.ReadFile(filepath.Join(unpacked, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m bundle
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, "my notes")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	note := "# Undo a commit\n\nUse reset.\n"
	if err := os.WriteFile(filepath.Join(folder, "git.md"), []byte(note), 0o644); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("${__dirname}", unpacked, "${user_config.folder}", folder).Replace
	command := exec.CommandContext(t.Context(), filepath.FromSlash(fill(m.Server.Config.Command)))
	for _, arg := range m.Server.Config.Args {
		command.Args = append(command.Args, fill(arg))
	}
	command.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home,
		"XDG_CONFIG_HOME="+home, "LOCALAPPDATA="+home, "APPDATA="+home)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var served, named []string
	for _, tool := range list.Tools {
		served = append(served, tool.Name)
	}
	for _, tool := range m.Tools {
		named = append(named, tool.Name)
	}
	slices.Sort(served)
	slices.Sort(named)
	if !slices.Equal(served, named) {
		t.Errorf("the server has the tools %q, the manifest names %q", served, named)
	}
	answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search",
		Arguments: map[string]any{"query": "undo a commit"}})
	if err != nil || answer.IsError {
		t.Fatal(answer, err)
	}
	if structured, _ := json.Marshal(answer.StructuredContent); !strings.Contains(string(structured), "git.md") {
		t.Errorf("answer %s", structured)
	}
}

// unzip unpacks an archive into dir, with the modes of its files, and returns their names in order.
func unzip(t *testing.T, name, dir string) (names []string) {
	t.Helper()
	archive, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for _, entry := range archive.File {
		names = append(names, entry.Name)
		to := filepath.Join(dir, filepath.FromSlash(entry.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		from, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, entry.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// TestManifestNamesTheSystem: assistants name systems in their own way.
func TestManifestNamesTheSystem(t *testing.T) {
	for system, want := range map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"} {
		m := manifest(source{version: "1.2.3"}, target{system, "arm64"}, "sheaf.exe")
		got, entry := m.Compatibility.Platforms, m.Server.EntryPoint
		if len(got) != 1 || got[0] != want || entry != "server/sheaf.exe" {
			t.Errorf("%s: %q, %q", system, got, entry)
		}
	}
	for goMod, want := range map[string]string{
		"module sheaf\n":                      "",
		"module example.org/a/b\n\ngo 1.26\n": "https://example.org/a/b",
	} {
		if got := homepage([]byte(goMod)); got != want {
			t.Errorf("%q: %q, want %q", goMod, got, want)
		}
	}
}
