package storeurl

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ address, kind, place, shown string }{
		{"postgres://me@host:5432/db?sslmode=disable&schema=notes&hnsw=16", "postgres", "notes",
			"postgres://host:5432/db?schema=notes"},
		{"postgresql:///db", "postgres", "sheaf_my_notes_12ab", "postgresql:///db?schema=sheaf_my_notes_12ab"},
		{"opensearch://host:9200", "opensearch", "sheaf_my_notes_12ab", "opensearch://host:9200/sheaf_my_notes_12ab"},
		{"opensearch+https://me@host/index?k1=0.9&b=0.4", "opensearch", "index", "opensearch+https://host/index"},
		{"elasticsearch://host/index", "elasticsearch", "index", "elasticsearch://host/index"},
		{"weaviate://host:8080", "weaviate", "Sheaf_my_notes_12ab", "weaviate://host:8080/Sheaf_my_notes_12ab"},
		{"vespa+https://host/notes?config=host:19071&feeds=8", "vespa", "notes", "vespa+https://host/notes"},
		{"opensearch+https://me@one:9200,two/notes?shards=3", "opensearch", "notes", "opensearch+https://one:9200/notes"},
	} {
		got, err := Parse(c.address, "My Notes-12ab", Secrets{})
		check.That(t, err == nil && got.Kind == c.kind && got.Place == c.place && got.String() == c.shown,
			"%s: %+v, %v; want %s in %s, shown as %s", c.address, got, err, c.kind, c.place, c.shown)
	}
	for _, address := range []string{"", "notes", "mysql://host/x", "postgres+https://host/x", "opensearch:///x",
		"opensearch://host/x?nope=1", "opensearch://me:secret@host/x", "://", "postgres://me:secret@%zz/x",
		"postgres://host/x?schema=a;b&password=secret", "postgres://host/x?schema=%zz", "postgres://host/x?password=secret",
		"postgress://host/x?password=secret", "postgres+https://host/x?password=secret", "host/x?password=secret",
		"postgres://%zz/x?password=secret", "opensearch://host/x?passwd=secret",
		"postgres://host/x?sslpassword=secret", "host=h user=me password=secret", "password=secret host=h",
		"postgres://me:secret?%zz@host/x", "postgres:?schema=notes", "postgres:/db", "postgres://h/d?hnsw=many",
		"postgres://h/d?shema=x",
		"opensearch://h/x?k1=-1", "opensearch://h/x?hnsw=perhaps", "opensearch://h/x?timeout=soon", "weaviate://h/X?b=x",
		"vespa://h/x?feeds=-1", "vespa://h/x?hnsw=7", "opensearch://one:9200,/x", "opensearch://,one:9200/x",
		"opensearch://one:9200,two:many/x", "opensearch://one,t wo/x"} {
		_, err := Parse(address, "x", Secrets{})
		check.That(t, errors.Is(err, sheaf.ErrInvalid) && !strings.Contains(err.Error(), "secret"), "%q: %v", address, err)
	}
}

// TestServerKeepsConnection checks that the address without its place still connects in the same way.
func TestServerKeepsConnection(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://me@host:5432/db?sslmode=disable&schema=notes": "postgres://me@host:5432/db?sslmode=disable",
		"postgres://host/db?application_name=a%20b&schema=notes":  "postgres://host/db?application_name=a%20b",
		"opensearch+https://me@one:9200,two/notes?shards=3":       "opensearch+https://me@one:9200,two?shards=3",
		"weaviate://host:8080/Notes":                              "weaviate://host:8080",
	} {
		check.Equal(t, must.Get(Parse(address, "x", Secrets{})).Server(), want, "%s", address)
	}
}

