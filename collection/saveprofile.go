package collection

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/profile"
)

// ProfileInput is a profile that the lab saves: another profile with changed numbers.
type ProfileInput struct {
	Extends string `json:"extends" required:"true" pattern:"@own" doc:"The parent profile."`
	About   string `json:"about,omitempty" pattern:"@line" doc:"What the profile is for."`

	Parameters map[string]string `json:"-"` // each door decodes them itself
	Replace    bool              `json:"replace" doc:"Write it instead of a saved one of this name."`
}

// JudgedInput has queries, each with its right results.
type JudgedInput struct {
	Queries []JudgedQuery `json:"queries" required:"true" minItems:"1" maxItems:"1000" doc:"The queries."`
	Replace bool          `json:"replace" doc:"Write it instead of a saved one of this name."`
}

// JudgedQuery is a query with its right results.
type JudgedQuery struct {
	Query string `json:"query" required:"true" minLength:"1" pattern:"@query" doc:"The query."`

	Expect []sheaf.ID `json:"expect" required:"true" minItems:"1" maxItems:"100" pattern:"@id" doc:"@expect"`
}

// Saved says where a file was saved.
type Saved struct {
	Name string `json:"name" doc:"The name."`
	File string `json:"file,omitempty" doc:"The file; only for callers who may see everything."`
}

// mayAdminister returns an error for a caller without the scope admin.
func (c *Collection) mayAdminister(grant *access.Grant) error {
	if err := c.notExpired(grant); err != nil {
		return err
	}
	if !grant.May(access.ScopeAdmin) {
		return fmt.Errorf("%w: the key lacks the scope admin", ErrForbidden)
	}
	return nil
}

// SaveProfile writes a profile into the first folder of profiles, where every command finds it. It first checks that
// the profile can be read. If a built-in profile has the name, or if the name exists and Replace is false, the error is
// [ErrConflict]. A profile may extend and replace itself: it then keeps the settings that Parameters does not change.
func (c *Collection) SaveProfile(grant access.Grant, name string, in ProfileInput) (*Saved, error) {
	if err := c.mayAdminister(&grant); err != nil {
		return nil, err
	}
	if len(c.o.ProfileDirs) == 0 {
		return nil, fmt.Errorf("save profile %s: %w: the server has no folder for profiles", name, sheaf.ErrUnsupported)
	}
	if _, _, err := profile.Builtin(name); err == nil {
		return nil, conflictError("name", "%s is a built-in profile: choose another name", name)
	}
	base, err := c.Load(in.Extends)
	if err != nil {
		return nil, inField("extends", err)
	}
	made := madeProfile{Name: name, About: in.About, Extends: in.Extends, Parameters: map[string]any{}}
	file := filepath.Join(c.o.ProfileDirs[0], name+".yaml")
	if in.Extends == name && in.Replace {
		if made, err = readMade(file, name); err != nil {
			return nil, err
		}
		if in.About != "" {
			made.About = in.About
		}
	}
	if len(in.Parameters) > 0 {
		if _, err := base.Plan(usualLimit(base, in.Parameters), in.Parameters); err != nil {
			return nil, inParameters(err)
		}
		for key, value := range in.Parameters {
			made.Parameters[key] = scalar(value)
		}
	}
	content, err := yaml.Marshal(made)
	if err != nil {
		return nil, err
	}
	if in.Extends == name && !in.Replace {
		return nil, nameTakenError(name)
	}
	if _, err := profile.Parse(file, content, c.o.Profiles); err != nil {
		return nil, inParameters(profile.WithoutFolders(err))
	}
	defer c.profiles.reread()
	return saved(&grant, c.o.ProfileDirs[0], name, content, in.Replace)
}

// madeProfile is the content of a profile that SaveProfile wrote.
type madeProfile struct {
	Name       string         `yaml:"name"`
	About      string         `yaml:"about,omitempty"`
	Extends    string         `yaml:"extends"`
	Parameters map[string]any `yaml:"parameters,omitempty"`
}

// readMade reads a profile that SaveProfile wrote. If the file contains more, such as a comment, readMade fails,
// because replacing the file would lose this content.
func readMade(file, name string) (made madeProfile, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, &made, yaml.Strict())
	}
	again, marshalErr := yaml.Marshal(made)
	if err != nil || marshalErr != nil || !bytes.Equal(again, text) {
		return made, fieldError("name", "%s was edited by hand: choose another name, or edit its file",
			name)
	}
	if made.Parameters == nil {
		made.Parameters = map[string]any{}
	}
	return made, nil
}

// scalar returns the value of a parameter as YAML writes it: a number without quotes. It does not parse text as YAML,
// because YAML reads "010" as 8.
func scalar(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

// SaveJudged writes judged queries into the folder of judgements. sheaf eval reads them from there.
func (c *Collection) SaveJudged(grant access.Grant, name string, in JudgedInput) (*Saved, error) {
	if err := c.mayAdminister(&grant); err != nil {
		return nil, err
	}
	if c.o.Judged == "" {
		return nil, fmt.Errorf("save judgements %s: %w: the server has no folder for them", name, sheaf.ErrUnsupported)
	}
	view := c.o.Catalog.View()
	defer view.Close()
	trees := view.Settings().Trees
	at := slices.IndexFunc(trees, func(t catalog.Tree) bool { return t.Root != "" })
	if at < 0 {
		return nil, fmt.Errorf("save judgements %s: %w: the collection has no folder", name, sheaf.ErrUnsupported)
	}
	type query struct {
		Query  string   `yaml:"query"`
		Expect []string `yaml:"expect"`
	}
	out := struct {
		Folder  string  `yaml:"folder"`
		Queries []query `yaml:"queries"`
	}{Folder: trees[at].Root}
	for i, q := range in.Queries {
		judged := query{Query: q.Query}
		for k, id := range q.Expect {
			chunk, known := view.Chunk(id)
			rec, err := view.Record(chunk.Doc)
			if id.Tree() != trees[at].Name || !known || err != nil || !sees(&grant, rec) {
				return nil, &FieldError{Field: fmt.Sprintf("queries/%d/expect/%d", i, k),
					Err: fmt.Errorf("expected a chunk of the folder %s: %w", trees[at].Name, notFound(id))}
			}
			judged.Expect = append(judged.Expect, strings.TrimPrefix(string(id), trees[at].Name+":"))
		}
		out.Queries = append(out.Queries, judged)
	}
	content, err := yaml.Marshal(out)
	if err != nil {
		return nil, err
	}
	return saved(&grant, c.o.Judged, name, content, in.Replace)
}

func nameTakenError(name string) error {
	return conflictError("name", "%s exists already: choose another name, or replace it", name)
}

// saved writes a file called name into a folder. If replace is true, it may replace an existing file. After a crash the
// file is complete or absent. The result has the path only if the caller sees everything.
func saved(grant *access.Grant, dir, name string, content []byte, replace bool) (*Saved, error) {
	base := name + ".yaml"
	if name == "" || filepath.Base(base) != base || !filepath.IsLocal(base) { // con.yaml is the console on Windows
		return nil, fieldError("name", "%q: this system allows no file of this name: choose another name", name)
	}
	file := filepath.Join(dir, base)
	if _, err := os.Stat(file); err == nil && !replace {
		return nil, nameTakenError(name)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := (vfs.Disk{}).MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("save %s: %w", name, err)
	}
	if err := vfs.WriteFile(file, content, 0); err != nil {
		return nil, fmt.Errorf("save %s: %w", name, err)
	}
	out := &Saved{Name: name}
	if grant.SeesAll() {
		out.File = file
	}
	return out, vfs.Disk{}.SyncDir(dir)
}
