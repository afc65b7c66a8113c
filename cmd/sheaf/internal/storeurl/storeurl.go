// Package storeurl parses and opens the address of a store. An address is
//
//	postgres://user@host:5432/database?schema=notes&hnsw=16
//	opensearch://host:9200/index?hnsw=true&k1=1.2&b=0.75
//	elasticsearch://host:9200/index
//	weaviate://host:8080/Class
//	vespa://host:8080/schema?config=host:19071
//
// A scheme that ends with "+https", such as opensearch+https, uses TLS; postgres has no such scheme. Commas separate
// several hosts, as in opensearch://one:9200,two:9200/index: if one host does not answer, the next host is used. If the
// address omits the index, schema or class, Parse makes its name from the name of the collection. An address never
// contains passwords or keys.
package storeurl

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sheaf"
	"sheaf/internal/suggest"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/postgres"
	"sheaf/store/storekit"
	"sheaf/store/vespa"
	"sheaf/store/weaviate"
	"sheaf/text/analysis"
)

// Secrets has the parts of a connection that an address must not contain.
type Secrets struct {
	// Key is the password if the address names a user. Otherwise it is an API key or a token.
	Key string
	// CAFile is a PEM file of the authorities that may sign the server's certificate. "" means the system's
	// authorities.
	CAFile string
	// CertFile and CertKeyFile are PEM files with the client's certificate and its key. "" sends no certificate.
	CertFile, CertKeyFile string
}

// Target is a store at an address.
type Target struct {
	// Kind is the scheme of the address, one of kinds.
	Kind string
	// Place is the name of a schema, an index or a class of the server. Named says that the address gives this name.
	Place   string
	Named   bool
	url     *url.URL // with the first host
	hosts   []string
	secure  bool
	options url.Values
	secrets Secrets
}

// kinds are the schemes that an address may have. Each is a kind of store.
var kinds = []string{"postgres", "opensearch", "elasticsearch", "weaviate", "vespa"}

// known lists the names of our options in an address, by kind of store. PostgreSQL passes other names to its driver.
var known = map[string][]string{
	"postgres":      {"schema", "hnsw", "rls", "timeout"},
	"opensearch":    {"auth", "hnsw", "k1", "b", "shards", "replicas", "timeout"},
	"elasticsearch": {"auth", "hnsw", "k1", "b", "shards", "replicas", "timeout"},
	"weaviate":      {"k1", "b", "timeout"},
	"vespa":         {"config", "hnsw", "k1", "b", "feeds", "timeout"},
}

