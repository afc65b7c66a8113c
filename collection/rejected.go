package collection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/ingest"
	"sheaf/store"
)

// RejectedError means that the store accepted only some changes of a request, because it has no transactions. Rejected
// documents do not change.
type RejectedError struct {
	Rejected map[sheaf.ID]error // why each document was refused
	Changes  map[sheaf.ID]int   // the index of the change, from 0
	Made     int                // number of changes that succeeded
	// Lost says why the store lacks earlier versions of rejected documents too, or is nil. These versions stay missing
	// until the documents are written again or the server restarts.
	Lost error
}

// Error returns a text that names every rejected document, with the reason.
func (e *RejectedError) Error() string {
	reasons := make([]string, 0, len(e.Rejected))
	for _, id := range slices.Sorted(maps.Keys(e.Rejected)) {
		reasons = append(reasons, fmt.Sprintf("%s (%v)", id, e.Rejected[id]))
	}
	text := fmt.Sprintf("the store refuses %s: %d of %d changes are made, and the refused documents are unchanged",
		strings.Join(reasons, ", "), e.Made, e.Made+len(e.Rejected))
	if e.Lost != nil {
		text += fmt.Sprintf(", except that the store lacks earlier versions now (%v): put them again, or restart "+
			"the server", e.Lost)
	}
	return text
}

// partOf returns the RejectedError of a request with these results, or nil if the store rejected none of their
// documents.
func partOf(results []Stored, rejected map[sheaf.ID]error) *RejectedError {
	out := &RejectedError{Rejected: map[sheaf.ID]error{}, Changes: map[sheaf.ID]int{}}
	for i := range results {
		if why := rejected[results[i].ID]; why != nil {
			out.Rejected[results[i].ID], out.Changes[results[i].ID] = why, i
		}
	}
	if len(out.Rejected) == 0 {
		return nil
	}
	out.Made = len(results) - len(out.Rejected)
	return out
}

// restoreRejected restores the earlier versions of documents whose new versions the store refused.
func (c *Collection) restoreRejected(ctx context.Context, results []Stored, partial *store.PartialError) error {
	out := partOf(results, partial.Rejected)
	if out == nil {
		return partial
	}
	var before []ingest.Given
	out.Lost = c.given.file.View(func(tx *intake.Tx) (lost error) {
		for _, id := range slices.Sorted(maps.Keys(out.Rejected)) {
			content, _ := tx.Before(id)
			if content == nil || c.given.isRefused(id) {
				continue
			}
			doc, err := decodeGiven(id, content)
			if err != nil {
				lost = errors.Join(lost, err)
				continue
			}
			before = append(before, doc.toGiven(id, content))
		}
		return lost
	})
	if len(before) > 0 {
		out.Lost = errors.Join(out.Lost, c.index(ctx, before, nil))
	}
	if out.Lost != nil {
		c.notice(fmt.Errorf("some changes of documents are lost until they are put again or the server restarts: %w",
			out.Lost))
	}
	return out
}

// isRefused reports whether the store has refused a given document.
func (g *givenState) isRefused(id sheaf.ID) bool {
	_, refused := g.refused.Load(string(id))
	return refused
}

// refusals lists the given documents that the store refused and that have not changed since. It also lists unreadable
// files of documents and tasks.
func (g *givenState) refusals() []Skip {
	var refused, unread []Skip
	g.refused.Range(func(id, why any) bool {
		of := sheaf.ID(id.(string))
		refused = append(refused, Skip{of.Tree(), of.Path(), ingest.ReasonRefused, why.(string) + "; it is kept, and tried " +
			"again when the server starts: put another version, or delete it"})
		return true
	})
	g.unreadable.Range(func(file, why any) bool {
		unread = append(unread, unreadable(file.(string), why.(string)))
		return true
	})
	byName := func(a, b Skip) int { return strings.Compare(a.Tree+":"+a.Path, b.Tree+":"+b.Path) }
	slices.SortFunc(refused, byName)
	slices.SortFunc(unread, byName)
	return append(refused, unread...)
}

func unreadable(file, why string) Skip {
	return Skip{"", file, ingest.ReasonUnreadable, why + "; it is kept, and read again when the server starts: make it " +
		"readable, or remove it"}
}

// unread records that a document, a task or a file cannot be read. Status shows file as the name, and why as the
// reason.
func (c *Collection) unread(file string, why error) {
	c.notice(why)
	c.given.unreadable.Store(file, why.Error())
}
