package config

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheaf/ingest"
	"sheaf/model/openai"
	"sheaf/store/embedded"
	"sheaf/text/chunk"
)

// Values has the settings of a run, with a typed field for each. The table of keys explains the settings.
type Values struct {
	Words
	Walk
	Models
	Answers
	Engine
	Display
	Chunk   chunk.Options // Window.Tokens is not set, because it depends on the model
	Store   Store
	DataDir string
}

// Words has settings for splitting text into terms.
type Words struct {
	Language  string
	StopWords bool
}

// Walk says which files of a folder are documents.
type Walk struct {
	Include, Exclude []string
	MaxFileSize      int64 // in bytes; larger files are skipped
	FollowSymlinks   bool
	Comments         string
}

// Options returns the options of a walk through a folder.
func (w *Walk) Options() ingest.WalkOptions {
	return ingest.WalkOptions{Include: w.Include, Exclude: w.Exclude, MaxFileBytes: w.MaxFileSize,
		FollowLinks: w.FollowSymlinks}
}

// Models are the models that embed texts, rewrite queries and rerank results.
type Models struct {
	Embedder Embedder
	Chat     Endpoint // rewrites queries, for profiles that use it
	Reranker Reranker
}

// Answers has settings for answering queries.
type Answers struct {
	Profile      string
	Limit        int
	Refresh      bool
	CacheSize    int64 // in bytes
	HybridSearch HybridSearch
}

// Engine says how the engine builds its index and counts words.
type Engine struct {
	Workers     int
	IndexMemory int64 // in bytes
	MergeRate   int64 // bytes a second; 0 pauses merges
	BM25        string
}

// Display says how a terminal shows results.
type Display struct {
	Color   string
	LinkURL string
}

// Store says where chunks are stored. Without an address, the engine stores them in the folder of the index.
type Store struct {
	URL, KeyEnv, KeyFile, CAFile string
	// CertFile and CertKeyFile are the client's certificate and its key.
	CertFile, CertKeyFile string
}

// HybridSearch has the defaults of /v1/rrf/search, the HTTP operation that joins a search by words and one by meaning.
type HybridSearch struct {
	FusionMethod string
	RRFK         int
}

// Endpoint is the address of a model server, and the place of its secret. An empty address means no server.
type Endpoint struct{ URL, Model, KeyEnv, KeyFile string }

// Embedder says which model computes the vectors of texts.
type Embedder struct {
	Endpoint
	// Use selects the model: EmbedderAuto, EmbedderBuiltIn or EmbedderNone.
	Use  string
	Dims int
	// QueryPrefix is put before each query, and PassagePrefix before each passage. Some models need such prefixes.
	QueryPrefix, PassagePrefix string
}

// Remote reports whether an endpoint computes the vectors.
func (e Embedder) Remote() bool {
	return e.Use != EmbedderBuiltIn && e.Use != EmbedderNone && e.URL != ""
}

// Reranker is the model that reranks the first results. Only some profiles use it.
type Reranker struct {
	Endpoint
	Shape string
}

// These are the values of the setting embedder.use.
const (
	// EmbedderAuto means the endpoint if its address is set, otherwise the built-in model.
	EmbedderAuto = "auto"
	// EmbedderBuiltIn means the built-in model, even if the address of an endpoint is set.
	EmbedderBuiltIn = "built-in"
	// EmbedderNone means no model: searches use only words.
	EmbedderNone = "none"
)

// These are the values of the setting comments.
const (
	// CommentsAuto searches the comments in texts until the index has keys, because with keys other people may search.
	CommentsAuto   = "auto"
	CommentsSearch = "search"
	CommentsHide   = "hide"
)

// These are the values of the setting bm25, which says how the engine counts words.
const (
	// BM25Exact uses the exact length of a text, and an idf over the chunks that have the field.
	BM25Exact = "exact"
	// BM25Lucene rounds the lengths of texts as OpenSearch and Elasticsearch do.
	BM25Lucene = "lucene"
	// BM25Weaviate is like BM25Exact, but with an idf over all chunks.
	BM25Weaviate = "weaviate"
)

