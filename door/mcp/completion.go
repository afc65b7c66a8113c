package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf"
	"sheaf/collection"
)

// template is the URI template of passages as resources.
const template = scheme + "://{collection}/{id}"

// maxCompletions is the largest number of completions that the protocol allows.
const maxCompletions = 100

// complete completes a variable of the resource template: the name of a collection, or a document. The client may have
// typed the identifier of the document, or its path in the folder of the collection.
func (s *server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	p := req.Params
	if p.Ref == nil || p.Ref.URI != template {
		return nil, sheaf.Invalidf("ref: only the resource %s is completed", template)
	}
	out := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	switch typed := p.Argument.Value; p.Argument.Name {
	case "collection":
		for _, c := range s.o.Now() {
			if strings.HasPrefix(c.Name(), typed) {
				out.Completion.Values = append(out.Completion.Values, c.Name())
			}
		}
	case "id":
		coll := ""
		if p.Context != nil {
			coll = p.Context.Arguments["collection"]
		}
		list, err := withReader(ctx, s, coll, func(ctx context.Context, r *collection.Reader) (*collection.DocumentList,
			error) {
			list, err := r.Documents(ctx, typed, "", maxCompletions)
			if err == nil && len(list.Documents) == 0 {
				list, err = r.Documents(ctx, string(sheaf.DocumentID(r.Collection().Name(), typed)), "", maxCompletions)
			}
			return list, err
		})
		if err != nil {
			return nil, err
		}
		for _, d := range list.Documents {
			out.Completion.Values = append(out.Completion.Values, string(d.ID))
		}
		out.Completion.HasMore = list.Next != ""
	default:
		return nil, sheaf.Invalidf("argument %q: must be collection or id", p.Argument.Name)
	}
	return out, nil
}
