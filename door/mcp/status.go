package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/wording"
)

type listIn struct{}

type listOut struct {
	Collections []serveSummary `json:"collections" jsonschema:"the collections"`
}

type serveSummary struct {
	Name      string `json:"name" jsonschema:"what to give as collection"`
	Documents int    `json:"documents" jsonschema:"how many documents it has"`
	Chunks    int    `json:"chunks" jsonschema:"how many passages"`
	Language  string `json:"language" jsonschema:"the language of its text; empty for none"`
	Model     string `json:"model" jsonschema:"the model that makes its vectors; empty for none"`
}

// String returns the summary in one line.
func (s serveSummary) String() string {
	return fmt.Sprintf("%s: %s, %s, language %q, model %q", oneLine(s.Name),
		wording.Plural(s.Documents, "document", "documents"), wording.Plural(s.Chunks, "passage", "passages"),
		cmp.Or(s.Language, "unknown"), cmp.Or(s.Model, "none"))
}

func summaryOf(s *collection.Summary) serveSummary {
	return serveSummary{s.Name, s.Documents, s.Chunks, s.Language, s.Model}
}

func (s *server) list(ctx context.Context, _ listIn) (*listOut, error) {
	out := &listOut{Collections: []serveSummary{}}
	for _, c := range s.o.Now() {
		summary, err := withReader(ctx, s, c.Name(), func(ctx context.Context, r *collection.Reader) (*collection.Summary,
			error) {
			return r.Summary(ctx)
		})
		if err != nil {
			return nil, err
		}
		out.Collections = append(out.Collections, summaryOf(summary))
	}
	return out, nil
}

func (o *listOut) content() []sdk.Content {
	var w textWriter
	for _, c := range o.Collections {
		w.line("%s", c)
	}
	return w.content()
}

type statusIn struct {
	Collection string `json:"collection,omitempty" jsonschema:"the collection; the first one when left out"`
}

type statusOut struct {
	serveSummary
	Profile  string         `json:"profile" jsonschema:"the ranking profile when a call names none"`
	Profiles []string       `json:"profiles" jsonschema:"all profiles"`
	Pending  int            `json:"pending" jsonschema:"documents that are not fully indexed yet"`
	Skipped  map[string]int `json:"skipped" jsonschema:"how many files were left out, by reason"`
	LeftOut  []leftOut      `json:"left_out" jsonschema:"up to 50 files that were left out; unsupported types come last"`
	Gone     []string       `json:"gone,omitempty" jsonschema:"missing folders; what was indexed of them stays"`
	Vectors  string         `json:"vectors_missing,omitempty" jsonschema:"why vectors are missing"`
	Watched  string         `json:"watched,omitempty" jsonschema:"when Sheaf last looked for changed files"`
	Fault    string         `json:"fault,omitempty" jsonschema:"why the last look failed"`
}

type leftOut struct {
	Path   string `json:"path" jsonschema:"the file, from its folder"`
	Reason string `json:"reason" jsonschema:"why it is not indexed"`
}

const maxLeftOut = 50

// leftOutOf returns the skipped files to show. Files of unsupported types come last.
func leftOutOf(skipped []collection.Skip) []leftOut {
	out, unsupported := []leftOut{}, []leftOut{}
	for _, k := range skipped {
		one := leftOut{sheaf.PathText(k.Path), k.Reason}
		if k.Detail != "" {
			one.Reason += ": " + k.Detail
		}
		if k.Reason == "unsupported type" {
			unsupported = append(unsupported, one)
		} else {
			out = append(out, one)
		}
	}
	out = append(out, unsupported...)
	return out[:min(len(out), maxLeftOut)]
}

func (s *server) status(ctx context.Context, in statusIn) (*statusOut, error) {
	return withReader(ctx, s, in.Collection, func(ctx context.Context, r *collection.Reader) (*statusOut, error) {
		st, err := r.Status(ctx)
		if err != nil {
			return nil, err
		}
		profiles, err := r.Collection().Profiles()
		if err != nil {
			return nil, err
		}
		out := &statusOut{serveSummary: summaryOf(&st.Summary), Profile: r.Collection().Profile(), Profiles: []string{},
			Pending: len(st.Pending), Skipped: map[string]int{}}
		for _, p := range profiles {
			out.Profiles = append(out.Profiles, p.Name)
		}
		for _, k := range st.Skipped {
			out.Skipped[k.Reason]++
		}
		out.LeftOut = leftOutOf(st.Skipped)
		if st.Watch != nil {
			out.Gone, out.Vectors = st.Watch.Gone, st.Watch.Embed
			out.Watched, out.Fault = st.Watch.At.UTC().Format("2006-01-02T15:04:05Z"), st.Watch.Error
		}
		return out, nil
	})
}

func (o *statusOut) content() []sdk.Content {
	var w textWriter
	w.line("%s", o.serveSummary)
	w.line("Profile %s; there are %s.", o.Profile, strings.Join(o.Profiles, ", "))
	w.line("%s.", wording.Plural(o.Pending, "document waits", "documents wait"))
	for _, reason := range slices.Sorted(maps.Keys(o.Skipped)) {
		w.line("Left out, %s: %d.", reason, o.Skipped[reason])
	}
	for _, k := range o.LeftOut {
		w.line("  %s: %s", oneLine(k.Path), oneLine(k.Reason))
	}
	for _, folder := range o.Gone {
		w.line("The folder %s is missing: its documents stay in the index.", oneLine(folder))
	}
	if o.Vectors != "" {
		w.line("Vectors are missing: %s", oneLine(o.Vectors))
	}
	if o.Watched != "" {
		w.line("Changed files were last looked for at %s.", o.Watched)
	}
	if o.Fault != "" {
		w.line("That failed: %s", oneLine(o.Fault))
	}
	return w.content()
}