// embedderGroup is a section that a file may also set to a plain value, as in "embedder: none", for embedderKey.
const (
	embedderGroup = "embedder"
	embedderKey   = "embedder.use"
)

// Kind is the type of a setting.
type Kind uint8

// These are the kinds of settings.
const (
	KindText Kind = iota
	KindNumber
	KindBool
	KindSize // bytes, written 10MB, 512KiB or 1048576
	KindList // texts; comma-separated in the environment
)

// String returns "text", "number", "true or false", "size" or "list".
func (k Kind) String() string {
	return [...]string{"text", "number", "true or false", "size", "list"}[k]
}

// Key describes one setting.
type Key struct {
	Name string
	// Flag is the command-line flag of the key, without dashes; "" for none.
	Flag string
	Kind Kind
	// Default is the default value in the form that a file has.
	Default string
	// Min and Max limit a number or a size.
	Min, Max int64
	// Allowed lists the valid texts; nil allows any text.
	Allowed []string
	// Path says that the text is the path of a file or folder. A relative path starts at the folder of the file that
	// sets it, or else at the working folder. "~/" means the home folder.
	Path bool
	// Help explains the setting in one line.
	Help string

	pattern *regexp.Regexp
	// trust says why a value in a stranger's file needs approval. If it is "", every value is harmless. The default, an
	// empty value, and a value for which harmless is true need no approval. harmless also gets dir, the folder of the
	// file.
	trust    string
	harmless func(value, dir string) bool
}

// These are reasons why a value in a stranger's file needs approval; a chosen model may cost money.
const (
	choosesModel = "it chooses what your endpoint is asked for"
	namesOutside = "it names a path outside the folder"
)