// Parse reads an address. If the address has no Place, Parse makes one from the letters and digits of name.
func Parse(address, name string, secrets Secrets) (*Target, error) {
	address, hosts := cutHosts(address)
	u, err := url.Parse(address)
	if err != nil || !strings.Contains(address, "://") { // without ://, the driver of PostgreSQL would read another format
		return nil, sheaf.Invalidf("store %q: must be an address such as %s://host:port/name", withoutPassword(address),
			kinds[0])
	}
	bare := *u
	bare.RawQuery = "" // the query may hold a password
	kind, secure := strings.CutSuffix(u.Scheme, "+https")
	if kind == "postgresql" {
		kind = "postgres"
	}
	if !slices.Contains(kinds, kind) || secure && kind == "postgres" {
		return nil, sheaf.Invalidf("store %q: the scheme must be %s (or opensearch+https and so on)", bare.Redacted(),
			strings.Join(kinds, ", "))
	}
	if kind == "postgres" { // the driver takes a plus literally, not as a space
		u.RawQuery = strings.ReplaceAll(u.RawQuery, "+", "%2B")
	}
	options, err := url.ParseQuery(u.RawQuery)
	if err != nil { // otherwise an option would be dropped
		return nil, sheaf.Invalidf("store %q: the options after '?' cannot be read: write them as name=value with & "+
			"between, and ; and %% in a value as %%3B and %%25", bare.Redacted())
	}
	if _, ok := u.User.Password(); ok || options.Has("password") {
		return nil, sheaf.Invalidf("store %q: a password in the address: name where it is found with store_key_env or "+
			"store_key_file", bare.Redacted())
	}
	if options.Has("sslpassword") {
		return nil, sheaf.Invalidf("store %q: the password of a certificate's key in the address: give it in PGSSLPASSWORD",
			bare.Redacted())
	}
	if u.Host == "" && kind != "postgres" || slices.Contains(hosts, "") {
		return nil, sheaf.Invalidf("store %q: no host", bare.Redacted())
	}
	for _, host := range hosts {
		if one, err := url.Parse("http://" + host); err != nil || one.Host != host {
			return nil, sheaf.Invalidf("store %q: host %q: must be a name or address, with a port or without", bare.Redacted(),
				host)
		}
	}
	t := &Target{Kind: kind, url: u, hosts: hosts, secure: secure, options: options, secrets: secrets}
	if kind != "postgres" {
		for key := range t.options {
			if !slices.Contains(known[kind], key) {
				return nil, sheaf.Invalidf("store %q: unknown option %q: %s", bare.Redacted(), key, strings.Join(known[kind], ", "))
			}
		}
		t.Place = strings.Trim(u.Path, "/")
	} else {
		for key := range t.options { // the driver has options of its own
			if near := suggest.NearestValue(key, known[kind]); near != "" && near != key {
				return nil, sheaf.Invalidf("store %q: unknown option %q: did you mean %q?", bare.Redacted(), key, near)
			}
		}
		t.Place = t.options.Get("schema")
	}
	if t.Named = t.Place != ""; !t.Named {
		t.Place = t.defaultPlace(name)
	}
	for _, key := range known[kind] {
		if text := t.options.Get(key); text != "" {
			if want := t.checkOption(key, text); want != "" {
				return nil, sheaf.Invalidf("store %s: %s is %q: must be %s", t, key, text, want)
			}
		}
	}
	return t, nil
}

// checkOption returns "" if text is a valid value of the option key. Otherwise it returns what the value must be.
func (t *Target) checkOption(key, text string) (want string) {
	switch {
	case key == "timeout":
		if d, err := time.ParseDuration(text); err != nil || d <= 0 {
			return "a time such as 30s"
		}
	case key == "rls", key == "hnsw" && t.Kind != "postgres":
		if _, err := strconv.ParseBool(text); err != nil {
			return "true or false"
		}
	case slices.Contains([]string{"hnsw", "k1", "b", "shards", "replicas", "feeds"}, key):
		if n, err := strconv.ParseFloat(text, 64); err != nil || !(n >= 0 && n <= 1e6) {
			return "a number from 0 on"
		}
	}
	return ""
}

// number returns the value of an option, or 0 if the address lacks the option.
func (t *Target) number(key string) float64 {
	n, _ := strconv.ParseFloat(t.options.Get(key), 64) // Parse checked it
	return n
}

func (t *Target) isOn(key string) bool {
	on, _ := strconv.ParseBool(t.options.Get(key)) // Parse checked it
	return on
}

// timeout returns how long the server may take to answer. 0 means the default of the store.
func (t *Target) timeout() time.Duration {
	d, _ := time.ParseDuration(t.options.Get("timeout")) // Parse checked it
	return d
}

// cutHosts returns an address with only its first host, and the list of all hosts. The list is nil for a single host.
func cutHosts(address string) (first string, hosts []string) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address, nil
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	start := strings.LastIndexByte(rest[:end], '@') + 1
	hosts = strings.Split(rest[start:end], ",")
	if len(hosts) < 2 {
		return address, nil
	}
	return scheme + "://" + rest[:start] + hosts[0] + rest[end:], hosts
}

// withoutPassword returns an invalid address for an error text, without the parts that may be secret.
func withoutPassword(address string) string {
	before := ""
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		before, address = "...@", address[i+1:]
	}
	if i := strings.IndexAny(address, "?="); i >= 0 { // = appears in addresses such as "host=h password=p"
		address = address[:i]
	}
	return before + address
}

