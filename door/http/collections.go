package http

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

// Nothing is the input of an operation that has no input.
type Nothing struct{}

type documentGet struct {
	Where
	ID    sheaf.ID `path:"id" maxLength:"4096" doc:"The ID, percent-encoded; / may stay." example:"notes:guides/git.md"`
	Match string   `header:"If-Match" unlisted:"true" pattern:"@tags" doc:"Required ETag or *; else 412."`
	None  string   `header:"If-None-Match" pattern:"@seen" doc:"The caller's ETag; 304 if still current."`
}

type documentsGet struct {
	Where
	Prefix string `query:"prefix" maxLength:"4096" doc:"Only documents whose ID begins with this." example:"notes:guides/"`
	After  string `query:"after" maxLength:"4096" doc:"Only documents after this ID: next of the previous page."`
	Limit  int    `query:"limit" min:"1" max:"1000" default:"100" doc:"How many documents a page has."`
}

// ProfileList lists the ranking profiles.
type ProfileList struct {
	Profiles []collection.Profile `json:"profiles" doc:"The profiles, by name."`
}

// CollectionList lists the collections.
type CollectionList struct {
	Collections []collection.Summary `json:"collections" doc:"The collections; the first is the default."`
}

// StageList lists the stages and their settings.
type StageList struct {
	Stages   []string                  `json:"stages" doc:"The names of the stages."`
	Settings map[string][]StageSetting `json:"settings" doc:"The settings of each stage, by its name."`
}

// StageSetting is a setting of a stage.
type StageSetting struct {
	Name    string `json:"name" doc:"The setting's name."`
	About   string `json:"about" doc:"What the setting does."`
	Allowed string `json:"allowed" doc:"The allowed values."`
	Default string `json:"default" doc:"The default value; empty when the setting is required."`
}

func stageList() *StageList {
	out := &StageList{collection.Stages(), map[string][]StageSetting{}}
	for _, name := range out.Stages {
		out.Settings[name] = []StageSetting{}
		for _, o := range collection.StageOptions(name) {
			out.Settings[name] = append(out.Settings[name], StageSetting{o.Name, o.About, o.Allowed(), o.Default})
		}
	}
	return out
}

// StageBody is the body of a request that runs a stage: rankings, and the settings of the stage.
type StageBody struct {
	Rankings [][]collection.Scored `json:"rankings" required:"true" minItems:"1" maxItems:"20" doc:"The input rankings."`

	Weights  []float64          `json:"weights" maxItems:"20" min:"0" max:"1000000" doc:"For fuse: one per ranking, or 1."`
	Settings map[string]Setting `json:"settings" maxItems:"100" doc:"By name, as GET /v1/stages lists them."`
	Query    string             `json:"query" maxLength:"1000" doc:"The query, for stages that need it."`
	Limit    int                `json:"limit" min:"1" max:"10000" default:"10" doc:"The value of limit in expressions."`
}

type stagePost struct {
	Where
	Name string `path:"name" maxLength:"100" doc:"The stage's name, as GET /v1/stages lists it." example:"fuse"`
	Body StageBody
}

// Ranking holds hits, best first.
type Ranking struct {
	Ranking []collection.Scored `json:"ranking" doc:"The hits, best first."`
}

func collectionRoutes() []*route {
	return []*route{
		reading(endpoint{route: "GET /v1/documents/{id}", id: "document", summary: "Describe a document",
			scope: access.ScopeSearch, statuses: []int{http.StatusPreconditionFailed},
			about: "What does not exist and what the caller may not see are answered alike."},
			func(ctx context.Context, c *call, in *documentGet) (*collection.Document, error) {
				d, err := c.reader.Document(ctx, in.ID)
				if err != nil {
					return nil, err
				}
				c.header.Set("ETag", d.ETag)
				if err := collection.Met(in.Match, d); err != nil {
					return nil, inHeader(err)
				}
				if collection.Unchanged(in.None, d.ETag) {
					c.status = http.StatusNotModified
				}
				return d, nil
			}),
		reading(endpoint{route: "GET /v1/documents", id: "documents", summary: "List documents",
			scope: access.ScopeSearch,
			about: "In order of their identifiers. next, given as after, is the next page."},
			func(ctx context.Context, c *call, in *documentsGet) (*collection.DocumentList, error) {
				return c.reader.Documents(ctx, in.Prefix, in.After, in.Limit)
			}),
		operation(endpoint{route: "GET /v1/profiles", id: "profiles", summary: "List ranking profiles",
			scope: access.ScopeSearch},
			func(_ context.Context, c *call, _ *Where) (*ProfileList, error) {
				list, err := c.coll.Profiles()
				return &ProfileList{list}, err
			}),
		operation(endpoint{route: "GET /v1/collections", id: "collections", summary: "List collections",
			scope: access.ScopeSearch,
			about: "With the numbers of what the caller may see."},
			func(ctx context.Context, c *call, _ *Nothing) (*CollectionList, error) {
				out := &CollectionList{Collections: []collection.Summary{}}
				for _, coll := range c.api.o.Collections {
					r, err := coll.For(c.grant)
					if err != nil {
						return nil, err
					}
					s, err := r.Summary(ctx)
					r.Close()
					if err != nil {
						return nil, err
					}
					out.Collections = append(out.Collections, *s)
				}
				return out, nil
			}),
		reading(endpoint{route: "GET /v1/status", id: "status", summary: "Say what a collection holds and how it is",
			scope: access.ScopeSearch,
			about: "To a caller from whom something is kept it tells only the numbers of what they may see."},
			func(ctx context.Context, c *call, _ *Where) (*collection.Status, error) {
				return c.reader.Status(ctx)
			}),
		operation(endpoint{route: "GET /v1/stages", id: "stages", summary: "List the stages that can be run",
			scope: access.ScopeSearch},
			func(context.Context, *call, *Nothing) (*StageList, error) {
				return stageList(), nil
			}),
		reading(endpoint{route: "POST /v1/stages/{name}", id: "stage", example: `{"rankings": [[{"id": "A", ` +
			`"score": 2}, {"id": "B", "score": 1}], [{"id": "B", "score": 5}]], "settings": {"method": "rrf", "k": 60}}`,
			summary: "Run a stage on given rankings", scope: access.ScopeSearch, statuses: []int{422},
			about: "Stages are pure functions: the same rankings and settings give the same ranking. Give several rankings to " +
				"fuse, one to any other stage. Scores set the order; equal scores keep the given order. An identifier that " +
				"occurs twice in a ranking counts once, with its better score. weights is for fuse: a number for each ranking, " +
				"or none, which means 1. The document of an unknown passage is its identifier before the last #. A number in " +
				"settings may also be an expression over limit, as a text: \"3x\" is 3 times the limit."},
			func(_ context.Context, c *call, in *stagePost) (*Ranking, error) {
				if !slices.Contains(collection.Stages(), in.Name) {
					return nil, collection.NoStage(in.Name)
				}
				list, err := c.reader.Stage(collection.StageRun{Name: in.Name, Settings: settings(in.Body.Settings),
					Rankings: in.Body.Rankings, Weights: in.Body.Weights, Query: in.Body.Query, Limit: in.Body.Limit})
				return &Ranking{list}, err
			}),
	}
}

