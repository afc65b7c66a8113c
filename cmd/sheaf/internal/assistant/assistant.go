// Package assistant knows where assistants store their lists of MCP servers. It changes an entry of
// a list and leaves all other text of the file unchanged, including comments.
package assistant

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"sheaf"
	"sheaf/index/vfs"
)

// Assistant is a program that starts MCP servers, for example an editor.
type Assistant struct {
	// Name is the word that a user types to choose the assistant. Title is its product name.
	Name, Title string
	// File is the path of the configuration file of the assistant.
	File string
	// sign is a folder that exists only if the assistant is installed. If it is "", the folder of File has this role.
	sign string
	// list is the member of the file that contains the servers. typed means that each entry also says by which
	// transport to reach its server.
	list  string
	typed bool
	toml  bool
}

// Server is an entry of a configuration file. It says how to start one server.
type Server struct {
	// Name is the key of the entry.
	Name    string
	Command string
	Args    []string
}

// Places are the folders that contain configuration files of assistants.
type Places struct {
	// Project is the folder of the user's project. Home is the user's home folder.
	Project, Home string
	// Settings is the settings folder of programs that use .config on every system, including macOS.
	Settings string
	// Claude, ClaudeCode and Codex are the settings folders of these three assistants.
	Claude, ClaudeCode, Codex string
}

