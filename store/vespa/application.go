package vespa

import (
	"archive/zip"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"

	"sheaf"
	"sheaf/store"
)

//go:embed application/*.tmpl
var templates embed.FS

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templates, "application/*.tmpl"))
})

// maxHits is the largest number of hits of one query that the application allows. It is twice store.MaxLimit, so that
// the store can sort equal scores by ID.
const maxHits = 2 * store.MaxLimit

// TwoPhases is a ranking in two phases on the server, as in the profile onyx-vespa. The values are defaults that a
// query may change, except Floor.
type TwoPhases struct {
	// Alpha is the weight of meaning against words. KeywordAlpha replaces Alpha for queries that consist of keywords.
	// Ratio is the weight of the title against the content.
	Alpha, KeywordAlpha, Ratio float64
	// Decay is the rate at which documents lose score with age. Floor is the smallest factor of old documents.
	Decay, Floor float64
	// Rerank is the number of chunks that the second phase ranks.
	Rerank int
}

// validate returns an error that names a value if the value is out of range.
func (p *TwoPhases) validate() error {
	for name, v := range map[string]float64{"alpha": p.Alpha, "alpha of keywords": p.KeywordAlpha,
		"title_content_ratio": p.Ratio, "floor": p.Floor} {
		if !(v >= 0 && v <= 1) {
			return sheaf.Invalidf("application of vespa: %s is %v: must be within 0..1", name, v)
		}
	}
	switch {
	case !(p.Decay >= 0 && p.Decay <= 1000):
		return sheaf.Invalidf("application of vespa: decay is %v: must be within 0..1000", p.Decay)
	case p.Rerank < 1 || p.Rerank > store.MaxLimit:
		return sheaf.Invalidf("application of vespa: rerank count is %d: must be within 1..%d", p.Rerank, store.MaxLimit)
	}
	return nil
}

// Application returns the application package of a store with these options: the text of each file, by path. A
// ranking in two phases needs vectors of the same dimensions in the fields body and title.
func (o Options) Application() (map[string]string, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	type vector struct {
		Field, Profile string
		Dims           int
	}
	page := struct {
		Schema, Analyzer, WordsProfile, Best, Ranking, K1, B string
		Words                                                []string
		Vectors                                              []vector
		Attributes                                           []attribute
		HNSW                                                 bool
		MaxHits                                              int
	}{Schema: o.Schema, Analyzer: strings.Map(printable, o.Analyzer.Name()), WordsProfile: o.wordsProfile(),
		K1: plain(o.K1), B: plain(o.B), Words: wordFields(), Attributes: attributes, HNSW: o.HNSW, MaxHits: maxHits}
	page.Best = "score_" + page.Words[0]
	for _, f := range page.Words[1:] {
		page.Best = "max(" + page.Best + ", score_" + f + ")"
	}
	for _, v := range o.Vectors {
		page.Vectors = append(page.Vectors, vector{vectorField(v.Name), nearProfile(v), v.Dims})
	}
	if o.Ranking != nil {
		var err error
		if page.Ranking, err = o.twoPhases(o.Ranking); err != nil {
			return nil, err
		}
	}
	out := map[string]string{}
	for name, from := range map[string]string{"services.xml": "services.xml", "hosts.xml": "hosts.xml",
		"search/query-profiles/default.xml": "query-profile.xml",
		"schemas/" + o.Schema + ".sd":       "schema.sd", "schemas/" + o.Schema + "_about.sd": "about.sd"} {
		var text bytes.Buffer
		if err := pages().ExecuteTemplate(&text, from+".tmpl", page); err != nil {
			return nil, err
		}
		out[name] = text.String()
	}
	return out, nil
}

func printable(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// twoPhases returns the rank profiles of a ranking in two phases.
func (o *Options) twoPhases(p *TwoPhases) (string, error) {
	if err := p.validate(); err != nil {
		return "", err
	}
	dims, err := o.hybridDims()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = pages().ExecuteTemplate(&text, "onyx-vespa.sd.tmpl", struct {
		Alpha, KeywordAlpha, Ratio, Decay, Floor, K1, B string
		Rerank, Dims, MaxHits                           int
	}{plain(p.Alpha), plain(p.KeywordAlpha), plain(p.Ratio), plain(p.Decay), plain(p.Floor), plain(o.K1), plain(o.B),
		p.Rerank, dims, maxHits})
	return text.String(), err
}

// hybridDims returns the number of dimensions of the vector fields body and title. If they differ, it returns an error.
func (o *Options) hybridDims() (int, error) {
	dims := store.DimsOf(o.Vectors)
	if dims[store.VectorBody] == 0 || dims[store.VectorBody] != dims[store.VectorTitle] {
		return 0, fmt.Errorf("vespa %s: %w: a ranking in two phases wants vectors of the same dimensions in body and "+
			"title, and they have %d and %d: use an embedding model", o.Schema, sheaf.ErrUnsupported, dims[store.VectorBody],
			dims[store.VectorTitle])
	}
	return dims[store.VectorBody], nil
}

// WriteApplication writes the files of an application package into a folder. It creates a missing folder. If the folder
// has another file, or a file with other content, the error is sheaf.ErrInvalid.
func WriteApplication(dir string, files map[string]string) error {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		want, ours := files[filepath.ToSlash(name)]
		if have, err := os.ReadFile(path); !ours || err != nil || string(have) != want {
			return sheaf.Invalidf("%s is there already and differs: name an empty folder, or remove it", path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// archive returns an application package as one file, in the form that the configuration server takes.
func archive(files map[string]string) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write([]byte(files[name])); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
