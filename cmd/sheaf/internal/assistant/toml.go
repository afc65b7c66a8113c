package assistant

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// changeTOML edits the table of an entry and the tables below it. If anything else would change, it returns an error.
func (c *Change) changeTOML(list string, content []byte, s Server, add bool) error {
	text, header, newline := string(content), "["+list+"."+s.Name+"]", newlineOf(content)
	want, err := decode(text)
	if err != nil {
		return err
	}
	servers, listed := want[list].(map[string]any)
	found, exists := servers[s.Name]
	if !exists && !add {
		return nil
	}
	tables := tablesOf(text)
	// TOML does not allow adding to inline tables.
	if listed && !slices.ContainsFunc(tables, func(t table) bool { return t.path[0] == list }) {
		return fmt.Errorf("its %s are not tables such as %s: edit them by hand", list, header)
	}
	before, behind := strings.TrimRight(text, "\r\n"), ""
	if before != "" {
		before += newline + newline
	}
	if exists {
		begin, end := tableAt(text, tables, []string{list, s.Name})
		if begin < 0 {
			return fmt.Errorf("its entry %s has no table %s: edit it by hand", s.Name, header)
		}
		before, behind = text[:begin], text[end:]
		c.Before = strings.ReplaceAll(strings.TrimSpace(text[begin:end]), "\r\n", "\n")
	}
	if !listed {
		servers = map[string]any{}
		want[list] = servers
	}
	delete(servers, s.Name)
	if add {
		if c.Entry, servers[s.Name], err = entryTOML(list, header, s, found); err != nil {
			return err
		}
		if exists && reflect.DeepEqual(found, servers[s.Name]) {
			c.Entry = c.Before
			return nil
		}
	}
	text = replaced(before, strings.ReplaceAll(c.Entry, "\n", newline), behind, newline)
	after, err := decode(text)
	if left, _ := after[list].(map[string]any); len(servers)+len(left) == 0 { // the list may be gone after its last entry
		want[list], after[list] = nil, nil
	}
	if err != nil || !reflect.DeepEqual(want, after) {
		return errors.Join(fmt.Errorf("%s cannot be edited alone: edit it by hand", header), err)
	}
	c.content = []byte(text)
	return nil
}

// entryTOML returns an entry as a TOML table, and its values. It keeps other settings of the entry before.
func entryTOML(list, header string, s Server, before any) (text string, values any, err error) {
	entry, ok := before.(map[string]any)
	if !ok || entry["command"] == nil { // the entry has another transport
		entry = map[string]any{}
	}
	entry = maps.Clone(entry)
	entry["command"], entry["args"] = s.Command, append([]string{}, s.Args...)
	var out strings.Builder
	encoder := toml.NewEncoder(&out)
	encoder.Indent = ""
	if err := encoder.Encode(map[string]any{list: map[string]any{s.Name: entry}}); err != nil {
		return "", nil, err
	}
	_, below, _ := strings.Cut(out.String(), header+"\n")
	text = strings.TrimRight(header+"\n"+below, "\n")
	parsed, err := decode(text)
	if err != nil {
		return "", nil, err
	}
	return text, parsed[list].(map[string]any)[s.Name], nil
}

func decode(text string) (map[string]any, error) {
	out := map[string]any{}
	_, err := toml.Decode(text, &out)
	return out, err
}

// replaced joins the text around an entry with the new entry. For "", it removes the entry and needless empty lines.
func replaced(before, entry, behind, newline string) string {
	switch {
	case entry != "":
		return before + entry + newline + behind
	case strings.TrimSpace(before) == "" || strings.HasSuffix(before, newline+newline):
		behind = strings.TrimLeft(behind, "\r\n") // one empty line is enough
	}
	if behind == "" && strings.TrimSpace(before) != "" {
		return strings.TrimRight(before, "\r\n") + newline
	}
	return before + behind
}

// tableAt returns the byte range of the table called own, with the tables below it. The range begins at the header, and
// ends before any final comments and empty lines. If the text lacks the table, begin is -1.
func tableAt(text string, tables []table, own []string) (begin, end int) {
	begin, end = -1, len(text)
	for _, t := range tables {
		switch {
		case slices.Equal(t.path, own):
			begin = t.at
		case begin >= 0 && (len(t.path) < len(own) || !slices.Equal(t.path[:len(own)], own)):
			end = min(end, t.at)
		}
	}
	if begin < 0 {
		return begin, end
	}
	for {
		kept := strings.TrimSuffix(text[begin:end], "\n")
		last := begin + strings.LastIndexByte(kept, '\n') + 1
		if line := strings.TrimSpace(text[last:end]); line != "" && line[0] != '#' {
			return begin, end
		}
		end = last
	}
}

// table is the position and the name of a table header. An element of an array of tables also has a header.
type table struct {
	at   int // where its line begins
	path []string
}

// tablesOf lists the headers in a valid text, in order. A multi-line string or array may contain a line that looks
// like a header. So tablesOf accepts a header only if the text before it is valid TOML.
func tablesOf(text string) []table {
	var out []table
	at := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "[") {
			var ignored map[string]any
			header, err := toml.Decode(line, &ignored)
			if _, before := decode(text[:at]); err == nil && before == nil && len(header.Keys()) > 0 {
				out = append(out, table{at, header.Keys()[len(header.Keys())-1]})
			}
		}
		at += len(line)
	}
	return out
}