// defaultPlace makes a valid name for a schema, index or class from the letters, digits and underscores of name.
func (t *Target) defaultPlace(name string) string {
	var out strings.Builder
	out.WriteString("sheaf_")
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			out.WriteRune(r)
		} else {
			out.WriteByte('_')
		}
	}
	place := out.String()
	if len(place) > 48 {
		place = place[:31] + place[len(place)-17:] // the end distinguishes folders
	}
	if t.Kind == "weaviate" {
		place = strings.ToUpper(place[:1]) + place[1:]
	}
	return place
}

// String describes the store for people. It leaves out the user and the options.
func (t *Target) String() string {
	u := url.URL{Scheme: t.url.Scheme, Host: t.url.Host, Path: t.url.Path}
	if t.Kind == "postgres" {
		u.RawQuery = "schema=" + t.Place
	} else {
		u.Path = "/" + t.Place
	}
	return u.String()
}

// PlaceKind returns what the store calls its Place: "schema", "index" or "class".
func (t *Target) PlaceKind() string {
	switch t.Kind {
	case "postgres", "vespa":
		return "schema"
	case "weaviate":
		return "class"
	}
	return "index"
}

// Server returns the address without the Place. It keeps the user and the options.
func (t *Target) Server() string {
	u, options := *t.url, maps.Clone(t.options)
	if len(t.hosts) > 0 {
		u.Host = strings.Join(t.hosts, ",")
	}
	if t.Kind != "postgres" {
		u.Path = ""
	}
	delete(options, "schema")
	u.RawQuery = strings.ReplaceAll(options.Encode(), "+", "%20")
	return u.String()
}

// As returns the same address with alias as its Place. For PostgreSQL and Weaviate, it returns sheaf.ErrUnsupported.
func (t *Target) As(alias string) (*Target, error) {
	if t.Kind == "postgres" || t.Kind == "weaviate" {
		return nil, fmt.Errorf("%w: aliases are for OpenSearch and Elasticsearch; for %s, set store to the new address",
			sheaf.ErrUnsupported, t)
	}
	other := *t
	u := *t.url
	u.Path = "/" + alias
	other.url, other.Place, other.Named = &u, alias, true
	return &other, nil
}

// Open opens the store. a and vectors say which terms and vectors the store has. access says whether Open may make the
// store, and whether the caller may write.
func (t *Target) Open(ctx context.Context, a *analysis.Analyzer, vectors []store.VectorField,
	access store.Access) (store.Backend, error) {
	s, err := t.server(a, vectors, access)
	if err != nil {
		return nil, advise(err)
	}
	st, err := s.open(ctx)
	return st, advise(err)
}

// advise adds advice to err if this program does not trust the server's certificate. It returns other errors unchanged.
func advise(err error) error {
	var untrusted *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError // from a driver that checks certificates itself
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("%w (renew the certificate of the server, or set the clock of this machine)", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w (name the server in the address as its certificate does)", err)
	case errors.As(err, &untrusted), errors.As(err, &unknown):
		return fmt.Errorf("%w (name a file with the certificate of the server's authority in store_ca_file)", err)
	}
	return err
}

// server has the operations of one store: open it, check it, remove it, and export its definition.
type server struct {
	open    func(context.Context) (store.Backend, error)
	examine func(context.Context) []store.Finding
	drop    func(context.Context) error
	export  func() (any, error) // returns SQL, or a value to write as JSON
}

// serverOf makes a server from the functions of one store package. It calls them with the options o.
func serverOf[O any, S store.Backend](o O, open func(context.Context, O) (S, error),
	examine func(context.Context, O) []store.Finding, drop func(context.Context, O) error,
	export func() (any, error)) *server {
	return &server{
		open: func(ctx context.Context) (store.Backend, error) {
			st, err := open(ctx, o)
			if err != nil {
				return nil, err
			}
			return st, nil
		},
		examine: func(ctx context.Context) []store.Finding { return examine(ctx, o) },
		drop:    func(ctx context.Context) error { return drop(ctx, o) },
		export:  export,
	}
}

