package assistant

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// insert puts an entry into the list of servers of a file. An entry of the same name keeps the members that do not
// say how the server is started. The new text has the layout of its neighbors; all other text stays.
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
		} else { // it is no entry, or one of a server that is reached otherwise
			found.Value = value.Value
		}
		return nil
	}
	if servers := root.Find("/" + list); servers != nil {
		inner, ok := servers.Value.(*hujson.Object)
		if !ok {
			return fmt.Errorf("its member %s is no object", list)
		}
		add(inner, name, value, layout{newline, unit, 1})
		return nil
	}
	servers := hujson.Value{Value: &hujson.Object{}}
	lines := layout{newline, unit, 0}
	if len(object.Members) > 0 && indent(object) == nil { // a file of one line
		servers.Value = &hujson.Object{Members: []hujson.ObjectMember{member(name, value, "")}}
	} else {
		add(servers.Value.(*hujson.Object), name, value, layout{newline, unit, 1})
	}
	add(object, list, servers, lines)
	return nil
}

// merge sets members of an object; its others stay.
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

// memberOf is which member of an object has a name, the last of several; -1 for none.
func memberOf(o *hujson.Object, name string) int {
	for i, m := range slices.Backward(o.Members) {
		if m.Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// layout is how the lines of a file are made, and how deep an object lies in it.
type layout struct {
	newline, unit string
	depth         int
}

// add appends a member to an object, in a line of its own unless the object is
// in one line.
func add(o *hujson.Object, name string, value hujson.Value, l layout) {
	before, in := " ", indent(o)
	if in == nil && len(o.Members) == 0 {
		deeper := strings.Repeat(l.unit, l.depth+1)
		in = &deeper
	}
	if in != nil {
		// What stands before the closing bracket, such as a comment behind
		// the last member, stays where it is.
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
		one.Value.AfterExtra = hujson.Extra{} // there is a comma behind the last one
	}
	o.Members = append(o.Members, one)
}

// takeOut takes the member called name out of an object. The comments before and
// behind it stay, and the line that it leaves empty goes.
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
	if last && i > 0 { // the last one has a comma behind it unless its AfterExtra is nil
		if extra := &o.Members[i-1].Value.AfterExtra; gone.Value.AfterExtra == nil {
			before, *extra = append(slices.Clone(*extra), before...), nil
		} else if *extra == nil {
			*extra = hujson.Extra{}
		}
	}
	*behind = joined(before, append(slices.Clone(gone.Value.AfterExtra), *behind...))
	o.Members = slices.Delete(o.Members, i, i+1)
}

// joined is what stands before and behind something that is taken out.
func joined(before, behind hujson.Extra) hujson.Extra {
	left, right := bytes.TrimRight(before, " \t"), bytes.TrimLeft(behind, " \t")
	switch {
	case bytes.HasPrefix(right, []byte("\n")), bytes.HasPrefix(right, []byte("\r\n")):
		if bytes.HasSuffix(left, []byte("\n")) { // the line is empty
			_, right, _ = bytes.Cut(right, []byte("\n"))
		}
		return append(left, right...)
	case len(left) == 0 && len(right) == 0: // all in one line
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

// indent is what stands before the first member of an object in its line; nil
// when it has no line of its own.
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
		in = "" // a comment stands before it
	}
	return &in
}

// once says where an object has two members of a name.
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

// newlineOf is how lines end in a file.
func newlineOf(content []byte) string {
	if bytes.Contains(content, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
