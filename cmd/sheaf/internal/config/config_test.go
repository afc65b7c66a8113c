package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestErrorsNamePosition(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"limit: 10\nlimti: 3\n", `:2:1: unknown key "limti": did you mean "limit"?`},
		{"hybrid_search:\n  method: rrf\n", `:2:3: unknown key "hybrid_search.method": the keys of hybrid_search are ` +
			`fusion_method, rrf_k`},
		{"hybrid_search:\n  rrf_k: 60.5\n", `:2:10: hybrid_search.rrf_k: is "60.5": must be a whole number within 1..1000`},
		{"embedder:\n  api_key: x\n", `:2:3: unknown key "embedder.api_key": settings hold no secrets: ` +
			`"embedder.key_env" names`},
		{"store_password: x\n", `unknown key "store_password": settings hold no secrets: "store_key_env" names`},
		{"embedder:\n  urll: x\n", `:2:3: unknown key "embedder.urll": did you mean "embedder.url"?`},
		{"zzzzzzzzzzzz: 1\n", "the keys are chunker,"},
		{"chat: {url: localhost}\n", `:1:13: chat.url: is "localhost": must begin with http:// or https://`},
		{"limit: 5000\n", `:1:8: limit: is "5000": must be a whole number within 1..1000`},
		{"limit: [1]\n", ":1:8: limit: is a list: must be a number"},
		{"refresh: maybe\n", "must be true or false"},
		{"color: red\n", "must be one of auto, always, never"},
		{"max_file_size: huge\n", "must be a size such as 32MiB, within 1..4GiB"},
		{"index_memory: 10MB\n", `is "10MB": must be a size such as 256MiB, within 64MiB..64GiB`},
		{"language: english\n", "a code such as en"},
		{"limit: 1\nlimit: 2\n", `:2:1: "limit" is set twice: line 1 has it too`},
		{"limit: &a 1\nworkers: *a\n", "want a plain value"},
		{"- a\n", "want keys with values"},
		{"limit: 1\n---\nlimit: 2\n", "a second document"},
		{"limit: [1\n", "malformed YAML"},
		{"\t\x00: {", "malformed YAML"},
		{"exclude: [{a: 1}]\n", "want a plain value"},
		{"include: ['*.txt', '*.{org,rst}']\n", "braces do not group alternatives"},
		{"exclude: a/{b,c}/\n", `1:10: exclude: has "a/{b": braces`},
	} {
		user := write(t, filepath.Join(t.TempDir(), "config.yaml"), c.text)
		_, err := config.Load(config.Options{UserFile: user})
		check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), c.want) &&
			strings.Contains(err.Error(), user), "%q: error is %v, want invalid, %s and %s", c.text, err, user, c.want)
	}
	_, err := config.Load(config.Options{Environ: []string{"SHEAF_LIMIT=many"}})
	check.That(t, err != nil && strings.Contains(err.Error(), "$SHEAF_LIMIT: limit: is \"many\""), "error is %v", err)
}

// TestEmptyFiles checks that an empty file or section sets nothing. A number without a value is an error.
func TestEmptyFiles(t *testing.T) {
	texts := map[string]bool{"": true, "# nothing yet\n": true, "---\n": true, "limit:  # not set\n": false}
	for _, section := range []string{"hybrid_search", "embedder", "chat", "reranker", "chunk"} {
		texts[section+":\n  # a: comment\nlimit: 10\n"] = true
	}
	for text, right := range texts {
		user := write(t, filepath.Join(t.TempDir(), "config.yaml"), text)
		c, err := config.Load(config.Options{UserFile: user})
		check.That(t, (err == nil) == right && (!right || c.Limit == 10), "%q: %v", text, err)
	}
}

// TestForeignFilesNeedApproval checks which settings of a file need approval. The script config.txtar approves a file.
func TestForeignFilesNeedApproval(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(t.TempDir(), "x")
	text := "embedder:\n  url: http://evil.example/v1\n  key_env: AWS_SECRET_ACCESS_KEY\n  key_file: ../../.ssh/id\n" +
		"chat:\n  model: dear\nreranker:\n  model: dear\nfollow_symlinks: yes\ndata_dir: " + filepath.ToSlash(data) +
		"\nprofile: ../p.yaml\nlink_url: http://evil.example/{path}\nlimit: 7\n"
	project := write(t, filepath.Join(dir, "notes", ".sheaf.yaml"), text)
	trust := &config.Trust{Dir: filepath.Join(dir, "trust")}
	opts := config.Options{Dir: filepath.Dir(project), Trust: trust}
	c, err := config.Load(opts)
	must.Do(t, err)
	check.That(t, len(c.Notices) == 9 && c.Limit == 7 && strings.Contains(c.Notices[0],
		project+":2: embedder.url is ignored"), "notices are %q, values %+v", c.Notices, c.Values)
	c.Limit = 10
	if plain, err := config.Load(config.Options{}); err != nil || !reflect.DeepEqual(c.Values, plain.Values) {
		t.Errorf("values before approval are %+v, %v", c.Values, err)
	}
	if found, err := config.Sensitive(project, []byte(text)); err != nil || len(found) != 9 {
		t.Errorf("sensitive settings are %q, %v", found, err)
	}
	must.Do(t, trust.Approve(project, []byte(text)))
	c, err = config.Load(opts)
	check.That(t, err == nil && len(c.Notices) == 0 && c.DataDir == data && c.Embedder.KeyFile == filepath.Join(dir, "..",
		".ssh", "id"), "after approval: %v, notices %q, values %+v", err, c.Notices, c.Values)
}