func (t *Target) server(a *analysis.Analyzer, vectors []store.VectorField, access store.Access) (*server, error) {
	switch t.Kind {
	case "postgres":
		o := postgres.Options{URL: t.postgres(), Schema: t.Place, Analyzer: a, Vectors: vectors,
			HNSW: int(t.number("hnsw")), RowSecurity: t.isOn("rls"), Timeout: t.timeout(), Access: access}
		_, err := t.tls() // the driver would report an unreadable file as a bad address
		drop := func(ctx context.Context, o postgres.Options) error { return postgres.Drop(ctx, o.URL, o.Schema) }
		return serverOf(o, postgres.Open, postgres.Examine, drop, func() (any, error) { return o.SQL() }), err
	case "weaviate":
		common, err := t.common(a, vectors, access)
		o := weaviate.Options{Options: common, Class: t.Place, Key: t.secrets.Key}
		return serverOf(o, weaviate.Open, weaviate.Examine, weaviate.Drop, func() (any, error) { return o.Bodies() }), err
	case "vespa":
		o, err := t.Vespa(a, vectors, access)
		return serverOf(o, vespa.Open, vespa.Examine, vespa.Drop, func() (any, error) {
			return nil, fmt.Errorf("store %s: %w: an application package is a folder: sheaf export vespa-app DIR", t,
				sheaf.ErrUnsupported)
		}), err
	default:
		o, err := t.elasticOptions(a, vectors, access)
		return serverOf(o, opensearch.Open, opensearch.Examine, opensearch.Drop,
			func() (any, error) { return o.Bodies() }), err
	}
}

// Examine checks the server, and whether its content fits this index.
func (t *Target) Examine(ctx context.Context, a *analysis.Analyzer, vectors []store.VectorField) []store.Finding {
	s, err := t.server(a, vectors, store.ReadOnly)
	findings := []store.Finding{{Check: "settings", Err: err}}
	if err == nil {
		findings = s.examine(ctx)
	}
	for i := range findings {
		findings[i].Err = advise(findings[i].Err)
	}
	return findings
}

// Vespa returns the options of a store in Vespa.
func (t *Target) Vespa(a *analysis.Analyzer, vectors []store.VectorField, access store.Access) (o vespa.Options,
	err error) {
	o = vespa.Options{Schema: t.Place, Token: t.secrets.Key, Feeds: int(t.number("feeds")),
		HNSW: t.isOn("hnsw")}
	o.Options, err = t.common(a, vectors, access)
	if config := t.options.Get("config"); config != "" {
		scheme, _, _ := strings.Cut(o.URL, "://")
		o.Config = scheme + "://" + config
	}
	return o, err
}

// Export returns SQL or JSON for making the Place by hand. It does not contact the server.
func (t *Target) Export(a *analysis.Analyzer, vectors []store.VectorField) (string, error) {
	keyed := *t
	keyed.secrets.Key = cmp.Or(t.secrets.Key, "unused")
	s, err := keyed.server(a, vectors, store.Make)
	if err != nil {
		return "", err
	}
	made, err := s.export()
	if sql, ok := made.(string); ok || err != nil {
		return sql, err
	}
	out, err := json.MarshalIndent(made, "", "  ")
	return string(out) + "\n", err
}

// Drop removes the Place with its content.
func (t *Target) Drop(ctx context.Context) error {
	s, err := t.server(nil, nil, store.Make)
	if err != nil {
		return err
	}
	return s.drop(ctx)
}