var keys = []Key{
	{Name: "chunker", Flag: "chunker", Allowed: []string{"tree", "sections", "window"}, Default: "tree",
		Help: "how documents are cut: tree (along the headings), sections (with a size cap) or window (of tokens)"},
	{Name: "chunk.section_cap", Flag: "cap", Kind: KindNumber, Default: "6000", Min: 100, Max: 1 << 30,
		Help: "chunker sections: most characters of a piece"},
	{Name: "chunk.window_size", Flag: "size", Kind: KindNumber, Default: "512", Min: 1, Max: 1 << 20,
		Help: "chunker window: most tokens of a window: pieces of words as the built-in model reads them, words with " +
			"another model or none"},
	{Name: "chunk.window_overlap", Flag: "overlap", Kind: KindNumber, Default: "0", Max: 1 << 20,
		Help: "chunker window: tokens shared with the window before, fewer than its size"},
	{Name: "chunk.window_boundary", Flag: "boundary", Allowed: []string{"token", "line", "sentence"}, Default: "token",
		Help: "chunker window: where windows may end: after a token, line or sentence"},
	{Name: "chunk.window_large", Flag: "large", Kind: KindBool, Default: "false",
		Help: "chunker window: also make a large chunk of every four windows"},
	{Name: "chunk.window_title_prefix", Flag: "title-prefix", Kind: KindBool, Default: "false",
		Help: "chunker window: count the title, which is embedded with every window, in its size"},
	{Name: "chunk.window_metadata_suffix", Flag: "metadata-suffix", Kind: KindBool, Default: "false",
		Help: "chunker window: embed the properties with every window, count them in its size, and find every window by " +
			"their values"},
	{Name: "chunk.github_slugs", Flag: "github-slugs", Kind: KindBool, Default: "false",
		Help: "ignore the {#id} that authors give to headings"},
	{Name: "language", Flag: "language", Default: "auto", pattern: regexp.MustCompile(`^(auto|none|[a-z]{2})$`),
		Help: "language of the words: auto (detected when the index is made), none (no stemming), or a code such " +
			"as en, de, fr"},
	{Name: "stop_words", Flag: "stop-words", Kind: KindBool, Default: "false",
		Help: "leave out the most frequent words of the language when indexing"},
	{Name: "include", Flag: "include", Kind: KindList,
		Help: "patterns, as in .gitignore, of the files to index beside " + ingest.Endings()},
	{Name: "exclude", Flag: "exclude", Kind: KindList,
		Help: "patterns, as in .gitignore, of files to leave out"},
	{Name: "max_file_size", Flag: "max-file-size", Kind: KindSize, Default: "32MiB", Min: 1, Max: 1 << 32,
		Help: "larger files are left out"},
	{Name: "follow_symlinks", Flag: "follow-symlinks", Kind: KindBool, Default: "false",
		trust: "it lets the index read files outside the folder",
		Help:  "follow symbolic links, also out of the folder"},
	{Name: "comments", Flag: "comments", Allowed: []string{CommentsAuto, CommentsSearch, CommentsHide},
		Default: CommentsAuto,
		Help: "comments in Markdown, <!-- --> and %% %%: search is text like other text; hide is no text, neither found " +
			"nor shown; auto is search, and hide when the index has keys"},
	{Name: embedderKey, Allowed: []string{EmbedderAuto, EmbedderBuiltIn, EmbedderNone}, Default: EmbedderAuto,
		Help: "what finds by meaning; in files also \"embedder: none\". auto is the endpoint of embedder.url when one is " +
			"set, else the built-in model; built-in is that model; none is words alone"},
	{Name: "embedder.url", trust: "it names an endpoint that texts are sent to",
		Help: "base address of an OpenAI-compatible endpoint, such as http://localhost:11434/v1; empty for none"},
	{Name: "embedder.model", trust: choosesModel,
		Help: "model that the endpoint is asked for"},
	{Name: "embedder.dims", Kind: KindNumber, Default: "0", Max: 16384,
		Help: "dimensions of its vectors; 0 to take what comes"},
	{Name: "embedder.query_prefix",
		Help: "put before queries, as some models want"},
	{Name: "embedder.passage_prefix",
		Help: "put before passages, as some models want"},
	keyEnv("embedder.", "the endpoint's key"),
	keyFile("embedder.", "the endpoint's key"),
	{Name: "chat.url", trust: "it names an endpoint that queries are sent to",
		Help: "base address of an OpenAI-compatible chat endpoint that puts queries in other words, for profiles that " +
			"ask for it; empty for none"},
	{Name: "chat.model", trust: choosesModel,
		Help: "chat model at that endpoint"},
	keyEnv("chat.", "the chat endpoint's key"),
	keyFile("chat.", "the chat endpoint's key"),
	{Name: "reranker.url", trust: "it names an endpoint that queries and texts are sent to",
		Help: "base address of a reranking endpoint, such as http://localhost:8080/v1, for profiles that ask for it; " +
			"empty for none"},
	{Name: "reranker.model", trust: choosesModel,
		Help: "reranking model at that endpoint"},
	{Name: "reranker.shape", Allowed: []string{string(openai.ShapeCohere), string(openai.ShapeTEI)},
		Default: string(openai.ShapeCohere),
		Help:    "what it speaks: cohere (also Jina, vLLM, llama.cpp) or tei (Text Embeddings Inference)"},
	keyEnv("reranker.", "the reranking endpoint's key"),
	keyFile("reranker.", "the reranking endpoint's key"),
	{Name: "profile", Flag: "profile", Default: "sheaf", trust: namesOutside, harmless: insideFile,
		Help: "ranking profile: a name, or a path that ends in .yaml"},
	{Name: "limit", Flag: "limit", Kind: KindNumber, Default: "10", Min: 1, Max: 1000,
		Help: "number of results"},
	{Name: "workers", Flag: "workers", Kind: KindNumber, Default: "0", Max: 1024,
		Help: "files indexed at once; 0 for the number of processors"},
	{Name: "cache_size", Kind: KindSize, Default: "32MiB", Max: 1 << 36,
		Help: "memory for remembered answers in serve and mcp; 0 remembers none"},
	{Name: "index_memory", Kind: KindSize, Default: "256MiB", Min: embedded.LeastMemory, Max: 1 << 36,
		Help: "memory that the engine takes while it builds the index, beside the program, the documents that are read " +
			"and mapped files"},
	{Name: "merge_rate", Kind: KindSize, Default: "64MiB", Max: 1 << 36,
		Help: "how much the engine writes in a second, at most, while it merges parts of the index in the background; 0 " +
			"pauses that"},
	{Name: "refresh", Kind: KindBool, Default: "true",
		Help: "bring the index up to date before searching"},
	{Name: "color", Flag: "color", Allowed: []string{"auto", "always", "never"}, Default: "auto",
		Help: "colored output: auto is on a terminal only"},
	{Name: "link_url", Default: "file://{path}", trust: "it makes the addresses behind the links that are shown",
		Help: "address behind result links on a terminal, with {path} and {line}, such as vscode://file{path}:{line} or " +
			"obsidian://open?path={path}; empty for no links"},
	{Name: "hybrid_search.fusion_method", Allowed: []string{"rrf", "weighted_sum"}, Default: "rrf",
		Help: "how /v1/rrf/search joins its two searches: rrf or weighted_sum"},
	{Name: "hybrid_search.rrf_k", Kind: KindNumber, Default: "60", Min: 1, Max: 1000,
		Help: "constant of its reciprocal ranks, within 10 and 100 in most uses"},
	{Name: "store", trust: "it names a server that texts are sent to",
		Help: "address of the server that keeps the index, such as postgres://me@host/db or opensearch://host:9200; " +
			"empty, or embedded, for the engine on this machine"},
	keyEnv("store_", "the store's password, key or token"),
	keyFile("store_", "the store's password, key or token"),
	{Name: "store_ca_file", Path: true, trust: "it chooses which servers are trusted",
		Help: "certificates, PEM, that the store's own is checked with; empty for those that the system trusts"},
	{Name: "store_cert_file", Path: true, trust: "it names a file that says who you are",
		Help: "certificate, PEM, that is shown to the store's server (mutual TLS); empty for none"},
	{Name: "store_cert_key_file", Path: true, trust: "it names a file that says who you are",
		Help: "key, PEM, of the certificate that is shown to the store's server"},
	{Name: "bm25", Allowed: []string{BM25Exact, BM25Lucene, BM25Weaviate}, Default: BM25Exact,
		Help: "how the engine counts what scores of words are made of: exact, or lucene or weaviate for the order that " +
			"the same index has on OpenSearch and Elasticsearch, or on Weaviate"},
	{Name: "data_dir", Path: true, trust: namesOutside, harmless: insideFolder,
		Help: "folder that holds the indexes; empty for sheaf in the user's data folder"},
}