// TestBM25 checks that an address with one parameter uses the default of the other.
func TestBM25(t *testing.T) {
	for options, want := range map[string][2]float64{"": {}, "?k1=0.9": {0.9, 0.75}, "?b=0.4": {1.2, 0.4},
		"?k1=0.9&b=0": {0.9, 0}} {
		target := must.Get(Parse("opensearch://h/x"+options, "x", Secrets{}))
		o, err := target.common(nil, nil, store.Make)
		check.That(t, err == nil && o.K1 == want[0] && o.B == want[1], "%q: %+v, %v: want %v", options, o, err, want)
	}
}

// TestDriverAddress checks that the driver of PostgreSQL gets its own options, all hosts and the secrets, but no Sheaf
// options. The name of the store shows no password.
func TestDriverAddress(t *testing.T) {
	for _, c := range []struct {
		address string
		secrets Secrets
		want    string
	}{
		{"me@host/db?schema=notes&hnsw=16&timeout=5s&connect_timeout=3", Secrets{Key: "p@ss", CAFile: "/ca.pem"},
			"me:p%40ss@host/db?connect_timeout=3&sslmode=verify-full&sslrootcert=%2Fca.pem"},
		// The driver takes a plus literally, not as a space.
		{"host/db?application_name=a+b%20c", Secrets{CAFile: "/my certs/ca+1.pem"},
			"host/db?application_name=a%2Bb%20c&sslmode=verify-full&sslrootcert=%2Fmy%20certs%2Fca%2B1.pem"},
		{"me@one:5432,two/db?schema=notes", Secrets{Key: "k"}, "me:k@one:5432,two/db"},
		{"host/db", Secrets{CertFile: "/cert.pem", CertKeyFile: "/key.pem"},
			"host/db?sslcert=%2Fcert.pem&sslkey=%2Fkey.pem"},
	} {
		got, err := Parse("postgres://"+c.address, "x", c.secrets)
		check.That(t, err == nil && got.postgres() == "postgres://"+c.want && !strings.Contains(got.String(), "p@ss") &&
			!strings.Contains(got.String(), "p%40ss"), "%s: %v, shown as %s, want %s; %v", c.address, got.postgres(), got,
			c.want, err)
	}
	long, err := Parse("postgres://host/db", strings.Repeat("very long ", 20)+"a1b2c3d4", Secrets{})
	check.That(t, err == nil && len(long.Place) <= 48 && strings.HasSuffix(long.Place, "a1b2c3d4"), "%+v, %v", long, err)
	two, err := Parse("opensearch://one:9200,two:9200/notes", "x", Secrets{})
	check.That(t, err == nil && len(two.hosts) == 2, "%v, %v", two, err)
}

// authority makes a self-signed certificate for 127.0.0.1, and writes the certificate and its key
// to files.
func authority(t *testing.T) (cert, keyFile string, pair tls.Certificate) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	secret := must.Get(x509.MarshalPKCS8PrivateKey(key))
	dir := t.TempDir()
	cert, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	pair = must.Get(tls.LoadX509KeyPair(cert, keyFile))
	return cert, keyFile, pair
}

// TestCertificates checks a server with its own certificate authority that requires a client certificate. A request
// succeeds only with the right files.
func TestCertificates(t *testing.T) {
	cert, keyFile, pair := authority(t)
	trusted := x509.NewCertPool()
	trusted.AddCert(pair.Leaf)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: trusted}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	get := func(s Secrets) error {
		target := must.Get(Parse("vespa+https://"+server.Listener.Addr().String()+"/notes", "x", s))
		o, err := target.Vespa(nil, nil, store.Make)
		if err != nil {
			return err
		}
		resp, err := o.Client.Get(o.URL)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	check.NoError(t, get(Secrets{CAFile: cert, CertFile: cert, CertKeyFile: keyFile}), "with all files")
	for what, s := range map[string]Secrets{"no authority": {CertFile: cert, CertKeyFile: keyFile},
		"no certificate": {CAFile: cert}, "no key": {CAFile: cert, CertFile: cert}, "nothing": {}} {
		err := get(s)
		check.That(t, err != nil, "%s: the server answers", what)
	}
}
