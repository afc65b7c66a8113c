package assistant_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/cmd/sheaf/internal/assistant"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

var server = assistant.Server{Name: "sheaf", Command: "/usr/bin/sheaf", Args: []string{"mcp", "--in", `/home/a "b"\c`}}

func find(t *testing.T, p assistant.Places, name string) assistant.Assistant {
	t.Helper()
	for _, a := range assistant.All(p) {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("there is no assistant %s", name)
	return assistant.Assistant{}
}

func places(t *testing.T) assistant.Places {
	dir := t.TempDir()
	return assistant.PlacesOn("linux", filepath.Join(dir, "home"), filepath.Join(dir, "project"), func(string) string {
		return ""
	})
}

// TestConfigurationPaths checks the paths of files on each system. Claude Desktop is in the system's settings, or in
// a package folder on Windows. Zed and Devin Desktop on macOS have the same place as on Linux.
func TestConfigurationPaths(t *testing.T) {
	home := t.TempDir()
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	packaged := filepath.Join(home, "AppData", "Local", "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming",
		"Claude")
	for _, c := range []struct {
		system     string
		env        func(string) string
		name, want string
	}{
		{"linux", env(), "claude-desktop", ".config/Claude/claude_desktop_config.json"},
		{"linux", env("XDG_CONFIG_HOME", filepath.Join(home, "own")), "claude-desktop",
			"own/Claude/claude_desktop_config.json"},
		{"linux", env("XDG_CONFIG_HOME", filepath.Join(home, "own")), "zed", "own/zed/settings.json"},
		{"darwin", env("XDG_CONFIG_HOME", filepath.Join(home, "own")), "claude-desktop", "Library/Application " +
			"Support/Claude/claude_desktop_config.json"},
		{"darwin", env(), "zed", ".config/zed/settings.json"},
		{"windows", env(), "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"},
		{"windows", env("APPDATA", filepath.Join(home, "moved")), "claude-desktop",
			"moved/Claude/claude_desktop_config.json"},
		{"windows", env(), "zed", "AppData/Roaming/zed/settings.json"},
		{"darwin", env(), "devin", ".config/devin/mcp_config.json"},
		{"windows", env(), "devin", "AppData/Roaming/devin/mcp_config.json"},
		{"linux", env(), "antigravity", ".gemini/config/mcp_config.json"},
		{"linux", env("CODEX_HOME", filepath.Join(home, "cx")), "codex", "cx/config.toml"},
		{"linux", env(), "codex", ".codex/config.toml"},
		{"packaged", env(), "claude-desktop",
			"AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json"},
	} {
		if c.system == "packaged" {
			c.system = "windows"
			must.Do(t, os.MkdirAll(packaged, 0o755))
		}
		check.Equal(t, find(t, assistant.PlacesOn(c.system, home, "project", c.env), c.name).File, filepath.Join(home,
			filepath.FromSlash(c.want)), "file of %s on %s", c.name, c.system)
	}
	p := assistant.PlacesOn("linux", home, "project", env("CLAUDE_CONFIG_DIR", filepath.Join(home, "cc")))
	must.Do(t, os.Mkdir(filepath.Join(home, "cc"), 0o755))
	a := find(t, p, "claude-code")
	check.That(t, a.Present() && a.File == filepath.Join("project", ".mcp.json"), "%+v", a)
}

// again is an entry that replaces an earlier one.
var again = assistant.Server{Name: "sheaf", Command: "/usr/bin/sheaf", Args: []string{"mcp"}}

// TestLayout checks that new text has the layout of its neighbors, and that all other text keeps
// its place.
func TestLayout(t *testing.T) {
	const entry = `"sheaf": {"command": "/usr/bin/sheaf", "args": ["mcp"]}`
	for _, c := range []struct{ before, want string }{
		{"", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
		{"{\n\t\"a\": 1, // one\n}\n", "{\n\t\"a\": 1, // one\n\t\"mcpServers\": {\n\t\t" + entry + "\n\t},\n}\n"},
		{"{\r\n \"a\": 1\r\n}\r\n", "{\r\n \"a\": 1,\r\n \"mcpServers\": {\r\n  " + entry + "\r\n }\r\n}\r\n"},
		{"{\n  \"mcpServers\": {}\n}", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}"},
		{`{"mcpServers": {"x": {}}}`, `{"mcpServers": {"x": {}, ` + entry + `}}`},
		{`{"mcpServers": {"sheaf": {"url": "x"}}}`, `{"mcpServers": {` + entry + `}}`},
		{"{\n  \"mcpServers\": {\n    \"sheaf\": {\n      \"command\": \"old\", // mine\n      \"env\": {},\n    },\n" +
			"  },\n}\n",
			"{\n  \"mcpServers\": {\n    \"sheaf\": {\n      \"command\": \"/usr/bin/sheaf\", // mine\n      \"env\": {},\n" +
				"      \"args\": [\"mcp\"],\n    },\n  },\n}\n"},
		{"{\n   // mine\n   \"mcpServers\": {\n      \"x\": {\"command\": \"y\"} // keep\n   }, // behind\n" +
			"   \"n\": 1.50\n}\n",
			"{\n   // mine\n   \"mcpServers\": {\n      \"x\": {\"command\": \"y\"}, // keep\n      " + entry +
				"\n   }, // behind\n   \"n\": 1.50\n}\n"},
		{"{}\n// end", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n// end"},
		{"\ufeff", "\ufeff{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
	} {
		edited(t, "cursor", c.before, c.want, func(a assistant.Assistant) (*assistant.Change, error) { return a.Add(again) })
	}
	for _, c := range []struct{ before, want string }{ // a comment that belongs to the entry goes with it
		{"{\"mcpServers\": {\n  // of x\n  \"x\": {}, // too\n\n  // of sheaf\n  \"sheaf\": {} // too\n}}",
			"{\"mcpServers\": {\n  // of x\n  \"x\": {} // too\n\n  }}"},
		{"{\"mcpServers\": {\r\n  \"sheaf\": {},\r\n  \"x\": {} // of x\r\n}}\r\n",
			"{\"mcpServers\": {\r\n  \"x\": {} // of x\r\n}}\r\n"},
		{`{"mcpServers": {"x": {}, "sheaf": {}, "y": {}}}`, `{"mcpServers": {"x": {}, "y": {}}}`},
		{`{"mcpServers": {"sheaf": {}}}`, `{"mcpServers": {}}`},
	} {
		edited(t, "cursor", c.before, c.want, func(a assistant.Assistant) (*assistant.Change, error) {
			return a.Remove("sheaf")
		})
	}
}

// edited makes a change of an assistant's file with the content before, and compares it with want.
func edited(t *testing.T, name, before, want string, change func(assistant.Assistant) (*assistant.Change, error)) {
	t.Helper()
	a := find(t, places(t), name)
	put(t, a.File, before)
	c, err := change(a)
	if err == nil {
		err = c.Write()
	}
	must.That(t, err == nil, "%q: %v", before, err)
	got, err := os.ReadFile(a.File)
	check.That(t, err == nil && string(got) == want, "%s\nbecomes\n%s\nwant\n%s", before, got, want)
}

// TestTOML checks that an entry is changed and removed in any position, and that its other settings stay. Comments
// outside stay, and so do texts that look like tables.
func TestTOML(t *testing.T) {
	const entry = "[mcp_servers.sheaf]\nargs = [\"mcp\"]\ncommand = \"/usr/bin/sheaf\"\n"
	const tricky = "note = \"\"\"\n[mcp_servers.sheaf]\n\"\"\"\nlist = [\n  [1],\n]\n"
	for _, c := range []struct{ before, added, removed string }{
		{"a = 1\n", "a = 1\n\n" + entry, "a = 1\n"},
		{"[b]\r\nc = 1\r\n", "[b]\r\nc = 1\r\n\r\n" + strings.ReplaceAll(entry, "\n", "\r\n"), "[b]\r\nc = 1\r\n"},
		{tricky, tricky + "\n" + entry, tricky},
		{tricky + "\n# of sheaf\n[ mcp_servers . \"sheaf\" ] # here\ncommand = \"x\"\nargs = [\n  [\"y\"],\n]\n" +
			"timeout = 20\n\n[mcp_servers.sheaf.env]\nA = '1'\n# behind\n\n# of b\n[b]\nc = 1\n",
			tricky + "\n# of sheaf\n" + entry + "timeout = 20\n[mcp_servers.sheaf.env]\nA = \"1\"\n# behind\n\n# of b\n[b]\n" +
				"c = 1\n", tricky + "\n# of sheaf\n# behind\n\n# of b\n[b]\nc = 1\n"},
		{"[mcp_servers.sheaf]\nurl = \"http://x\"\n", entry, ""},
		{"[mcp_servers]\n\n[mcp_servers.sheaf]\n", "[mcp_servers]\n\n" + entry, "[mcp_servers]\n"},
		{"[a]\n\n[mcp_servers.sheaf]\ncommand = \"x\"", "[a]\n\n" + entry, "[a]\n"},
	} {
		edited(t, "codex", c.before, c.added, func(a assistant.Assistant) (*assistant.Change, error) { return a.Add(again) })
		edited(t, "codex", c.before, c.removed, func(a assistant.Assistant) (*assistant.Change, error) {
			return a.Remove("sheaf")
		})
	}
	for text, want := range map[string]string{
		"a = \n": "line 1",
		"mcp_servers = {sheaf = {command = \"x\"}}\n":        "mcp_servers are not tables",
		"[mcp_servers]\nsheaf = {command = \"x\"}\n":         "has no table",
		"mcp_servers.sheaf.command = \"x\"\n":                "mcp_servers are not tables",
		"[mcp_servers.sheaf.env]\nA = \"1\"\n[b]\n":          "has no table",
		"mcp_servers = {other = {command = \"x\"}}\nb = 1\n": "by hand",
	} {
		a := find(t, places(t), "codex")
		put(t, a.File, text)
		if c, err := a.Add(server); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is changed: %+v, %v, want %s", text, c, err, want)
		}
	}
	// Removing would leave a part of the entry elsewhere, and Codex cannot start such a part.
	for _, other := range []string{"", "[mcp_servers.z]\ncommand = \"z\"\n"} {
		for _, text := range []string{"[mcp_servers.sheaf.env]\nA = \"1\"\n[mcp_servers.sheaf]\ncommand = \"x\"\n",
			"[mcp_servers.sheaf]\ncommand = \"x\"\n[b]\n[mcp_servers.sheaf.env]\nA = \"1\"\n"} {
			a := find(t, places(t), "codex")
			put(t, a.File, text+other)
			if c, err := a.Remove("sheaf"); err == nil || !strings.Contains(err.Error(), "by hand") {
				t.Errorf("%q loses a part of its entry: %+v, %v", text+other, c, err)
			}
		}
	}
}

// put writes a file and makes its folder.
func put(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
}

// TestLinks checks that a link to a file elsewhere stays a link, even while that file does not
// exist.
func TestLinks(t *testing.T) {
	a := find(t, places(t), "cursor")
	kept := filepath.Join(t.TempDir(), "mcp.json")
	must.Do(t, os.MkdirAll(filepath.Dir(a.File), 0o755))
	if err := os.Symlink(kept, a.File); err != nil {
		t.Skip(err)
	}
	c, err := a.Add(server)
	must.Do(t, err)
	if err := c.Write(); err == nil || !strings.Contains(err.Error(), "a link to a file that does not exist") {
		t.Errorf("written: %v", err)
	}
	put(t, kept, "{}")
	if c, err = a.Add(server); err == nil {
		err = c.Write()
	}
	info, missing := os.Lstat(a.File)
	check.That(t, err == nil && missing == nil && info.Mode()&os.ModeSymlink != 0, "%v, %v, %v", err, info, missing)
	text, err := os.ReadFile(kept)
	check.That(t, err == nil && strings.Contains(string(text), server.Command), "%s, %v", text, err)
}

// TestConcurrentChangeIsKept checks that a change by another program during confirmation is not lost.
func TestConcurrentChangeIsKept(t *testing.T) {
	for name, before := range map[string]string{"a file": `{"mcpServers": {}}`, "none": ""} {
		cursor := find(t, places(t), "cursor")
		file := cursor.File
		if before != "" {
			put(t, file, before)
		}
		change := must.Get(cursor.Add(server))
		const theirs = `{"mcpServers": {"theirs": {"command": "x"}}}`
		put(t, file, theirs)
		err := change.Write()
		check.Fails(t, err, sheaf.ErrInvalid, "another program changed", "%s", name)
		content, err := os.ReadFile(file)
		check.That(t, string(content) == theirs, "%s became %s, %v", name, content, err)
	}
}

// TestRefusedFileStaysUnchanged checks that an invalid file stays unchanged. So does a file with two
// members of one name, because it is unknown which of them a program reads.
func TestRefusedFileStaysUnchanged(t *testing.T) {
	for text, want := range map[string]string{
		"{": "cannot be read", "[]": "not a JSON object", `{"mcpServers": 5}`: "not an object", "{} {}": "cannot be read",
		"{\"mcpServers\": {\n\"sheaf\": 1,\n\"x\": {},\n\"she\\u0061f\": 2}}": `called "sheaf", in lines 2 and 4`,
		"\ufeff{\"mcpServers\": {},\n\n\"mcpServers\": {}}":                   `called "mcpServers", in lines 1 and 3`,
	} {
		a := find(t, places(t), "cursor")
		put(t, a.File, text)
		c, err := a.Add(server)
		check.That(t, err != nil && strings.Contains(err.Error(), want), "%q: %+v, %v, want %s", text, c, err, want)
	}
}

// TestHidesSecrets checks that secrets of an entry are hidden in output and kept in the file.
func TestHidesSecrets(t *testing.T) {
	for name, before := range map[string]string{
		"cursor": `{"mcpServers": {"sheaf": {"command": "old", "env": {"KEY": "s3cret"}, "headers": {"A": ["s3cret"]}}}}`,
		"zed":    `{"context_servers": {"sheaf": {"command": {"path": "old", "env": {"KEY": "s3cret"}}}}}`,
		"codex": "[mcp_servers.sheaf]\ncommand = \"old\"\nargs = []\nenv = { KEY = 's3cret' " +
			"}\n\n[mcp_servers.sheaf.http_headers]\nA = \"\"\"\ns3cret\"\"\"\n",
	} {
		a := find(t, places(t), name)
		put(t, a.File, before)
		add := must.Get(a.Add(server))
		remove := must.Get(a.Remove("sheaf"))
		before, entry := add.Shown()
		gone, _ := remove.Shown()
		for _, shown := range []string{before, entry, gone} {
			check.That(t, !strings.Contains(shown, "s3cret") && (strings.Contains(shown, "old") || strings.Contains(shown,
				server.Command)), "%s shows %s", name, shown)
		}
		must.Do(t, add.Write())
		if text, err := os.ReadFile(a.File); err != nil || name != "zed" && !strings.Contains(string(text), "s3cret") {
			t.Errorf("%s: the file is %s, %v", name, text, err)
		}
	}
}
