package assistant

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// insert puts an entry into the list of servers. An existing entry with the same name keeps members
// that do not start the server. New text has the layout of its neighbors; other text stays.
func insert(root *hujson.Value, list, name string, entry []byte, newline string) error {
	value, err := hujson.Parse(entry)
	if err != nil {
		return err
	}
	object := root.Value.(*hujson.Object)
	unit := "  "
	if in := indent(object); in != nil && *in != "" {
		unit = *in
	}
	if found := root.Find("/" + list + "/" + pointer(name)); found != nil {
		if old, ok := found.Value.(*hujson.Object); ok && memberOf(old, "command") >= 0 {
			merge(old, value.Value.(*hujson.Object), layout{newline, unit, 2})
		} else { // not an entry, or an entry with another transport
			found.Value = value.Value
		}
		return nil
	}
	if servers := root.Find("/" + list); servers != nil {
		inner, ok := servers.Value.(*hujson.Object)
		if !ok {
			return fmt.Errorf("its member %s is not an object", list)
		}
		add(inner, name, value, layout{newline, unit, 1})
		return nil
	}
	servers := hujson.Value{Value: &hujson.Object{}}
	lines := layout{newline, unit, 0}
	if len(object.Members) > 0 && indent(object) == nil { // the whole file is one line
		servers.Value = &hujson.Object{Members: []hujson.ObjectMember{member(name, value, "")}}
	} else {
		add(servers.Value.(*hujson.Object), name, value, layout{newline, unit, 1})
	}
	add(object, list, servers, lines)
	return nil
}

// merge sets members of an object and keeps its other members.
func merge(into, from *hujson.Object, l layout) {
	for _, m := range from.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if i := memberOf(into, name); i >= 0 {
			into.Members[i].Value.Value = m.Value.Value
		} else {
			add(into, name, m.Value, l)
		}
	}
}

// memberOf returns the index of the last member called name; -1 for none.
func memberOf(o *hujson.Object, name string) int {
	for i, m := range slices.Backward(o.Members) {
		if m.Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// layout says how lines are written, and the depth of an object.
type layout struct {
	newline, unit string
	depth         int
}

// add appends a member to an object, on its own line unless the object is on one line.
func add(o *hujson.Object, name string, value hujson.Value, l layout) {
	before, in := " ", indent(o)
	if in == nil && len(o.Members) == 0 {
		deeper := strings.Repeat(l.unit, l.depth+1)
		in = &deeper
	}
	if in != nil {
		// Text before the closing bracket, for example a comment after the last member, keeps its
		// place.
		kept, closing := strings.TrimRight(string(o.AfterExtra), " \t\r"), l.newline+strings.Repeat(l.unit, l.depth)
		if strings.HasSuffix(kept, "\n") {
			closing = l.newline + string(o.AfterExtra[len(kept):])
			kept = strings.TrimSuffix(kept[:len(kept)-1], "\r")
		}
		before = kept + l.newline + *in
		o.AfterExtra = hujson.Extra(closing)
	}
	one := member(name, value, before)
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		one.Value.AfterExtra = hujson.Extra{} // the last member has a comma
	}
	o.Members = append(o.Members, one)
}

// takeOut removes the member called name from an object. Comments before and after it stay. A line
// that becomes empty is removed.
func takeOut(o *hujson.Object, name string) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		return m.Name.Value.(hujson.Literal).String() == name
	})
	gone, last := o.Members[i], i == len(o.Members)-1
	behind := &o.AfterExtra
	if !last {
		behind = &o.Members[i+1].Name.BeforeExtra
	}
	before := slices.Clone(gone.Name.BeforeExtra)
	if last && i > 0 { // the last member has a comma after it unless its AfterExtra is nil
		if extra := &o.Members[i-1].Value.AfterExtra; gone.Value.AfterExtra == nil {
			before, *extra = append(slices.Clone(*extra), before...), nil
		} else if *extra == nil {
			*extra = hujson.Extra{}
		}
	}
	*behind = joined(before, append(slices.Clone(gone.Value.AfterExtra), *behind...))
	o.Members = slices.Delete(o.Members, i, i+1)
}

// joined joins the text before and after a removed member.
func joined(before, behind hujson.Extra) hujson.Extra {
	left, right := bytes.TrimRight(before, " \t"), bytes.TrimLeft(behind, " \t")
	switch {
	case bytes.HasPrefix(right, []byte("\n")), bytes.HasPrefix(right, []byte("\r\n")):
		if bytes.HasSuffix(left, []byte("\n")) { // the line becomes empty
			_, right, _ = bytes.Cut(right, []byte("\n"))
		}
		return append(left, right...)
	case len(left) == 0 && len(right) == 0: // all on one line
		return before[:min(len(before), len(behind))]
	case len(right) == 0:
		return append(left, behind...)
	}
	return append(before, right...)
}

func member(name string, value hujson.Value, before string) hujson.ObjectMember {
	value.BeforeExtra = hujson.Extra(" ")
	return hujson.ObjectMember{Name: hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(name)},
		Value: value}
}

// indent returns the text before an object's first member on its line; nil if the member is not on
// its own line.
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

// once returns an error with the lines if an object has two members of one name.
func once(content []byte, v *hujson.Value, name string) error {
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
			return fmt.Errorf("it has two members called %q, in lines %d and %d: take one out", name, first, line)
		}
		first = line
	}
	return nil
}

// newlineOf returns the line ending of a file.
func newlineOf(content []byte) string {
	if bytes.Contains(content, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
