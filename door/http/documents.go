package http

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

// documentAt is the part of a request that names a document. It also has conditions on the document's version.
type documentAt struct {
	Where
	ID    sheaf.ID `path:"id" pattern:"@document" doc:"The ID: tree:path." example:"api:guides/git.md"`
	Match string   `header:"If-Match" unlisted:"true" pattern:"@tags" doc:"Required ETag or *; else 412."`
	None  string   `header:"If-None-Match" unlisted:"true" pattern:"@tags" doc:"Forbidden ETag, or *."`
}

func (d *documentAt) change(put *collection.DocumentInput) collection.Change {
	return collection.Change{ID: d.ID, Put: put, IfMatch: d.Match, IfNoneMatch: d.None}
}

// idempotent has the key that makes a request safe to repeat.
type idempotent struct {
	Key string `header:"Idempotency-Key" pattern:"@shown" doc:"Same key within a day: the same answer."`
}

// keys returns the idempotency key of the request, or none. With a key, the collection runs the request only once.
func (i *idempotent) keys(c *call) []collection.Key {
	if i.Key == "" {
		return nil
	}
	r := c.request
	condition := func(name string) string { return strings.Join(r.Header.Values(name), ",") }
	address := url.URL{Path: r.URL.Path, RawQuery: r.URL.Query().Encode()} // the same for every escaping
	return []collection.Key{{
		Name: sha256.Sum256([]byte(c.grant.Caller + "\x00" + i.Key)),
		Request: sha256.Sum256([]byte(strings.Join([]string{r.Method, address.String(), condition("If-Match"),
			condition("If-None-Match"), string(c.body)}, "\x00"))),
	}}
}

type documentPut struct {
	documentAt
	idempotent
	Body collection.DocumentInput
}

type documentPatch struct {
	documentAt
	idempotent
	Body collection.DocumentPatch
}

// BatchBody has changes that are made together: all of them or none.
type BatchBody struct {
	Documents []BatchChange `json:"documents" required:"true" minItems:"1" maxItems:"1000" doc:"The changes; all or none."`
	Async     bool          `json:"async" doc:"Do the work later. More than 100 documents are always done later."`
}

// BatchChange puts or deletes a document.
type BatchChange struct {
	collection.DocumentInput
	ID          sheaf.ID `json:"id" required:"true" pattern:"@document" doc:"The ID."`
	Delete      bool     `json:"delete" doc:"Delete the document; only id and conditions may be given too."`
	IfMatch     string   `json:"if_match" pattern:"@tags" doc:"Required ETag; * for any."`
	IfNoneMatch string   `json:"if_none_match" pattern:"@tags" doc:"Forbidden ETag; * if none may exist."`
}

type batchPost struct {
	Where
	idempotent
	Body BatchBody
}

// BatchAnswer has the results of a batch. If the batch runs later, it has the task.
type BatchAnswer struct {
	Results []collection.Stored `json:"results" doc:"The documents, in order of the request; empty while a task waits."`
	Task    *collection.Task    `json:"task,omitempty" doc:"The task that does the work later; see /v1/tasks."`
}

type taskGet struct {
	Where
	ID string `path:"id" maxLength:"100" doc:"The task's identifier."`
}

type tasksGet struct {
	Where
	State string `query:"state" enum:"waiting,done,failed" doc:"Only tasks in this state; all when it is left out."`
	Limit int    `query:"limit" min:"1" max:"1000" default:"100" doc:"How many tasks at most."`
}

// TaskList lists the tasks of a caller.
type TaskList struct {
	Tasks []collection.Task `json:"tasks" doc:"The tasks, newest first, without their results."`
}

// batchNow limits the documents in a batch that is written while the caller waits. A larger batch becomes a task.
const batchNow = 100

