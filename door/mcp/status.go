package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf"
	"sheaf/collection"
)

type listIn struct{}

type listOut struct {
	Collections []serveSummary `json:"collections" jsonschema:"the collections"`
}

type serveSummary struct {
	Name      string `json:"name" jsonschema:"what to give as collection"`
	Documents int    `json:"documents" jsonschema:"how many documents it has"`
	Chunks    int    `json:"chunks" jsonschema:"how many passages"`
	Language  string `json:"language" jsonschema:"the language of its words; empty for none"`
	Model     string `json:"model" jsonschema:"the model that makes its vectors; empty for none"`
}

func summaryOf(s *collection.Summary) serveSummary {
	return serveSummary{s.Name, s.Documents, s.Chunks, s.Language, s.Model}
}

func (s *server) list(ctx context.Context, _ listIn) (*sdk.CallToolResult, *listOut, error) {
	out := &listOut{Collections: []serveSummary{}}
	for _, c := range s.collections() {
		summary, err := with(ctx, s, c.Name(), func(ctx context.Context, r *collection.Reader) (*collection.Summary, error) {
			return r.Summary(ctx)
		})
		if err != nil {
			return nil, nil, err
		}
		out.Collections = append(out.Collections, summaryOf(summary))
	}
	var w textWriter
	for _, c := range out.Collections {
		w.line("%s: %d documents, %d passages, language %q, model %q", oneLine(c.Name), c.Documents, c.Chunks, c.Language,
			c.Model)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: w.String()}}}, out, nil
}

type statusIn struct {
	Collection string `json:"collection,omitempty" jsonschema:"the collection; the first one when left out"`
}

type statusOut struct {
	serveSummary
	Profile  string         `json:"profile" jsonschema:"the ranking profile when a call names none"`
	Profiles []string       `json:"profiles" jsonschema:"the profiles that there are"`
	Pending  int            `json:"pending" jsonschema:"documents that are not fully indexed yet"`
	Skipped  map[string]int `json:"skipped" jsonschema:"how many files were left out, by reason"`
	LeftOut  []leftOut      `json:"left_out" jsonschema:"which files were left out, 50 at most, those of a type that is not supported last"`
	Gone     []string       `json:"gone,omitempty" jsonschema:"folders that are not there: what was indexed of them is kept"`
	Vectors  string         `json:"vectors_missing,omitempty" jsonschema:"why vectors are missing"`
	Watched  string         `json:"watched,omitempty" jsonschema:"when changed files were last looked for"`
	Fault    string         `json:"fault,omitempty" jsonschema:"why the last look failed"`
}

type leftOut struct {
	Path   string `json:"path" jsonschema:"the file, from its folder"`
	Reason string `json:"reason" jsonschema:"why it is not indexed"`
}

// maxLeftOut bounds the skipped files in the status.
const maxLeftOut = 50

// leftOutOf lists skipped files. Files of an unsupported type come last.
func leftOutOf(skipped []collection.Skip) []leftOut {
	const common = "unsupported type"
	all := slices.Clone(skipped)
	slices.SortStableFunc(all, func(a, b collection.Skip) int {
		switch {
		case (a.Reason == common) == (b.Reason == common):
			return 0
		case a.Reason == common:
			return 1
		}
		return -1
	})
	out := []leftOut{}
	for _, k := range all[:min(len(all), maxLeftOut)] {
		one := leftOut{sheaf.PathText(k.Path), k.Reason}
		if k.Detail != "" {
			one.Reason += ": " + k.Detail
		}
		out = append(out, one)
	}
	return out
}

func (s *server) status(ctx context.Context, in statusIn) (*sdk.CallToolResult, *statusOut, error) {
	out, err := with(ctx, s, in.Collection, func(ctx context.Context, r *collection.Reader) (*statusOut, error) {
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
	if err != nil {
		return nil, nil, err
	}
	var w textWriter
	w.line("%s: %d documents, %d passages, language %q, model %q", oneLine(out.Name), out.Documents, out.Chunks,
		out.Language, out.Model)
	w.line("Profile %s; there are %s.", out.Profile, strings.Join(out.Profiles, ", "))
	w.line("%d documents wait.", out.Pending)
	for _, reason := range slices.Sorted(maps.Keys(out.Skipped)) {
		w.line("Left out, %s: %d.", reason, out.Skipped[reason])
	}
	for _, k := range out.LeftOut {
		w.line("  %s: %s", oneLine(k.Path), oneLine(k.Reason))
	}
	for _, folder := range out.Gone {
		w.line("The folder %s is not there: what was indexed of it is kept.", oneLine(folder))
	}
	if out.Vectors != "" {
		w.line("Vectors are missing: %s", oneLine(out.Vectors))
	}
	if out.Watched != "" {
		w.line("Changed files were last looked for at %s.", out.Watched)
	}
	if out.Fault != "" {
		w.line("That failed: %s", oneLine(out.Fault))
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: w.String()}}}, out, nil
}
