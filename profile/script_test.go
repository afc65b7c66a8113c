package profile_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

// A script in testdata/rank has documents, the rankings of branches, and the ranking of a profile:
//
//	# a comment
//	profile NAME limit=3 PARAMETER=VALUE ...
//	query what was asked for
//	docs
//	t:a.md alias=Name tag=x boost=2 date=2025-12-01 links=t:b.md,t:c.md
//	  Heading
//	    Heading below it
//	text               (or text FIELD, for branches with only that field)
//	t:a.md#Heading 5.2
//	vector body
//	t:b.md 0.8
//	result             (-update writes the rest)
//
// The slug of a heading is its title.
type script struct {
	profile  string
	limit    int
	set      map[string]string
	query    string
	docs     []*sheaf.Document
	dates    map[sheaf.ID]time.Time
	links    map[sheaf.ID][]sheaf.ID
	rankings map[string]sheaf.Ranking
	head     string // everything before the result
	result   string
}

func readScript(t *testing.T, file string) *script {
	t.Helper()
	text := must.Get(os.ReadFile(file))
	s := &script{limit: 10, set: map[string]string{}, dates: map[sheaf.ID]time.Time{}, links: map[sheaf.ID][]sheaf.ID{},
		rankings: map[string]sheaf.Ranking{}}
	head, result, ok := strings.Cut(string(text), "\nresult\n")
	if !ok {
		head = strings.TrimSuffix(string(text), "\n")
	}
	s.head, s.result = head, result
	section := ""
	for n, line := range strings.Split(head, "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		words := strings.Fields(line)
		switch {
		case words[0] == "profile":
			s.profile = words[1]
			for _, w := range words[2:] {
				name, value, _ := strings.Cut(w, "=")
				if name == "limit" {
					s.limit, _ = strconv.Atoi(value)
				} else {
					s.set[name] = value
				}
			}
		case words[0] == "query":
			s.query = strings.TrimPrefix(line, "query ")
		case words[0] == "docs" || words[0] == "text" || words[0] == "vector":
			section = line
			if section != "docs" {
				s.rankings[section] = sheaf.Ranking{}
			}
		case section == "docs":
			s.outline(line, words)
		default:
			score, err := strconv.ParseFloat(words[len(words)-1], 64)
			must.That(t, section != "" && err == nil, "%s:%d: %q is not understood", file, n+1, line)
			s.rankings[section] = append(s.rankings[section], sheaf.Hit{ID: sheaf.ID(words[0]), Score: score})
		}
	}
	s.finishOutline()
	return s
}

// outline reads a document or a heading of the previous document.
func (s *script) outline(line string, words []string) {
	if !strings.HasPrefix(line, " ") {
		id := sheaf.ID(words[0])
		_, p, _ := strings.Cut(words[0], ":")
		d := &sheaf.Document{ID: id, Tree: id.Tree(), Path: p, Title: strings.TrimSuffix(path.Base(p), path.Ext(p))}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			switch name {
			case "alias":
				d.Aliases = append(d.Aliases, value)
			case "tag":
				d.Tags = append(d.Tags, value)
			case "date":
				s.dates[id], _ = time.Parse(time.DateOnly, value)
			case "links":
				for to := range strings.SplitSeq(value, ",") {
					s.links[id] = append(s.links[id], sheaf.ID(to))
				}
			default:
				v, _ := strconv.ParseFloat(value, 64)
				d.Properties = append(d.Properties, sheaf.Property{Name: name, Values: []sheaf.Value{sheaf.NumberValue(v)}})
			}
		}
		d.Chunks = []sheaf.Chunk{{ID: id, Doc: id, Title: d.Title, SiblingCount: 1}}
		s.docs = append(s.docs, d)
		return
	}
	d := s.docs[len(s.docs)-1]
	title := strings.TrimSpace(line)
	depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
	parent := d.ID
	for _, c := range d.Chunks {
		if c.Depth < depth {
			parent = c.ID
		}
	}
	d.Chunks = append(d.Chunks, sheaf.Chunk{ID: sheaf.ChunkID(d.ID, title), Doc: d.ID, Parent: parent, Depth: depth,
		Position: len(d.Chunks), Title: title, Slug: title})
}

func (s *script) finishOutline() {
	for _, d := range s.docs {
		children := map[sheaf.ID]int{}
		for _, c := range d.Chunks {
			children[c.Parent]++
		}
		for i := range d.Chunks {
			d.Chunks[i].SiblingCount = children[d.Chunks[i].Parent]
		}
	}
}

// The script implements the facts of its documents.

func (s *script) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	for _, d := range s.docs {
		for _, c := range d.Chunks {
			if c.ID == id {
				return c, true
			}
		}
	}
	return sheaf.Chunk{}, false
}