func documentRoutes() []*route {
	written := []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity}
	return []*route{
		operation(endpoint{route: "PUT /v1/documents/{id}", id: "documentPut", example: `{"text": "# Undo a ` +
			`commit\n\nUse reset.\n", "access": ["public"]}`, summary: "Put a document", scope: access.ScopeIngest, large: true,
			statuses: append([]int{http.StatusCreated}, written...),
			about: "201 when the document is new, 200 when it replaces one. After the answer the document is durable and " +
				"can be found. The tree of the identifier is the tenant; api means no tenant; trees of files cannot be written. " +
				"If-Match needs the ETag of the document, or * for any version. If-None-Match refuses this ETag, and with * " +
				"any existing document. Otherwise the answer is 412."},
			func(ctx context.Context, c *call, in *documentPut) (*collection.Stored, error) {
				stored, err := c.coll.Write(ctx, c.grant, []collection.Change{in.change(&in.Body)}, in.keys(c)...)
				return c.answerStored(stored, err)
			}),
		operation(endpoint{route: "PATCH /v1/documents/{id}", id: "documentPatch",
			example: `{"properties": {"status": "done"}, "access": ["public"]}`, summary: "Change what is known of a document",
			scope: access.ScopeIngest, statuses: written,
			about: "Title, date, properties, access and sets, for a document that was put and that the key may see; " +
				"otherwise 404. Its text stays, and is not embedded again; a new title is. What is left out stays as it is."},
			func(ctx context.Context, c *call, in *documentPatch) (*collection.Stored, error) {
				stored, err := c.coll.Patch(ctx, c.grant, in.change(nil), &in.Body, in.keys(c)...)
				return c.answerStored([]collection.Stored{stored}, err)
			}),
		operation(endpoint{route: "DELETE /v1/documents/{id}", id: "documentDelete", summary: "Delete a document",
			scope: access.ScopeIngest, statuses: []int{http.StatusPreconditionFailed, http.StatusUnprocessableEntity}},
			func(ctx context.Context, c *call, in *documentAt) (*collection.Stored, error) {
				stored, err := c.coll.Write(ctx, c.grant, []collection.Change{in.change(nil)})
				return c.answerStored(stored, err)
			}),
		operation(endpoint{route: "POST /v1/documents", id: "documentsPost", example: `{"documents": [{"id": ` +
			`"api:a.md", "text": "Apples.\n"}, {"id": "api:b.md", "chunks": [{"title": "Pears", "text": "Pears."}]}]}`,
			summary: "Change many documents", scope: access.ScopeIngest, large: true,
			statuses: append([]int{http.StatusAccepted}, written...),
			about: "All changes are made or none, unless the store has no transactions and refuses a document for itself: " +
				"then 422 names those, which stay as they were, and all others are made. 202 with a task when they are done " +
				"later: what was accepted is kept, whatever happens to the server."},
			func(ctx context.Context, c *call, in *batchPost) (*BatchAnswer, error) {
				return c.batch(ctx, in)
			}),
		operation(endpoint{route: "GET /v1/tasks/{id}", id: "task", summary: "Say how a task is",
			scope: access.ScopeIngest},
			func(_ context.Context, c *call, in *taskGet) (*collection.Task, error) {
				return c.coll.Task(c.grant, c.grant.Caller, in.ID)
			}),
		operation(endpoint{route: "GET /v1/tasks", id: "tasks", summary: "List tasks", scope: access.ScopeIngest,
			about: "Those that this caller made, or all for one who may see everything: up to 1,000 that wait and the last " +
				"1,000 that ended."},
			func(_ context.Context, c *call, in *tasksGet) (*TaskList, error) {
				return &TaskList{c.coll.Tasks(c.grant, c.grant.Caller, in.State, in.Limit)}, nil
			}),
	}
}

// answerStored returns the result of writing one document. It also sets the ETag and the status of the answer.
func (c *call) answerStored(stored []collection.Stored, err error) (*collection.Stored, error) {
	if err != nil {
		return nil, inHeader(err)
	}
	if s := &stored[0]; !s.Deleted {
		c.header.Set("ETag", s.ETag)
		if s.Created {
			c.status = http.StatusCreated
		}
	}
	return &stored[0], nil
}

func (c *call) batch(ctx context.Context, in *batchPost) (*BatchAnswer, error) {
	changes := make([]collection.Change, len(in.Body.Documents))
	for i := range in.Body.Documents {
		d := &in.Body.Documents[i]
		changes[i] = collection.Change{ID: d.ID, IfMatch: d.IfMatch, IfNoneMatch: d.IfNoneMatch}
		switch {
		case !d.Delete:
			changes[i].Put = &d.DocumentInput
		case !reflect.ValueOf(d.DocumentInput).IsZero():
			f := fault{Pointer: fmt.Sprintf("#/documents/%d/delete", i), Detail: "a document that is deleted has nothing " +
				"beside its id and conditions"}
			return nil, problem("conflict", "documents/%d/delete: %s", i, f.Detail).with(f)
		}
	}
	if !in.Body.Async && len(changes) <= batchNow {
		stored, err := c.coll.Write(ctx, c.grant, changes, in.keys(c)...)
		return &BatchAnswer{Results: stored}, inBatch(err)
	}
	task, err := c.coll.Submit(ctx, c.grant, c.grant.Caller, changes, in.keys(c)...)
	if err != nil {
		return nil, inBatch(err)
	}
	location := "/v1/tasks/" + task.ID
	if in.Collection != "" {
		location += "?collection=" + url.QueryEscape(in.Collection)
	}
	c.header.Set("Location", location)
	c.status = http.StatusAccepted
	return &BatchAnswer{Results: []collection.Stored{}, Task: task}, nil
}

// conditions maps the name of a condition in a batch to the header with the same meaning.
var conditions = map[string]string{"if_match": "If-Match", "if_none_match": "If-None-Match"}

// inHeader changes an error of a request for one document. If the error names a condition, the result names its header.
func inHeader(err error) error {
	var at *collection.FieldError
	if errors.As(err, &at) && conditions[at.Field] != "" {
		return &collection.FieldError{Field: conditions[at.Field], Err: at.Err}
	}
	return err
}

// inBatch changes an error of a batch. If the error names a field, the result names the place of the field in the body.
func inBatch(err error) error {
	var at *collection.FieldError
	if !errors.As(err, &at) {
		return err
	}
	return &collection.FieldError{Field: fmt.Sprintf("documents/%d/%s", at.Change, at.Field), Err: at.Err}
}