// postgres returns the address in the form that the PostgreSQL driver needs.
func (t *Target) postgres() string {
	u := *t.url
	u.Scheme = "postgres"
	if len(t.hosts) > 0 {
		u.Host = strings.Join(t.hosts, ",") // the driver accepts several hosts
	}
	q := u.Query()
	for _, key := range known["postgres"] {
		q.Del(key)
	}
	if t.secrets.CAFile != "" {
		q.Set("sslrootcert", t.secrets.CAFile)
		if q.Get("sslmode") == "" {
			q.Set("sslmode", "verify-full")
		}
	}
	if t.secrets.CertFile != "" {
		q.Set("sslcert", t.secrets.CertFile)
		q.Set("sslkey", t.secrets.CertKeyFile)
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	if t.secrets.Key != "" {
		u.User = url.UserPassword(u.User.Username(), t.secrets.Key)
	}
	return u.String()
}

func (t *Target) elasticOptions(a *analysis.Analyzer, vectors []store.VectorField,
	access store.Access) (o opensearch.Options, err error) {
	o = opensearch.Options{Index: t.Place, Shards: int(t.number("shards")),
		Replicas: int(t.number("replicas")), HNSW: t.isOn("hnsw")}
	if t.Kind == "elasticsearch" {
		o.Dialect = opensearch.Elasticsearch
	}
	switch user, auth := t.url.User.Username(), t.options.Get("auth"); {
	case auth == "bearer" && user == "" && t.secrets.Key == "":
		return o, sheaf.Invalidf("store %s: auth=bearer, and no token: name where it is found with store_key_env or "+
			"store_key_file", t)
	case auth == "bearer" && user == "":
		o.Bearer = t.secrets.Key
	case t.options.Has("auth"):
		return o, sheaf.Invalidf("store %s: auth=%q: must be bearer, with no user in the address (else the key is a "+
			"user's password, or without one an API key)", t, auth)
	case user != "":
		o.User, o.Password = user, t.secrets.Key
	default:
		o.APIKey = t.secrets.Key
	}
	if t.options.Has("replicas") && o.Replicas == 0 {
		o.Replicas = opensearch.NoReplicas
	}
	o.Options, err = t.common(a, vectors, access)
	return o, err
}

// common returns the options for every store that is reached over HTTP.
func (t *Target) common(a *analysis.Analyzer, vectors []store.VectorField,
	access store.Access) (o storekit.Options, err error) {
	o = storekit.Options{URL: "http://" + t.url.Host, Analyzer: a, Vectors: vectors, Timeout: t.timeout(), Access: access,
		K1: t.number("k1"), B: t.number("b")}
	if t.secure {
		o.URL = "https://" + t.url.Host
	}
	// If the address sets only one, the other has its default.
	switch k1, b := t.options.Get("k1"), t.options.Get("b"); {
	case k1 == "" && b != "":
		o.K1 = store.DefaultK1
	case k1 != "" && b == "":
		o.B = store.DefaultB
	}
	o.Client, err = t.client()
	return o, err
}

// client returns an HTTP client. If the secrets name a CA file or a client certificate, the client uses them.
func (t *Target) client() (*http.Client, error) {
	transport := storekit.Transport()
	var err error
	if transport.TLSClientConfig, err = t.tls(); err != nil {
		return nil, err
	}
	if len(t.hosts) == 0 {
		return &http.Client{Transport: transport}, nil
	}
	return &http.Client{Transport: &storekit.Hosts{Transport: transport, Hosts: t.hosts}}, nil
}

func (t *Target) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if cert, key := t.secrets.CertFile, t.secrets.CertKeyFile; cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("store_cert_file and store_cert_key_file: %w", sheaf.WithCategory(sheaf.ErrInvalid, err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if t.secrets.CAFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(t.secrets.CAFile)
	if err != nil {
		return nil, fmt.Errorf("store_ca_file: %w", sheaf.WithCategory(sheaf.ErrInvalid, err))
	}
	if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, sheaf.Invalidf("store_ca_file %s: holds no certificate in PEM", t.secrets.CAFile)
	}
	return c, nil
}