// PlacesOn returns the places on an operating system. The system has the form of runtime.GOOS.
func PlacesOn(system, home, project string, getenv func(string) string) Places {
	p := Places{Project: project, Home: home, Settings: filepath.Join(home, ".config")}
	own := p.Settings // the settings folder of the system
	switch xdg := getenv("XDG_CONFIG_HOME"); {
	case system == "windows":
		p.Settings = cmp.Or(getenv("APPDATA"), filepath.Join(home, "AppData", "Roaming"))
		own = p.Settings
	case system == "darwin":
		own = filepath.Join(home, "Library", "Application Support")
	case filepath.IsAbs(xdg):
		p.Settings, own = xdg, xdg
	}
	p.Claude = filepath.Join(own, "Claude")
	if system == "windows" { // the installer makes a package, and Windows keeps the settings of packages elsewhere
		local := cmp.Or(getenv("LOCALAPPDATA"), filepath.Join(home, "AppData", "Local"))
		if apart, err := filepath.Glob(filepath.Join(local, "Packages", "Claude_*", "LocalCache", "Roaming",
			"Claude")); err == nil && len(apart) > 0 {
			p.Claude = apart[0]
		}
	}
	p.ClaudeCode = cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude"))
	p.Codex = cmp.Or(getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	return p
}

// All returns all known assistants, sorted by name.
func All(p Places) []Assistant {
	return []Assistant{
		{Name: "antigravity", Title: "Antigravity", File: filepath.Join(p.Home, ".gemini", "config", "mcp_config.json"),
			list: "mcpServers"},
		{Name: "claude-code", Title: "Claude Code, in this folder", File: filepath.Join(p.Project, ".mcp.json"),
			sign: p.ClaudeCode, list: "mcpServers"},
		{Name: "claude-desktop", Title: "Claude Desktop", File: filepath.Join(p.Claude, "claude_desktop_config.json"),
			list: "mcpServers"},
		{Name: "codex", Title: "Codex", File: filepath.Join(p.Codex, "config.toml"), list: "mcp_servers", toml: true},
		{Name: "cursor", Title: "Cursor", File: filepath.Join(p.Home, ".cursor", "mcp.json"), list: "mcpServers"},
		{Name: "devin", Title: "Devin Desktop", File: filepath.Join(p.Settings, "devin", "mcp_config.json"),
			list: "mcpServers"},
		{Name: "gemini", Title: "Gemini CLI", File: filepath.Join(p.Home, ".gemini", "settings.json"), list: "mcpServers"},
		{Name: "lmstudio", Title: "LM Studio", File: filepath.Join(p.Home, ".lmstudio", "mcp.json"), list: "mcpServers"},
		{Name: "vscode", Title: "Visual Studio Code, in this folder", File: filepath.Join(p.Project, ".vscode", "mcp.json"),
			list: "servers", typed: true},
		{Name: "windsurf", Title: "Windsurf, which is Devin Desktop now",
			File: filepath.Join(p.Home, ".codeium", "windsurf", "mcp_config.json"), list: "mcpServers"},
		{Name: "zed", Title: "Zed", File: filepath.Join(p.Settings, "zed", "settings.json"), list: "context_servers"},
	}
}

// Present reports whether the assistant is installed. It looks for the assistant's folder.
func (a *Assistant) Present() bool {
	info, err := os.Stat(cmp.Or(a.sign, filepath.Dir(a.File)))
	return err == nil && info.IsDir()
}

// Change is a planned change of an assistant's file. The method Write makes the change.
type Change struct {
	File string
	// Entry is the new text of the entry. It is "" if the change removes the entry.
	Entry string
	// Before is the text of the entry before the change. It is "" if the file has no such entry.
	Before string

	toml    bool
	from    []byte // the file as read; nil if it does not exist
	content []byte
	mode    fs.FileMode
}

// Changes reports whether the change alters the entry.
func (c *Change) Changes() bool { return c.Entry != c.Before }

// Shown returns Before and Entry for display. It hides values that may be secret.
func (c *Change) Shown() (before, entry string) { return c.display(c.Before), c.display(c.Entry) }

// Add returns a change that adds or replaces the entry of a server in the assistant's file.
func (a *Assistant) Add(s Server) (*Change, error) { return a.change(s, true) }

// Remove returns a change that removes the entry called name from the assistant's file.
func (a *Assistant) Remove(name string) (*Change, error) { return a.change(Server{Name: name}, false) }

// byteOrderMark is the UTF-8 mark that some editors on Windows write at the start of a file.
const byteOrderMark = "\ufeff"

func (a *Assistant) change(s Server, add bool) (*Change, error) {
	c := &Change{File: a.File, toml: a.toml, mode: 0o600}
	if info, err := os.Stat(a.File); err == nil {
		if !info.Mode().IsRegular() { // reading a pipe would block
			return nil, sheaf.Invalidf("%s, the configuration of %s, is not a file, so it stays unchanged", a.File, a.Title)
		}
		c.mode = info.Mode().Perm()
	}
	content, err := os.ReadFile(a.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the configuration of %s: %w", a.Title, err)
	}
	c.from = bytes.Clone(content)
	content, marked := bytes.CutPrefix(content, []byte(byteOrderMark))
	if a.toml {
		err = c.changeTOML(a.list, content, s, add)
	} else {
		err = c.changeJSON(a, content, s, add)
	}
	if err != nil {
		return nil, sheaf.Invalidf("%s, the configuration of %s, cannot be read, so it stays unchanged: %w", a.File, a.Title,
			err)
	}
	if marked {
		c.content = append([]byte(byteOrderMark), c.content...)
	}
	return c, nil
}

// changeJSON edits a file of JSON, which may have comments.
func (c *Change) changeJSON(a *Assistant, content []byte, s Server, add bool) error {
	if len(bytes.TrimSpace(content)) == 0 {
		content = []byte("{}\n")
	}
	value, err := hujson.Parse(append(bytes.Clone(content), '\n')) // a comment at the end may have no line break
	if err != nil {
		return err
	}
	if _, ok := value.Value.(*hujson.Object); !ok {
		return errors.New("it is not a JSON object")
	}
	if err := errors.Join(unique(content, &value, a.list), unique(content, value.Find("/"+a.list), s.Name)); err != nil {
		return err
	}
	path := "/" + a.list + "/" + s.Name
	found := value.Find(path)
	if found != nil {
		c.Before = minimized(found)
	}
	switch {
	case add:
		entry, err := entryJSON(a, s)
		if err == nil {
			err = insert(&value, a.list, s.Name, entry, newlineOf(content))
		}
		if err != nil {
			return err
		}
		c.Entry = minimized(value.Find(path))
	case found != nil:
		if err := value.Patch([]byte(`[{"op": "remove", "path": "` + path + `"}]`)); err != nil {
			return err
		}
	}
	c.content = bytes.TrimSuffix(value.Pack(), []byte("\n"))
	return nil
}

// entryJSON returns a new entry as JSON on one line.
func entryJSON(a *Assistant, s Server) (*hujson.Object, error) {
	entry := struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Type    string   `json:"type,omitempty"`
	}{s.Command, append([]string{}, s.Args...), ""}
	if a.typed {
		entry.Type = "stdio"
	}
	lines, err := json.MarshalIndent(entry, "", "")
	if err != nil {
		return nil, err
	}
	value, err := hujson.Parse([]byte(strings.NewReplacer(",\n", ", ", "\n", "").Replace(string(lines))))
	if err != nil {
		return nil, err
	}
	return value.Value.(*hujson.Object), nil
}

// minimized returns a copy of a value without comments and white space.
func minimized(v *hujson.Value) string {
	clone := v.Clone()
	clone.Minimize()
	return string(clone.Pack())
}

// secretMembers are the names of members whose values may be secret.
var secretMembers = []string{"env", "headers", "http_headers"}

// hidden is the text that replaces a secret value.
const hidden = "…"

// display returns the text of an entry for display. It hides values that may be secret.
func (c *Change) display(entry string) string {
	var v map[string]any
	if c.toml {
		v, _ = decode(entry) // unreadable text is not an entry
	} else if json.Unmarshal([]byte(entry), &v) != nil {
		return entry
	}
	if !hide(v, false) {
		return entry
	}
	if c.toml {
		var out strings.Builder
		if err := toml.NewEncoder(&out).Encode(v); err != nil {
			return hidden
		}
		return strings.TrimSpace(out.String())
	}
	b, err := json.Marshal(v)
	if err != nil {
		return hidden
	}
	return string(b)
}

