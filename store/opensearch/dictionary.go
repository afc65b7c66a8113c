package opensearch

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sheaf"
	"sheaf/store/storekit"
)

// The dictionary is a separate index with one document for each term or form. The best matching term gives the score
// of a prefix or fuzzy word, which the server's own queries cannot compute. So the store looks up the terms first.

// maxTerms is the largest number of terms that one look-up returns.
const maxTerms = 10_000

// maxRemembered is about the largest number of terms that the store caches as present in the dictionary. Above this
// number, learn empties the cache.
const maxRemembered = 1_000_000

// learn adds words to the dictionary, except cached words. Adding a word that the dictionary has is harmless.
func (s *Store) learn(ctx context.Context, words map[string]bool) error {
	s.mu.Lock()
	if len(s.terms.words) > maxRemembered {
		clear(s.terms.words)
	}
	maps.DeleteFunc(words, func(w string, _ bool) bool { return s.terms.words[w] })
	s.mu.Unlock()
	if len(words) == 0 {
		return nil
	}
	var lines [][]byte
	size := 0
	flush := func() error {
		err := s.actions(ctx, s.dictionaryName(), lines, func(_ int, r actionAnswer) error {
			if r.Status >= 300 && r.Status != http.StatusConflict {
				return s.fault(sheaf.ErrUnavailable, "the dictionary refuses terms: status %d: %s", r.Status, r.Error)
			}
			return nil
		})
		lines, size = nil, 0
		return err
	}
	for _, w := range slices.Sorted(maps.Keys(words)) {
		line := slices.Concat(encode(object{"create": object{"_id": key(w)}}), []byte("\n"), encode(object{"t": w}),
			[]byte("\n"))
		lines, size = append(lines, line), size+len(line)
		if size > maxBulk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if err := s.client.Call(ctx, "POST", "/"+s.index()+"-terms/_refresh", nil, nil); err != nil {
		return err
	}
	s.mu.Lock()
	maps.Copy(s.terms.words, words)
	s.mu.Unlock()
	return nil
}

// grow returns the terms of the dictionary that e accepts, in byte order.
func (s *Store) grow(ctx context.Context, e storekit.Expand) ([]storekit.Grown, error) {
	var parts []object
	for _, mark := range []string{"", storekit.FormMark} {
		if mark != "" && !e.Forms {
			continue
		}
		if e.Distance == 0 {
			parts = append(parts, object{"prefix": object{"t": object{"value": mark + e.Text, "rewrite": "constant_score"}}})
		} else {
			parts = append(parts, object{"fuzzy": object{"t": object{"value": mark + e.Text, "fuzziness": e.Distance,
				"transpositions": true, "prefix_length": len(mark) + e.Same, "max_expansions": 1000, "rewrite": "constant_score"}}})
		}
	}
	var found answer
	err := s.client.Call(ctx, "POST", "/"+s.index()+"-terms/_search", object{
		"size": maxTerms, "_source": false, "docvalue_fields": []string{"t"}, "sort": []string{"t"},
		"query": object{"bool": object{"filter": object{"bool": object{"should": parts}}}},
	}, &found)
	if err != nil {
		return nil, err
	}
	if err := s.whole(&found); err != nil {
		return nil, err
	}
	var out []storekit.Grown
	for _, h := range found.Hits.Hits {
		if len(h.Fields.T) == 0 {
			continue
		}
		if w := e.Weight(h.Fields.T[0]); w > 0 {
			out = append(out, storekit.Grown{Term: strings.Clone(h.Fields.T[0]), Weight: w})
		}
	}
	if len(found.Hits.Hits) == maxTerms {
		return nil, s.fault(sheaf.ErrUnsupported, "more than %d terms begin with %q: type more of the word", maxTerms, e.Text)
	}
	return out, nil
}
