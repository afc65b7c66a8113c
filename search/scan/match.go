package scan

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"sheaf/ingest"
	"sheaf/search"
	"sheaf/text/chunk"
)

// match is a file with needles (texts to search for). Bit i of path or content is set if needle i is there. worth sums
// up their rarities.
type match struct {
	file          int
	path, content uint64
	worth         float64
}

// needleMatches is the result of a search for needles.
type needleMatches struct {
	files   []ingest.File
	needles []string
	leftOut leftOut
	matches []match // best first
}

// match looks for the needles of a request in the paths and then in the files.
func (s *Scanner) match(ctx context.Context, files []ingest.File, req search.ScanRequest) (*needleMatches, error) {
	texts, not, all := needles(s.o.Analyzer, req.Queries, req.Terms, req.Words)
	out := &needleMatches{files: files, needles: texts, leftOut: not}
	if len(texts) == 0 && !all {
		return out, nil
	}
	results := make([]match, len(files))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range 2 * runtime.GOMAXPROCS(0) { // more workers than processors, because reading waits
		group.Go(func() error {
			w := &matcher{Scanner: s, folder: newFolder(s.o.Analyzer), needles: make([][]byte, len(texts))}
			for i, text := range texts {
				w.needles[i] = []byte(text)
			}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				results[i] = w.file(i, &files[i])
			}
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	out.matches = results
	if !all {
		out.matches = slices.DeleteFunc(results, func(m match) bool { return (m.path|m.content)&^not.forbiddenOnly == 0 })
	}
	rankMatches(out.matches, len(files), len(texts), not)
	return out, nil
}

// matcher examines files, one at a time. It finds the needles in them.
type matcher struct {
	*Scanner
	folder  *folder
	needles [][]byte
	buffer  []byte
}

// file finds the needles in one file. It does not search the text for needles that the path has. A file that is
// unreadable or has no text matches only by its path.
func (w *matcher) file(i int, f *ingest.File) match {
	m := match{file: i}
	m.path = w.look([]byte(f.Path), 0)
	data, err := w.readFile(f.Path, f.Bytes, w.buffer)
	if err != nil {
		return m
	}
	w.buffer = data[:0]
	if text, ok := w.textOf(f.Path, data); ok {
		if chunk.KindOf(f.Path) == chunk.KindMarkdown {
			if read := chunk.AsRead(unsafe.String(unsafe.SliceData(text), len(text))).Text; len(read) < len(text) {
				text = []byte(read)
			}
		}
		m.content = w.look(text, m.path)
	}
	return m
}

// look returns which needles text contains: bit i stands for w.needles[i]. It skips the needles whose bits are set in
// the parameter known, so the result does not have these bits.
func (w *matcher) look(text []byte, known uint64) uint64 {
	folded := withoutLineHyphens(w.folder.fold(text))
	var mask uint64
	for i, needle := range w.needles {
		if known>>i&1 == 0 && bytes.Contains(folded, needle) {
			mask |= 1 << i
		}
	}
	return mask
}

// rankMatches sorts matches by score, best first. files is the number N of all files. refused says which needles belong
// to forbidden words.
//   - A needle in n of the N files adds ln(1 + (N - n + 0.5)/(n + 0.5)) to the score of a file.
//   - A needle in the path of the file adds this twice.
//   - Of files with equal scores, a file without forbidden words comes first. Then the order of paths decides.
//   - Forbidden words do not change the score, because their letters may be in other words or in another section.
func rankMatches(matches []match, files, needles int, refused leftOut) {
	rarity := make([]float64, needles)
	for i := range rarity {
		n := 0
		for j := range matches {
			n += int((matches[j].path | matches[j].content) >> i & 1)
		}
		rarity[i] = math.Log(1 + (float64(files)-float64(n)+0.5)/(float64(n)+0.5))
	}
	for j := range matches {
		m := &matches[j]
		for _, mask := range [...]uint64{m.path, m.path | m.content} {
			for mask &^= refused.forbiddenOnly; mask != 0; mask &= mask - 1 {
				m.worth += rarity[bits.TrailingZeros64(mask)]
			}
		}
	}
	last := func(m *match) int { return min(1, bits.OnesCount64((m.path|m.content)&refused.forbidden)) }
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), last(&a)-last(&b), cmp.Compare(a.file, b.file))
	})
}

// needlesOf returns a list, for people, of the needles in mask. It omits needles that only forbidden words have.
func (f *needleMatches) needlesOf(mask uint64) string {
	var names []string
	for i, n := range f.needles {
		if mask&^f.leftOut.forbiddenOnly>>i&1 == 1 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}