// keyEnv describes a setting whose value is the name of an environment variable that holds a secret.
func keyEnv(prefix, secret string) Key {
	return Key{Name: prefix + "key_env", pattern: regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)?$`),
		trust: "it names a secret that is sent out", Help: "environment variable that holds " + secret}
}

// keyFile describes a setting whose value is the path of a file that holds a secret.
func keyFile(prefix, secret string) Key {
	return Key{Name: prefix + "key_file", Path: true, trust: "it names a file whose content is sent out",
		Help: "file that holds " + secret}
}

func insideFolder(p, dir string) bool {
	return !strings.HasPrefix(p, "~") && !filepath.IsAbs(p) && filepath.IsLocal(filepath.FromSlash(p)) && staysIn(dir, p)
}

// insideFile reports whether p is the name of a profile, or a path that stays inside dir.
func insideFile(p, dir string) bool {
	isPath := strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml") || strings.ContainsAny(p, `/\`)
	return !isPath || insideFolder(p, dir)
}

// staysIn reports whether p, or the longest part of p that exists, is inside dir after links are resolved.
func staysIn(dir, p string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	at := filepath.Join(dir, p)
	for at != filepath.Clean(dir) {
		if _, err := os.Lstat(at); err == nil {
			break
		}
		at = filepath.Dir(at)
	}
	inside, err := filepath.EvalSymlinks(at)
	if err != nil {
		return false // the link leads to no file yet
	}
	rel, err := filepath.Rel(real, inside)
	return err == nil && filepath.IsLocal(rel)
}

// Keys returns all settings in display order. The caller must not change the result.
func Keys() []Key { return keys }

// Names returns the names of all keys, in the order of [Keys].
func Names() []string {
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].Name
	}
	return names
}

// Lookup finds the key called name. "embedder" is short for embedder.use. For an unknown name it returns
// sheaf.ErrInvalid, and the error names the most similar key.
func Lookup(name string) (*Key, error) { return lookup("", name) }

// lookup is like Lookup. Its error begins with place, which says where the user wrote the name.
func lookup(place, name string) (*Key, error) {
	if name == embedderGroup {
		name = embedderKey
	}
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i], nil
		}
	}
	return nil, unknownKey(place, name)
}

// Variable returns the environment variable that sets k. For embedder.url this is SHEAF_EMBEDDER_URL.
func (k *Key) Variable() string {
	return "SHEAF_" + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Value returns the value of setting k in v: a string, int, int64, bool or []string.
func (k *Key) Value(v *Values) any { return k.field(v).Interface() }

// fieldNames replaces the parts of key names that differ from the names of the fields in Values.
var fieldNames = strings.NewReplacer("store_", "store.", "chunk.window_", "chunk.window.", "chunk.section_",
	"chunk.sections.")

// field returns the field of v for setting k. The field of store_key_env is Store.KeyEnv, the field of
// chunk.window_size is Chunk.Window.Size.
func (k *Key) field(v *Values) reflect.Value {
	path := fieldNames.Replace(k.Name)
	switch path {
	case "store":
		path = "store.url"
	case "chunker":
		path = "chunk.chunker"
	}
	field := reflect.ValueOf(v).Elem()
	for name := range strings.SplitSeq(strings.ReplaceAll(path, "_", ""), ".") {
		field = field.FieldByNameFunc(func(of string) bool { return strings.EqualFold(of, name) })
	}
	return field
}

// Format returns the value of setting k in v, in the form that an environment variable has.
func (k *Key) Format(v *Values) string {
	switch x := k.Value(v).(type) {
	case []string:
		return strings.Join(x, ",")
	case int64:
		return formatSize(x)
	default:
		return fmt.Sprint(x)
	}
}

// needsTrust says why a value in a stranger's file in the folder dir needs approval, or returns "".
func (k *Key) needsTrust(value any, dir string) string {
	text, ok := value.(string)
	if parsed, err := k.parse(value); ok && (text == "" || err == nil && fmt.Sprint(parsed) == k.Default ||
		k.harmless != nil && k.harmless(text, dir)) {
		return ""
	}
	return k.trust
}

func (k *Key) assign(v *Values, parsed any) {
	field := k.field(v)
	field.Set(reflect.ValueOf(parsed).Convert(field.Type()))
}

func (k *Key) join(values []string) any {
	if k.Kind == KindList {
		return values
	}
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// parse converts a raw value, a string or a []string, to the type of the key. The result is a string, int64, bool or
// []string. parse fails if the value does not fit the key.
func (k *Key) parse(value any) (any, error) {
	if list, ok := value.([]string); ok {
		if k.Kind != KindList {
			return nil, fmt.Errorf("is a list: must be a %s", k.Kind)
		}
		return slices.Clone(list), checkPatterns(list)
	}
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("is %v: must be a %s", value, k.Kind)
	}
	switch k.Kind {
	case KindBool:
		switch strings.ToLower(text) {
		case "true", "yes", "on", "1":
			return true, nil
		case "false", "no", "off", "0":
			return false, nil
		}
		return nil, fmt.Errorf("is %q: must be true or false", text)
	case KindNumber:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < k.Min || n > k.Max {
			return nil, fmt.Errorf("is %q: must be a whole number within %d..%d", text, k.Min, k.Max)
		}
		return n, nil
	case KindSize:
		n, err := parseSize(text)
		if err != nil || n < k.Min || n > k.Max {
			return nil, fmt.Errorf("is %q: must be a size such as %s, within %s..%s", text, k.Default, formatSize(k.Min),
				formatSize(k.Max))
		}
		return n, nil
	case KindList:
		list := []string{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		return list, checkPatterns(list)
	}
	return text, k.checkText(text)
}

// checkPatterns refuses patterns with alternatives in braces, which no pattern of .gitignore has. A flag or variable
// with such a pattern was cut at the comma.
func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		open, closed := strings.Count(p, "{"), strings.Count(p, "}")
		if open != closed || open > 0 && strings.Contains(p, ",") {
			return fmt.Errorf("has %q: braces do not group alternatives: write each pattern alone, as *.org and *.rst", p)
		}
	}
	return nil
}

func (k *Key) checkText(text string) error {
	switch {
	case k.Allowed != nil && !slices.Contains(k.Allowed, text):
		return fmt.Errorf("is %q: must be one of %s", text, strings.Join(k.Allowed, ", "))
	case k.pattern != nil && !k.pattern.MatchString(text):
		return fmt.Errorf("is %q: want the %s", text, k.Help)
	case strings.HasSuffix(k.Name, ".url") && text != "":
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("is %q: must begin with http:// or https:// and name a host", text)
		}
	}
	return nil
}

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
}

// parseSize reads a number of bytes, such as 1048576, 10MB (10,000,000) or 10MiB. The case of the unit matters.
func parseSize(text string) (int64, error) {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f*float64(unit) > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return int64(f * float64(unit)), nil
}

func formatSize(n int64) string {
	for _, u := range slices.Backward(sizeUnits[:3]) { // GiB, MiB, KiB
		if n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.suffix)
		}
	}
	return strconv.FormatInt(n, 10)
}

func defaults() Values {
	var v Values
	for i := range keys {
		k := &keys[i]
		parsed, err := k.parse(k.Default)
		if err != nil {
			panic("default of " + k.Name + ": " + err.Error())
		}
		k.assign(&v, parsed)
	}
	return v
}

// Schema returns a JSON Schema (draft 2020-12) of configuration files, for editors. It gives the type, range, default
// and help of each key, and allows no other keys.
func Schema() map[string]any {
	top := object("Settings of Sheaf: .sheaf.yaml, sheaf.yaml, or the user's config.yaml.")
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	for i := range keys {
		k := &keys[i]
		in := top
		group, name, nested := strings.Cut(k.Name, ".")
		if !nested {
			name = group
		} else {
			groups := top["properties"].(map[string]any)
			if groups[group] == nil {
				groups[group] = object("")
			}
			in = groups[group].(map[string]any)
		}
		in["properties"].(map[string]any)[name] = k.schema()
	}
	return top
}

func object(about string) map[string]any {
	o := map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
	if about != "" {
		o["description"] = about
	}
	return o
}

func (k *Key) schema() map[string]any {
	s := map[string]any{"description": k.Help}
	parsed, err := k.parse(k.Default)
	if err == nil {
		s["default"] = parsed
	}
	switch k.Kind {
	case KindBool:
		s["type"] = "boolean"
	case KindNumber:
		s["type"], s["minimum"], s["maximum"] = "integer", k.Min, k.Max
	case KindSize:
		s["type"] = []string{"integer", "string"}
		s["pattern"] = `^[0-9.]+ *(KiB|MiB|GiB|kB|KB|MB|GB|K|M|G|B)?$`
		s["default"] = k.Default
	case KindList:
		s["type"] = []string{"array", "string"}
		s["items"] = map[string]any{"type": "string"}
	default:
		s["type"] = "string"
		if k.Allowed != nil {
			s["enum"] = k.Allowed
		}
		if k.pattern != nil {
			s["pattern"] = k.pattern.String()
		}
	}
	return s
}
