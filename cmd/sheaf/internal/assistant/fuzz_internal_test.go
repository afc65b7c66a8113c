package assistant

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tailscale/hujson"

	"sheaf/internal/must"
)

// FuzzChange checks that adding and removing an entry changes nothing else in the file.
func FuzzChange(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\n  // none\n}\n", `{"mcpServers": {}}`, `{"a": 1, "mcpServers": {"b": {"command": "x"},}, /* c */}`,
		"{\r\n\t\"mcpServers\": {\r\n\t\t\"sheaf\": {\"command\": \"old\"} // mine\r\n\t}\r\n}",
		`{"mcpServers": {"sheaf": 1, "z": 2}}`, `{"mcpServers": {"a": 1 // x` + "\n}}", "{}//",
		"[mcp_servers.other]\ncommand = \"x\"\n# end\n", "[mcp_servers.sheaf]\ncommand = 'x'\n[mcp_servers.sheaf.env]\nA " +
			"= '''\n[b]\n'''\n[[c]]\n", "a = [\n[1],\n]\n", "mcp_servers = {}\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	s := Server{Name: "sheaf", Command: "/bin/sheaf", Args: []string{"mcp", "--in", `C:\a "b"`}}
	f.Fuzz(func(t *testing.T, content []byte, isTOML bool) {
		a := &Assistant{list: "mcpServers"}
		says, change := saysJSON, func(content []byte, add bool) (*Change, error) {
			c := &Change{}
			return c, c.changeJSON(a, content, s, add)
		}
		if isTOML {
			a.list = "mcp_servers"
			says, change = saysTOML, func(content []byte, add bool) (*Change, error) {
				c := &Change{}
				return c, c.changeTOML(a.list, content, s, add)
			}
		}
		added, err := change(content, true)
		if err != nil || !added.Changes() {
			return
		}
		want, after := says(t, content), says(t, added.content)
		list, ok := after[a.list].(map[string]any)
		must.That(t, ok && list[s.Name] != nil, "%q became %q: the entry is not there", content, added.content)
		without(want, a.list, s.Name)
		without(after, a.list, s.Name)
		must.That(t, reflect.DeepEqual(want, after), "%q became %q: %v is %v", content, added.content, want, after)
		if again, err := change(added.content, true); err != nil || again.Changes() {
			t.Fatalf("%q became %q, which is changed again: %v", content, added.content, err)
		}
		removed, err := change(added.content, false)
		must.That(t, err == nil, "%q became %q: %v", content, added.content, err)
		after = says(t, removed.content)
		without(after, a.list, s.Name)
		must.That(t, reflect.DeepEqual(want, after), "%q became %q, then %q", content, added.content, removed.content)
	})
}

// without removes an entry from a list, and removes an empty list.
func without(says map[string]any, list, name string) {
	if servers, ok := says[list].(map[string]any); ok {
		if delete(servers, name); len(servers) == 0 {
			delete(says, list)
		}
	}
}

func saysJSON(t *testing.T, content []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	if len(bytes.TrimSpace(content)) == 0 {
		return out
	}
	standard, err := hujson.Standardize(append(bytes.Clone(content), '\n')) // changeJSON adds the same line break
	must.That(t, err == nil, "%q: %v", content, err)
	d := json.NewDecoder(bytes.NewReader(standard))
	d.UseNumber()
	err = d.Decode(&out)
	must.That(t, err == nil, "%q: %v", content, err)
	return out
}

func saysTOML(t *testing.T, content []byte) map[string]any {
	t.Helper()
	out, err := decode(string(content))
	must.That(t, err == nil, "%q: %v", content, err)
	return out
}
