package collection

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// cursorKey is the beginning of an answer's key. Cursors contain this part only.
type cursorKey [8]byte

func (k answerKey) cursor() cursorKey { return cursorKey(k[:len(cursorKey{})]) }

// A cursor is the base64 text of these bytes:
//   - the cursorKey of the answer
//   - the number of the page's first result, and the length of the page (placeBytes each)
//   - the first checkBytes bytes of a hash of the above, the answer's whole key and the caller
const (
	placeBytes = 2
	checkBytes = 4
	tokenBytes = len(cursorKey{}) + 2*placeBytes + checkBytes
)

// cursorOf returns the cursor of the page that begins at result number from. Only this caller can use the cursor.
func (r *Reader) cursorOf(a *answer, from, limit int) string {
	key := a.key.cursor()
	token := binary.BigEndian.AppendUint16(key[:], uint16(from))
	token = binary.BigEndian.AppendUint16(token, uint16(limit))
	check := sha256.Sum256(append(append(a.key[:], token...), r.grant.Caller...))
	return base64.RawURLEncoding.EncodeToString(append(token, check[:checkBytes]...))
}

// readCursor parses a cursor. It returns the cached answer, the number of the page's first result and its length.
func (r *Reader) readCursor(cursor string) (a *answer, from, limit int, err error) {
	token, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(token) != tokenBytes {
		return nil, 0, 0, ErrExpired
	}
	if a = r.c.answers.lookUp(cursorKey(token[:len(cursorKey{})])); a == nil ||
		a.visible != r.guard.visibleTo {
		return nil, 0, 0, ErrExpired
	}
	places := token[len(cursorKey{}):]
	from, limit = int(binary.BigEndian.Uint16(places)), int(binary.BigEndian.Uint16(places[placeBytes:]))
	if r.cursorOf(a, from, limit) != cursor || from > len(a.result.Hits) || limit < 1 || limit > MaxLimit {
		return nil, 0, 0, ErrExpired // the cursor is another caller's, or was changed
	}
	return a, from, limit, nil
}

// Page returns the page of an earlier search that the cursor points to. If the cursor is unknown or expired, or belongs
// to another caller, the error is [ErrExpired]. question repeats Text, Filter, Profile and Sort of the earlier search.
// If one of them differs and is not "", the error is [ErrConflict].
func (r *Reader) Page(ctx context.Context, cursor string, question SearchRequest) (*Answer, error) {
	a, from, limit, err := r.readCursor(cursor)
	if err != nil {
		return nil, err
	}
	for _, of := range []struct{ what, believed, is string }{
		{"query", question.Text, cmp.Or(a.request.Label, a.request.Text)},
		{"profile", question.Profile, cmp.Or(a.request.Profile, a.result.Profile)},
		{"filter", question.Filter, a.request.Filter}, {"sort", question.Sort, a.request.Sort},
	} {
		if of.believed != "" && of.believed != of.is {
			return nil, conflictError("cursor", "it belongs to another %s, %q: ask again without it", of.what, of.is)
		}
	}
	return r.page(ctx, a, from, limit, nil)
}
