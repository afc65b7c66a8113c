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

// changeTOML edits the table of one entry and the tables below it. It then parses the new text and
// checks that only the entry differs.
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
		return fmt.Errorf("its %s are not tables such as %s: change them by hand", list, header)
	}
	if !listed {
		servers = map[string]any{}
		want[list] = servers
	}
	delete(servers, s.Name)
	if add {
		if c.Entry, err = entryTOML(list, header, s, found); err != nil {
			return err
		}
		parsed, err := decode(c.Entry)
		if err != nil {
			return err
		}
		servers[s.Name] = parsed[list].(map[string]any)[s.Name]
		if exists && reflect.DeepEqual(found, servers[s.Name]) {
			c.Before = c.Entry
			return nil
		}
	}
	entry := strings.ReplaceAll(c.Entry, "\n", newline)
	if exists {
		begin, end := tableAt(text, tables, []string{list, s.Name})
		if begin < 0 {
			return fmt.Errorf("its entry %s has no table of its own, %s: change it by hand", s.Name, header)
		}
		c.Before = strings.ReplaceAll(strings.TrimSpace(text[begin:end]), "\r\n", "\n")
		if own, ok := edited(text[begin:end], newline, s); add && ok {
			if after, err := decode(text[:begin] + own + text[end:]); err == nil && reflect.DeepEqual(want, after) {
				c.Entry = strings.ReplaceAll(strings.TrimSpace(own), "\r\n", "\n")
				c.content = []byte(text[:begin] + own + text[end:])
				return nil
			}
		}
		text = replaced(text[:begin], entry, text[end:], newline)
	} else {
		if text = strings.TrimRight(text, "\r\n"); text != "" {
			text += newline + newline
		}
		text += entry + newline
	}
	after, err := decode(text)
	if left, _ := after[list].(map[string]any); len(servers)+len(left) == 0 { // the list may be gone after its last entry
		want[list], after[list] = nil, nil
	}
	if err != nil || !reflect.DeepEqual(want, after) {
		return errors.Join(fmt.Errorf("%s cannot be changed without changing something else: change it by hand", header), err)
	}
	c.content = []byte(text)
	return nil
}

// edited replaces the command and arguments in the text of an entry and keeps all other text,
// including comments. ok is false if the entry has no command on its own line. The caller must
// parse the result, because a multi-line text may contain a line like the command.
func edited(entry, newline string, s Server) (text string, ok bool) {
	values, err := valuesTOML(s)
	if err != nil {
		return "", false
	}
	lines := strings.SplitAfter(entry, "\n")
	var out strings.Builder
	for i := 0; i < len(lines); i++ {
		key, rest, _ := strings.Cut(lines[i], "=")
		name := strings.TrimSpace(key)
		value, mine := values[name]
		if !mine || strings.HasPrefix(strings.TrimSpace(lines[i]), "#") {
			out.WriteString(lines[i])
			continue
		}
		end := valueEnd(rest)
		for end < 0 && i+1 < len(lines) { // the list has several lines
			i++
			rest += lines[i]
			end = valueEnd(rest)
		}
		if end < 0 {
			return "", false
		}
		delete(values, name)
		behind := rest[end:]
		if name == "command" && !strings.Contains(behind, "\n") {
			behind += newline
		}
		out.WriteString(key + "= " + value + behind)
		if name == "command" && !hasArgs(entry) {
			out.WriteString(key[:len(key)-len(strings.TrimLeft(key, " \t"))] + "args = " + values["args"] + newline)
			delete(values, "args")
		}
	}
	return out.String(), len(values) == 0
}

// hasArgs reports whether an entry has a line that begins with "args =".
func hasArgs(entry string) bool {
	for line := range strings.SplitSeq(entry, "\n") {
		if name, _, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "args" {
			return true
		}
	}
	return false
}

// valueEnd returns the end of the value at the start of text, before white space and a comment; -1
// if the value does not end.
func valueEnd(text string) int {
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] != '#' {
			continue
		}
		if _, err := decode("x =" + text[:i]); err == nil {
			return len(strings.TrimRight(text[:i], " \t\r\n"))
		}
	}
	return -1
}

// entryTOML returns an entry as a table. It keeps settings of the previous entry that do not start
// the server.
func entryTOML(list, header string, s Server, before any) (string, error) {
	values, err := valuesTOML(s)
	own := header + "\ncommand = " + values["command"] + "\nargs = " + values["args"]
	kept, ok := before.(map[string]any)
	if !ok || kept["command"] == nil { // the entry has another transport
		return own, err
	}
	kept = maps.Clone(kept)
	delete(kept, "command")
	delete(kept, "args")
	var text strings.Builder
	encoder := toml.NewEncoder(&text)
	encoder.Indent = ""
	err = errors.Join(err, encoder.Encode(map[string]any{list: map[string]any{s.Name: kept}}))
	_, below, _ := strings.Cut(text.String(), header+"\n")
	if strings.HasPrefix(below, "[") {
		below = "\n" + below
	}
	return strings.TrimRight(own+"\n"+below, "\n"), err
}

func decode(text string) (map[string]any, error) {
	out := map[string]any{}
	_, err := toml.Decode(text, &out)
	return out, err
}

// replaced puts an entry, "" for none, between the text before and after it.
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

// tableAt returns the range of a table and the tables below it: from its header to the end of its
// last line, without the comments and empty lines after that. begin is -1 if the table is missing.
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

// table is a header of a table, or of a list of tables.
type table struct {
	at   int // where its line begins
	path []string
}

// tablesOf lists the headers of a valid text, in order. A line begins a table only if the text
// before it is valid alone: multi-line texts and lists may contain a line like a header.
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

// valuesTOML returns the values that start a server, by key.
func valuesTOML(s Server) (map[string]string, error) {
	values := map[string]string{}
	for key, value := range map[string]any{"command": s.Command, "args": append([]string{}, s.Args...)} {
		var b strings.Builder
		if err := toml.NewEncoder(&b).Encode(map[string]any{key: value}); err != nil {
			return nil, err
		}
		values[key] = strings.TrimSpace(strings.TrimPrefix(b.String(), key+" = "))
	}
	return values, nil
}
