package http

import (
	"context"
	"net/http"

	"sheaf/collection"
	"sheaf/collection/access"
)

type profilePut struct {
	Where
	Name string `path:"name" pattern:"@own" doc:"The name of the profile." example:"mine"`
	Body ProfileBody
}

// ProfileBody is a profile that the caller saves.
type ProfileBody struct {
	collection.ProfileInput
	Parameters map[string]Setting `json:"parameters" maxItems:"100" doc:"By name, as GET /v1/profiles lists them."`
}

type judgedPut struct {
	Where
	Name string `path:"name" pattern:"@own" doc:"The name of the judgements." example:"mine"`
	Body collection.JudgedInput
}

// Measurement is the answer to a request that starts a measurement.
type Measurement struct {
	Measuring bool `json:"measuring" doc:"Always true: the status shows the result."`
}

// saveRoutes returns the routes through which the lab and the status page change data.
func saveRoutes() []*route {
	fails := []int{http.StatusConflict, http.StatusUnprocessableEntity}
	return []*route{
		operation(endpoint{route: "PUT /v1/profiles/{name}", id: "profilePut", example: `{"extends": "sheaf", ` +
			`"parameters": {"meaning": 0.5}, "replace": true}`, summary: "Save a profile: another one with other numbers",
			scope: access.ScopeAdmin, status: http.StatusCreated, statuses: fails,
			about: "The server keeps it as a file. A name that is taken is a conflict unless `replace` is true; " +
				"built-in profiles stay. A profile that extends itself keeps its other numbers."},
			func(_ context.Context, c *call, in *profilePut) (*collection.Saved, error) {
				input := in.Body.ProfileInput
				input.Parameters = settings(in.Body.Parameters)
				return c.coll.SaveProfile(c.grant, in.Name, input)
			}),
		operation(endpoint{route: "PUT /v1/judged/{name}", id: "judgedPut", example: `{"queries": [{"query": "undo ` +
			`a commit", "expect": ["notes:guides/git.md#undo-a-commit"]}], "replace": true}`,
			summary: "Save judged queries for sheaf eval", scope: access.ScopeAdmin, large: true,
			status: http.StatusCreated, statuses: fails,
			about: "They are a file beside the index. A name that is taken is a conflict unless it is to be replaced."},
			func(_ context.Context, c *call, in *judgedPut) (*collection.Saved, error) {
				return c.coll.SaveJudged(c.grant, in.Name, in.Body)
			}),
		operation(endpoint{route: "POST /v1/recall", id: "recallPost", summary: "Begin to measure recall",
			scope: access.ScopeAdmin, status: http.StatusAccepted, statuses: []int{http.StatusUnprocessableEntity},
			about: "Searches are compared with brute force, which takes some seconds; the status says what came of it."},
			func(_ context.Context, c *call, _ *Where) (*Measurement, error) {
				return &Measurement{true}, c.coll.MeasureRecall()
			}),
	}
}
