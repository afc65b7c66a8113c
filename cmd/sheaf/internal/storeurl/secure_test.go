package storeurl

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
)

// user and password belong to the servers below.
const user, password = "ann", "p@ss w0rd/?#"

// guarded puts a proxy with TLS and a password in front of a server that has neither.
func guarded(t *testing.T, to string, pair tls.Certificate) *url.URL {
	t.Helper()
	behind := must.Get(url.Parse(to))
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, p, _ := r.BasicAuth()
		switch {
		case u != user || p != password:
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
		default:
			r.Header.Del("Authorization")
			proxy.ServeHTTP(w, r)
		}
	}))
	front.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	out := must.Get(url.Parse(front.URL))
	return out
}

// guardedPostgres is the same for PostgreSQL: it answers the TLS request, asks for the password and
// forwards the rest.
func guardedPostgres(t *testing.T, to *url.URL, pair tls.Certificate) string {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	var connections sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); connections.Wait() })
	connections.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() {
				defer client.Close()
				if err := admit(client, to, pair); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Logf("a connection ended: %v", err)
				}
			})
		}
	})
	return listener.Addr().String()
}

func admit(client net.Conn, to *url.URL, pair tls.Certificate) error {
	first := pgproto3.NewBackend(client, client)
	if message, err := first.ReceiveStartupMessage(); err != nil {
		return err
	} else if _, ok := message.(*pgproto3.SSLRequest); !ok {
		first.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28000", Message: "no encryption"})
		return first.Flush()
	}
	if _, err := client.Write([]byte("S")); err != nil {
		return err
	}
	secure := tls.Server(client, &tls.Config{Certificates: []tls.Certificate{pair}})
	session := pgproto3.NewBackend(secure, secure)
	startup, err := session.ReceiveStartupMessage()
	if err != nil {
		return err
	}
	session.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := session.Flush(); err != nil {
		return err
	}
	if err := session.SetAuthType(pgproto3.AuthTypeCleartextPassword); err != nil {
		return err
	}
	said, err := session.Receive()
	if err != nil {
		return err
	}
	begin, ok := startup.(*pgproto3.StartupMessage)
	if given, is := said.(*pgproto3.PasswordMessage); !ok || !is || given.Password != password ||
		begin.Parameters["user"] != user {
		session.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"})
		return session.Flush()
	}
	server, err := net.Dial("tcp", to.Host)
	if err != nil {
		return err
	}
	begin.Parameters["user"] = to.User.Username()
	hello, err := begin.Encode(nil)
	if err == nil {
		_, err = server.Write(hello)
	}
	if err != nil {
		return errors.Join(err, server.Close())
	}
	var answers sync.WaitGroup
	answers.Go(func() { _, _ = io.Copy(secure, server); _ = secure.Close() })
	_, err = io.Copy(server, secure)
	err = errors.Join(err, server.Close())
	answers.Wait()
	return err
}

// TestPrivateCertificateAuthority checks OpenSearch and PostgreSQL with TLS, their own certificate authority, and
// a password with special characters of addresses. If one of them is wrong, the error names the
// store and gives advice, but never shows the password.
func TestPrivateCertificateAuthority(t *testing.T) {
	cert, _, pair := authority(t)
	other, _, _ := authority(t)
	analyzer := storetest.Analyzer(t, "en")
	place := fmt.Sprintf("secure_%d_%d", os.Getpid(), rand.Uint32())
	for name, address := range map[string]func(t *testing.T) string{
		"opensearch": func(t *testing.T) string {
			to := os.Getenv("SHEAF_TEST_OPENSEARCH")
			if to == "" {
				t.Skip("no OpenSearch: SHEAF_TEST_OPENSEARCH is not set; see scripts/servers/opensearch.sh")
			}
			return "opensearch+https://" + user + "@" + guarded(t, to, pair).Host + "/" + place
		},
		"postgres": func(t *testing.T) string {
			to, err := url.Parse(os.Getenv("SHEAF_TEST_POSTGRES"))
			if err != nil || to.Host == "" {
				t.Skip("no PostgreSQL: SHEAF_TEST_POSTGRES is not set; see scripts/servers/postgres.sh")
			}
			return "postgres://" + user + "@" + guardedPostgres(t, to, pair) + to.Path + "?schema=" + place
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			use(t, at, Secrets{Key: password, CAFile: cert})
			for what, c := range map[string]struct {
				secrets  Secrets
				category error
				says     string
			}{
				"a wrong password":  {Secrets{Key: "guess", CAFile: cert}, sheaf.ErrInvalid, "check user and password"},
				"no password":       {Secrets{CAFile: cert}, sheaf.ErrInvalid, "check user and password"},
				"another authority": {Secrets{Key: password, CAFile: other}, sheaf.ErrUnavailable, "store_ca_file"},
			} {
				_, _, err := opened(t, at, c.secrets)
				text := fmt.Sprint(err)
				check.That(t, errors.Is(err, c.category) && strings.Contains(text, name) && strings.Contains(text, c.says) &&
					!strings.Contains(text, password), "%s: %v, want %v that names %s and says %q", what, err, c.category, name,
					c.says)
			}
			// Test each checker of the certificate, the driver and the program, and doctor too.
			ways := []string{at}
			if name == "postgres" {
				ways = append(ways, at+"&sslmode=verify-ca")
			}
			for _, at := range ways {
				target, _, err := opened(t, at, Secrets{Key: password, CAFile: other})
				for _, f := range target.Examine(t.Context(), analyzer, nil) {
					if f.Err != nil && !strings.Contains(fmt.Sprint(f.Err), "store_ca_file") {
						err = f.Err
					}
				}
				check.That(t, strings.Contains(fmt.Sprint(err), "store_ca_file"), "%s: %v", at, err)
			}
		})
	}
}