func serverRoutes() []*route {
	const plain = "text/plain; charset=utf-8"
	return []*route{
		operation(endpoint{route: "GET /livez", id: "live", summary: "Whether the server runs", media: plain},
			func(context.Context, *call, *Nothing) (*raw, error) { return &raw{[]byte("ok\n")}, nil }),
		operation(endpoint{route: "GET /readyz", id: "ready", summary: "Whether the server can answer", media: plain},
			func(ctx context.Context, c *call, in *readyGet) (*raw, error) { return c.ready(ctx, in.Verbose) }),
		operation(endpoint{route: "GET /metrics", id: "metrics", summary: "Metrics, in the text format of Prometheus",
			media: "text/plain; version=0.0.4; charset=utf-8", scope: access.ScopeAdmin},
			func(_ context.Context, c *call, _ *Nothing) (*raw, error) {
				var b bytes.Buffer
				c.api.writeMetrics(&b)
				return &raw{b.Bytes()}, nil
			}),
		operation(endpoint{route: "GET /openapi.json", id: "openapi", summary: "This document",
			media: "application/json"},
			func(_ context.Context, c *call, in *conditional) (*raw, error) {
				document, err := c.api.document()
				if err != nil {
					return nil, fmt.Errorf("write the OpenAPI document: %w", err)
				}
				return c.answerWithETag(in.None, document), nil
			}),
		operation(endpoint{route: "GET /docs", id: "docs", summary: "This document, for people",
			media: "text/html; charset=utf-8"},
			func(_ context.Context, c *call, in *conditional) (*raw, error) {
				c.header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; "+
					"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
				return c.answerWithETag(in.None, c.api.page()), nil
			}),
	}
}

// conditional is the input of a request whose answer the client may cache. It has the tag of the cached answer.
type conditional struct {
	None string `header:"If-None-Match" pattern:"@seen" doc:"The caller's ETag; 304 if still current."`
}

// answerWithETag returns an answer with an ETag, so that the client can cache it. If the parameter none, the header
// If-None-Match, has the tag, the status becomes 304. The tag is weak, because a compressed answer has the same tag as
// an uncompressed one.
func (c *call) answerWithETag(none string, body []byte) *raw {
	sum := sha256.Sum256(body)
	tag := fmt.Sprintf(`W/"%x"`, sum[:8])
	c.header.Set("Cache-Control", "no-cache")
	c.header.Set("ETag", tag)
	if collection.Unchanged(none, tag) {
		c.status = http.StatusNotModified
	}
	return &raw{body}
}

type readyGet struct {
	Verbose bool `query:"verbose" doc:"Also list the collections; needs the scope search."`
}

// ready returns "ok", or a problem if a collection cannot answer. Any caller may ask. If verbose is true, callers with
// the scope search also get a line for each collection. Only callers with the scope admin see reasons.
func (c *call) ready(ctx context.Context, verbose bool) (*raw, error) {
	if c.api.o.SignOn == nil {
		if _, err := c.api.o.Keys.Any(); err != nil { // no caller gets in
			return nil, keysUnread(err)
		}
	}
	grant, err := c.api.signedOn(c.request)
	known := err == nil && grant.May(access.ScopeSearch)
	admin := known && grant.May(access.ScopeAdmin)
	var b bytes.Buffer
	var faults []error
	for _, collection := range c.api.o.Collections {
		if err := collection.Ready(ctx); err != nil {
			faults = append(faults, err)
		} else if moved := collection.Moved(); moved != nil && admin {
			fmt.Fprintf(&b, "[!] %s: %v\n", collection.Name(), moved)
		} else if verbose && known {
			b.WriteString("[+] " + collection.Name() + " ok\n")
		}
	}
	switch err := errors.Join(faults...); {
	case err != nil && admin:
		return nil, problem("unavailable", "%v", err)
	case err != nil: // the reason may name a store or a file
		return nil, problem("unavailable", "%d of %d collections cannot answer now: a key with the scope admin sees why",
			len(faults), len(c.api.o.Collections))
	}
	b.WriteString("ok\n")
	return &raw{b.Bytes()}, nil
}
