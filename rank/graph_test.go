package rank_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/rank"
)

// selfLinks adds links of a document to itself.
type selfLinks struct{ *shelf }

func (l selfLinks) Backlinks(doc sheaf.ID) []sheaf.ID {
	out := l.shelf.Backlinks(doc)
	if slices.Contains(l.links[doc], doc) {
		out = append(out, doc)
	}
	return out
}

// TestGraphBoostPairByPair checks the boost against its formula for every pair of documents: links
// among the candidates, common citations, shared tags. A document does not count for itself, and
// each other document counts once in each count.
func TestGraphBoostPairByPair(t *testing.T) {
	moved := 0
	rapid.Check(t, func(t *rapid.T) {
		l := newShelf()
		var docs []sheaf.ID
		links := map[[2]sheaf.ID]bool{}
		for i := range 7 {
			d := l.add(sheaf.ID(fmt.Sprintf("t:%d.md", i)), "A")
			d.Tags = rapid.SliceOfN(rapid.SampledFrom([]string{"go", "Go", "rust", "zig"}), 0, 2).Draw(t, "tags")
			docs = append(docs, d.ID)
		}
		for range rapid.IntRange(0, 12).Draw(t, "links") {
			from, to := rapid.SampledFrom(docs).Draw(t, "from"), rapid.SampledFrom(docs).Draw(t, "to")
			l.link(from, to)
			links[[2]sheaf.ID{from, to}] = true
		}
		var in sheaf.Ranking
		for i, id := range docs[:rapid.IntRange(1, 5).Draw(t, "found")] { // the ranking lacks some linking documents
			in = append(in, hit(id, float64(20-i)), hit(l.docs[id].Chunks[1].ID, float64(10-i)))
		}
		in.Sort()
		weight := func(name string, w float64) float64 { return rapid.SampledFrom([]float64{0, w}).Draw(t, name) }
		stage := rank.GraphBoost{Candidates: rapid.IntRange(1, 6).Draw(t, "candidates"), Backlink: weight("backlink", 1),
			CoCitation: weight("co-citation", 0.5),
			SharedTag:  weight("shared tag", 0.3), Strength: 0.1, Max: rapid.SampledFrom([]float64{0, 1.15}).Draw(t, "max")}
		boosted := must.Get(stage.Apply(in, rank.Env{Facts: selfLinks{l}}))
		out := scoresOf(boosted)

		candidates := docs[:min(len(in)/2, stage.Candidates)] // best first
		tagged := func(id sheaf.ID, tag string) bool {
			return slices.ContainsFunc(l.docs[id].Tags, func(own string) bool { return strings.EqualFold(own, tag) })
		}
		for i := range in {
			doc, _, _ := strings.Cut(string(in[i].ID), "#")
			id, sum := sheaf.ID(doc), 0.0
			for _, other := range candidates {
				if other == id || !slices.Contains(candidates, id) {
					continue
				}
				if links[[2]sheaf.ID{other, id}] {
					sum += stage.Backlink
				}
				if slices.ContainsFunc(docs, func(source sheaf.ID) bool {
					return source != id && source != other && links[[2]sheaf.ID{source, id}] && links[[2]sheaf.ID{source, other}]
				}) {
					sum += stage.CoCitation
				}
				if slices.ContainsFunc(l.docs[id].Tags, func(tag string) bool { return tagged(other, tag) }) {
					sum += stage.SharedTag
				}
			}
			factor := 1 + stage.Strength*math.Log(1+sum)
			if stage.Max > 0 {
				factor = min(factor, stage.Max)
			}
			if factor > 1 {
				moved++
			}
			got, want := out[string(in[i].ID)], in[i].Score*factor
			must.That(t, near(got, want), "%+v, links %v: %s scores %v, want %v", stage, links, in[i].ID, got, want)
		}
	})
	check.That(t, moved != 0, "no document was connected with another one: nothing is shown")
}