// opened opens the store of a valid address, and returns the error of opening.
func opened(t *testing.T, address string, secrets Secrets) (*Target, store.Backend, error) {
	t.Helper()
	target := must.Get(Parse(address, "x", secrets))
	st, err := target.Open(t.Context(), storetest.Analyzer(t, "en"), nil, store.Make)
	return target, st, err
}

// use writes a chunk to a store and finds the chunk.
func use(t *testing.T, address string, secrets Secrets) {
	t.Helper()
	target, st, err := opened(t, address, secrets)
	must.Do(t, err)
	defer func() {
		err := errors.Join(st.Close(), target.Drop(t.Context()))
		check.That(t, err == nil, "%v", err)
	}()
	must.Do(t, st.Write(t.Context(), storetest.Library()))
	found, err := st.Retrieve(t.Context(), storetest.Words(sheaf.Match{Text: "steamed"}))
	check.That(t, err == nil && len(found) == 1, "%v, %v", found, err)
}

// TestAuthWithoutKey checks that the option auth without a key is an error, and that writing the
// mapping needs no key.
func TestAuthWithoutKey(t *testing.T) {
	for address, want := range map[string]string{
		"elasticsearch://127.0.0.1:1/x?auth=bearer": "store_key_env",
		"opensearch://127.0.0.1:1/x?auth=":          "must be bearer",
	} {
		target, _, err := opened(t, address, Secrets{})
		check.Fails(t, err, sheaf.ErrInvalid, want, "%s", address)
		_, err = target.Export(storetest.Analyzer(t, "en"), nil)
		check.That(t, (err == nil) == (want == "store_key_env"), "export %s: %v", address, err)
	}
}

// TestAuthSchemes checks that a key is sent as the address says: as a password, API key or bearer token.
func TestAuthSchemes(t *testing.T) {
	for address, want := range map[string]string{
		"elasticsearch://%s/x":                "ApiKey sesame",
		"elasticsearch://%s/x?auth=bearer":    "Bearer sesame",
		"opensearch://%s/x?auth=bearer":       "Bearer sesame",
		"opensearch://me@%s/x":                "Basic bWU6c2VzYW1l",
		"opensearch://me@%s/x?auth=bearer":    "",
		"elasticsearch://%s/x?auth=something": "",
	} {
		got := ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("Authorization")
			w.WriteHeader(http.StatusUnauthorized)
		}))
		_, _, err := opened(t, fmt.Sprintf(address, strings.TrimPrefix(server.URL, "http://")), Secrets{Key: "sesame"})
		server.Close()
		says := map[bool]string{true: "must be bearer", false: "check user and password, API key or token: the user is " +
			"in the address, the secret where store_key_env"}[want == ""]
		check.That(t, got == want && errors.Is(err, sheaf.ErrInvalid) && strings.Contains(fmt.Sprint(err), says),
			"%s: %q, want %q; %v", address, got, want, err)
	}
}

// TestRefusedUserErrorNamesSecretSetting checks that the error of a server that refuses a known user names the setting
// of the secret.
func TestRefusedUserErrorNamesSecretSetting(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	for scheme, place := range map[string]string{"opensearch": "x", "elasticsearch": "x", "weaviate": "X", "vespa": "x"} {
		_, _, err := opened(t, scheme+"://"+strings.TrimPrefix(server.URL, "http://")+"/"+place, Secrets{Key: "sesame"})
		check.Fails(t, err, store.ErrForbidden, "store_key_env", "%s", scheme)
	}
}

// TestMissingOrInvalidCertificateFile checks that the error for a missing or invalid certificate file names the setting
// of that file.
func TestMissingOrInvalidCertificateFile(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.pem")
	text := filepath.Join(t.TempDir(), "text.pem")
	must.Do(t, os.WriteFile(text, []byte("no certificate"), 0o600))
	for _, address := range []string{"postgres://127.0.0.1:1/db", "opensearch+https://127.0.0.1:1/x",
		"weaviate+https://127.0.0.1:1/X", "vespa+https://127.0.0.1:1/x"} {
		for says, secrets := range map[string]Secrets{
			"none.pem":                    {CAFile: none},
			"holds no certificate in PEM": {CAFile: text},
			"store_cert_file":             {CertFile: text, CertKeyFile: text},
		} {
			_, _, err := opened(t, address, secrets)
			text := fmt.Sprint(err)
			check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(text, says) && (secrets.CAFile == "" ||
				strings.Contains(text, "store_ca_file")), "%s: %v, want %s", address, err, says)
		}
	}
}