func TestHarmlessPathsNeedNoApproval(t *testing.T) {
	dir := t.TempDir()
	project := write(t, filepath.Join(dir, "sheaf.yaml"), "data_dir: .index\nprofile: ranking/mine.yaml\nembedder:\n  "+
		"url: \"\"\n")
	if err := os.Symlink("/", filepath.Join(dir, "out")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	c, err := config.Load(config.Options{Dir: dir})
	check.That(t, err == nil && len(c.Notices) == 0 && c.DataDir == filepath.Join(dir, ".index"),
		"%v, notices %q, data_dir %s", err, c.Notices, c.DataDir)
	elsewhere := t.TempDir()
	for link, to := range map[string]string{"other": elsewhere, "nowhere": filepath.Join(elsewhere, "none"),
		"in": filepath.Join(dir, "ranking")} {
		must.Do(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	must.Do(t, os.Mkdir(filepath.Join(dir, "ranking"), 0o755))
	for path, notices := range map[string]int{"out": 1, "other": 1, "other/none/deeper": 1, "nowhere": 1, "nowhere/x": 1,
		"in": 0, "in/none/deeper": 0, "none/deeper": 0} {
		write(t, project, "data_dir: "+path+"\n")
		c, err = config.Load(config.Options{Dir: dir})
		check.That(t, err == nil && len(c.Notices) == notices, "%s: %v, notices %q, want %d", path, err, c.Notices, notices)
	}
}

// TestUnsetOfMissingKey checks that a failed Unset leaves the file unchanged, also without a line end at its end.
func TestUnsetOfMissingKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sheaf.yaml")
	const content = "language: en"
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	check.Is(t, config.Unset(path, "limit"), sheaf.ErrNotFound, "unset twice")
	got, err := os.ReadFile(path)
	check.That(t, err == nil && string(got) == content, "the file is %q, %v", got, err)
}

func TestSetKeepsOtherKeys(t *testing.T) {
	for _, c := range []struct{ name, before, key, values, want string }{
		{"new file", "", "limit", "20", "limit: 20\n"},
		{"replace", "# mine\nlimit: 10 # few\nworkers: 2\n", "limit", "20", "# mine\nlimit: 20 # few\nworkers: 2\n"},
		{"append", "# mine\nworkers: 2", "limit", "20", "# mine\nworkers: 2\nlimit: 20\n"},
		{"nested, new", "limit: 3\n", "embedder.model", "bge-m3", "limit: 3\nembedder:\n  model: bge-m3\n"},
		{"nested, in group", "embedder:\n    url: http://a/v1\nlimit: 3\n", "embedder.model", "bge-m3",
			"embedder:\n    model: bge-m3\n    url: http://a/v1\nlimit: 3\n"},
		{"nested, replace", "embedder:\n  url: http://a/v1 # here\nlimit: 3\n", "embedder.url", "https://b/v1",
			"embedder:\n  url: \"https://b/v1\" # here\nlimit: 3\n"},
		{"dotted", "embedder.url: http://a/v1\n", "embedder.url", "http://b/v1", "embedder.url: \"http://b/v1\"\n"},
		{"list", "exclude:\n  - a\n  - b\nlimit: 3\n", "exclude", "*.tmp|old", "exclude: [\"*.tmp\", old]\nlimit: 3\n"},
		{"flow list", "exclude: [a,\n  b]\nlimit: 3\n", "exclude", "c", "exclude: [c]\nlimit: 3\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "deep", "config.yaml")
			if c.before != "" {
				write(t, path, c.before)
			}
			must.Do(t, config.Set(path, c.key, strings.Split(c.values, "|")))
			got, err := os.ReadFile(path)
			check.That(t, err == nil && string(got) == c.want, "got\n%swant\n%s(%v)", got, c.want, err)
		})
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"limit: 10\n", "embedder:\n  url: x\n", "exclude: [a, b]", "a: &x [*x]", "? {}",
		"---\n...", "limit: !!int 3", "\xff\xfe", "{{{{{{"} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, "config.yaml")
		must.Do(t, os.WriteFile(path, content, 0o644))
		_, err := config.Load(config.Options{UserFile: path})
		check.That(t, err == nil || errors.Is(err, sheaf.ErrInvalid), "%q: %v is not invalid", content, err)
		if err := config.Set(path, "limit", []string{"12"}); err != nil {
			return
		}
		after, err := config.Load(config.Options{UserFile: path})
		if err == nil && after.Limit != 12 {
			t.Errorf("%q: limit is %d after it was set", content, after.Limit)
		}
	})
}