// hide replaces secret values by [hidden]: those of secret members, or all. It reports whether it replaced any.
func hide(members map[string]any, secret bool) bool {
	found := false
	for name, v := range members {
		secret := secret || slices.Contains(secretMembers, name)
		if below, ok := v.(map[string]any); ok {
			found = hide(below, secret) || found
		} else if secret {
			members[name], found = hidden, true
		}
	}
	return found
}

// Write writes the changed file in one step, so a reader sees the old or the new text. It returns an error if another
// program changed the file in the meantime.
func (c *Change) Write() error {
	if !c.Changes() {
		return nil
	}
	target := c.File
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real // keep a link to a file elsewhere
	} else if info, err := os.Lstat(target); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return sheaf.Invalidf("%s is a link to a file that does not exist: create the file, or remove the link", target)
	}
	switch now, err := os.ReadFile(target); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case !bytes.Equal(now, c.from):
		return sheaf.Invalidf("another program changed %s, so it stays unchanged: repeat the command", target)
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return vfs.WriteFile(target, c.content, c.mode)
}

// insert puts an entry into the list of servers. In an existing entry with a command, insert changes only the members
// that the new entry has. insert replaces an existing entry without a command completely. newline is the line ending of
// the file. insert formats new text like the text around it, and changes no other text.
func insert(root *hujson.Value, list, name string, entry *hujson.Object, newline string) error {
	object, unit := root.Value.(*hujson.Object), "  "
	if in := indent(object); in != nil && *in != "" {
		unit = *in
	}
	if root.Find("/"+list) == nil {
		add(object, list, &hujson.Object{}, layout{newline, unit, 0})
	}
	servers, ok := root.Find("/" + list).Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("its member %s is not an object", list)
	}
	at := memberOf(servers, name)
	if at < 0 {
		add(servers, name, entry, layout{newline, unit, 1})
		return nil
	}
	found := &servers.Members[at].Value
	old, ok := found.Value.(*hujson.Object)
	if !ok || memberOf(old, "command") < 0 { // not an entry, or an entry with another transport
		found.Value = entry
		return nil
	}
	for _, m := range entry.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if i := memberOf(old, name); i >= 0 {
			old.Members[i].Value.Value = m.Value.Value
		} else {
			add(old, name, m.Value.Value, layout{newline, unit, 2})
		}
	}
	return nil
}

// memberOf returns the index of the last member called name, or -1 if there is no such member.
func memberOf(o *hujson.Object, name string) int {
	for i, m := range slices.Backward(o.Members) {
		if m.Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// layout says how to format a new member. newline is the line ending, and unit is the indent of one level. depth is the
// level of the object that gets the member.
type layout struct {
	newline, unit string
	depth         int
}

// add appends a member to an object. The member gets a line of its own, unless the object is on one line.
func add(o *hujson.Object, name string, value hujson.ValueTrimmed, l layout) {
	before, in := " ", indent(o)
	if in == nil && len(o.Members) == 0 {
		deeper := strings.Repeat(l.unit, l.depth+1)
		in = &deeper
	}
	if in != nil {
		// Text before the closing bracket, for example a comment after the last member, keeps its place.
		kept, closing := strings.TrimRight(string(o.AfterExtra), " \t\r"), l.newline+strings.Repeat(l.unit, l.depth)
		if strings.HasSuffix(kept, "\n") {
			closing = l.newline + string(o.AfterExtra[len(kept):])
			kept = strings.TrimSuffix(kept[:len(kept)-1], "\r")
		}
		before = kept + l.newline + *in
		o.AfterExtra = hujson.Extra(closing)
	}
	one := hujson.ObjectMember{Name: hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value}}
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		one.Value.AfterExtra = hujson.Extra{} // the last member has a comma
	}
	o.Members = append(o.Members, one)
}

// indent returns the white space before an object's first member. It returns nil if the object has no members. It also
// returns nil if the first member is on the line of the opening bracket.
func indent(o *hujson.Object) *string {
	if len(o.Members) == 0 {
		return nil
	}
	before := o.Members[0].Name.BeforeExtra
	at := bytes.LastIndexByte(before, '\n')
	if at < 0 {
		return nil
	}
	in := string(before[at+1:])
	if strings.TrimLeft(in, " \t") != "" {
		in = "" // a comment is before the member
	}
	return &in
}

// unique returns an error if the object v has two members called name. The error gives their lines in content.
func unique(content []byte, v *hujson.Value, name string) error {
	if v == nil {
		return nil
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	first := 0
	for _, m := range object.Members {
		if m.Name.Value.(hujson.Literal).String() != name {
			continue
		}
		line := 1 + bytes.Count(content[:m.Name.StartOffset], []byte("\n"))
		if first > 0 {
			return fmt.Errorf("it has two members called %q, in lines %d and %d: remove one", name, first, line)
		}
		first = line
	}
	return nil
}

func newlineOf(content []byte) string {
	if bytes.Contains(content, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