func (s *script) Document(id sheaf.ID) (sheaf.Document, bool) {
	for _, d := range s.docs {
		if d.ID == id {
			return *d, true
		}
	}
	return sheaf.Document{}, false
}

func (s *script) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(s.Outline, id) }

func (s *script) Outline(doc sheaf.ID) *sheaf.Outline {
	d, ok := s.Document(doc)
	if !ok {
		return nil
	}
	var date sheaf.Dated
	if at, dated := s.dates[doc]; dated {
		date = sheaf.Dated{Time: at, Source: sheaf.DateFrontmatter}
	}
	return sheaf.OutlineOf(&d, date)
}

func (s *script) FolderSize(tree, folder string) (n int) {
	for _, d := range s.docs {
		if d.Tree == tree && strings.TrimPrefix(path.Dir(d.Path), ".") == folder {
			n++
		}
	}
	return n
}

func (s *script) Links(doc sheaf.ID) []sheaf.ID { return s.links[doc] }

func (s *script) Backlinks(doc sheaf.ID) (out []sheaf.ID) {
	for _, d := range s.docs {
		if d.ID != doc && slices.Contains(s.links[d.ID], doc) {
			out = append(out, d.ID)
		}
	}
	return out
}

// The script implements the store, which returns the script's rankings.

func (s *script) Write(context.Context, store.Batch) error { return sheaf.ErrUnsupported }
func (s *script) Close() error                             { return nil }

func (s *script) Retrieve(_ context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	var all sheaf.Ranking
	if req.Vector != nil {
		all = s.rankings["vector "+req.Vector.Field]
	} else {
		all = s.rankings["text"]
		if own, ok := s.rankings["text "+req.Text.Fields[0].Name]; ok && len(req.Text.Fields) == 1 {
			all = own
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(h sheaf.Hit) bool {
		return req.Within != nil && !slices.Contains(req.Within, h.ID)
	})
	all.Sort()
	return all[:min(req.Limit, len(all))], nil
}

func (s *script) search(t *testing.T, explain bool) *search.Result {
	t.Helper()
	p := must.Get(profile.Load(s.profile, profile.Builtin))
	searcher := &search.Searcher{Backend: s, Facts: s, Now: func() time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	},
		Embed: func(context.Context, []string) ([][]float32, error) { return [][]float32{{1}}, nil }}
	searcher.Scanner = scripted{s}
	return must.Get(searcher.Search(context.Background(),
		sheaf.Query{Text: s.query, Words: sheaf.Match{Text: s.query}, Limit: s.limit}, p,
		search.Options{Parameters: s.set, Explain: explain}))
}

// scripted is a script in which every document is a candidate.
type scripted struct{ *script }

func (s scripted) Scan(context.Context, search.ScanRequest) (*search.Scanned, error) {
	return &search.Scanned{Backend: s.script, Facts: s.script}, nil
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "rank", "*.txt"))
	must.That(t, err == nil && len(files) != 0, "no scripts: %v", err)
	shown := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := readScript(t, file)
			shown[s.profile] = true
			result := s.search(t, false)
			golden(t, file, s.head+"\nresult\n"+written(result))
			// With explanations, the ranking is the same and the parts add up to the scores.
			explained := s.search(t, true)
			check.Equal(t, written(explained), written(result), "ranking with explanations")
			for _, h := range explained.Hits {
				checkReason(t, h.ID, h.Score, h.Explanation)
			}
		})
	}
	infos := must.Get(profile.List())
	for _, info := range infos {
		check.That(t, shown[info.Name], "no script shows what profile %s does", info.Name)
	}
}

// written returns one line per hit: rank, id, score, ranks in the legs, constituents.
func written(r *search.Result) string {
	var b strings.Builder
	for _, h := range r.Hits {
		fmt.Fprintf(&b, "%d %s %.6g", h.Rank, h.ID, h.Score)
		for i, leg := range h.Legs {
			if leg.Rank > 0 {
				fmt.Fprintf(&b, " %s:%d", r.Legs[i], leg.Rank)
			}
		}
		for _, c := range h.Constituents {
			fmt.Fprintf(&b, " +%s", strings.TrimPrefix(string(c.ID), string(h.Doc)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func checkReason(t *testing.T, id sheaf.ID, score float64, e *sheaf.Explanation) {
	t.Helper()
	must.That(t, e != nil, "%s has no explanation", id)
	for _, v := range []float64{e.Value, e.Recombine()} {
		must.That(t, math.Abs(v-score) <= 1e-9*max(1, math.Abs(score)),
			"%s scores %v and its explanation gives %v", id, score, v)
	}
	for i := range e.Parts {
		checkReason(t, id, e.Parts[i].Value, &e.Parts[i])
	}
}
