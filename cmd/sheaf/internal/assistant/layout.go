package assistant

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

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

// unique returns an error if an object in v has two members with the same name. The error gives their lines in content.
// name is the name of the file.
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
