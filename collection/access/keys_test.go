package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func openKeys(t *testing.T, path string) *access.Keys {
	t.Helper()
	k := must.Get(access.OpenKeys(path))
	return k
}

func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	k := openKeys(t, path)
	if any, err := k.Any(); any || err != nil {
		t.Errorf("keys before the first: %v, %v", any, err)
	}
	g := access.Grant{Name: "ann", Scopes: []access.Scope{access.ScopeSearch}, Access: []string{"user:ann"},
		Tenant: "acme"}
	key, secret, err := k.Add(g)
	must.That(t, err == nil && strings.HasPrefix(secret, "sheaf_"+key.ID+"_") && len(secret) >= 50,
		"%+v %q %v", key, secret, err)
	content, err := os.ReadFile(path)
	check.That(t, err == nil && !strings.Contains(string(content), secret) &&
		!strings.Contains(string(content), secret[len("sheaf_")+len(key.ID)+1:]), "the file holds the secret: %v", err)
	// Windows has access lists instead of modes.
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the file: %v, %v", info.Mode(), err)
	}
	found, err := k.Find(secret)
	check.That(t, err == nil && found.ID == key.ID && found.Tenant == "acme" && found.Access[0] == "user:ann",
		"%+v, %v", found, err)
	for _, wrong := range []string{"", "x", secret + "x", secret[:len(secret)-1], strings.ToUpper(secret), key.ID,
		key.Hash} {
		check.Is(t, must.Err(k.Find(wrong)), access.ErrKey, "%q", wrong)
	}
	// Another process revokes the key.
	must.Get(openKeys(t, path).Revoke("ann"))
	check.Is(t, must.Err(k.Find(secret)), access.ErrKey, "a revoked key")
	any, err := k.Any()
	check.That(t, any && err == nil, "after the last key is revoked nobody gets in without one: %v, %v", any, err)
	check.Is(t, must.Err(k.Revoke("ann")), sheaf.ErrNotFound, "revoked twice")
}

func TestKeysExpire(t *testing.T) {
	k := openKeys(t, filepath.Join(t.TempDir(), "keys.json"))
	g := access.Grant{Scopes: []access.Scope{access.ScopeSearch}, Expires: time.Now().Add(-time.Second)}
	_, old, err := k.Add(g)
	must.Do(t, err)
	g.Expires = time.Now().Add(time.Hour)
	_, young, err := k.Add(g)
	must.Do(t, err)
	check.Is(t, must.Err(k.Find(old)), access.ErrKey, "an expired key")
	if _, err := k.Find(young); err != nil {
		t.Error(err)
	}
	_, _, err = k.Add(access.Grant{})
	check.That(t, errors.Is(err, sheaf.ErrInvalid), "a grant without scopes: %v", err)
}

// TestKeysDamaged checks that an unreadable file causes an error instead of "no keys".
func TestKeysDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	k := openKeys(t, path)
	_, secret, err := k.Add(access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	must.Do(t, err)
	one := func(more string) string { return `{"format": 1, "keys": [{"id": "x", "scopes": ["search"], ` + more }
	for text, want := range map[string]error{"": sheaf.ErrCorrupt, "{": sheaf.ErrCorrupt,
		`{"format": 9}`: sheaf.ErrUnsupported,
		`{"format": 1, "keys": [{"id": "x", "scopes": ["root"]}]}`: sheaf.ErrCorrupt,
		// Refuse an unknown restriction of a key: a typing error, or from a later version.
		one(`"expire": "2020-01-01T00:00:00Z"}]}`):            sheaf.ErrCorrupt,
		`{"format": 1, "keys": []} {"format": 1, "keys": []}`: sheaf.ErrCorrupt,
		// Refuse repeated members, and two keys with one secret, because revoking one would leave the other.
		one(`"filter": "path:a/", "Filter": ""}]}`):                           sheaf.ErrCorrupt,
		one(`"hash": "a"}], "keys": []}`):                                     sheaf.ErrCorrupt,
		one(`"hash": "a"}, {"id": "y", "hash": "a", "scopes": ["search"]}]}`): sheaf.ErrCorrupt} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		err := must.Err(access.OpenKeys(path))
		check.That(t, errors.Is(err, want) && (text != "{" || strings.Contains(err.Error(), "restore the file")),
			"%q: %v", text, err)
		any, err := k.Any()
		check.That(t, any && errors.Is(err, want), "%q while open: %v, %v", text, any, err)
		check.Is(t, must.Err(k.Find(secret)), want, "%q: find", text)
	}
	must.Do(t, os.Remove(path))
	if any, err := k.Any(); !any || !errors.Is(err, sheaf.ErrUnavailable) || strings.Contains(err.Error(), path) {
		t.Errorf("the file is gone while it is open: %v, %v", any, err)
	}
}

// TestKeysFileIsLink checks keys behind a link. While the target is missing, opening fails.
// Changes go to the target, where other users of that file see them.
func TestKeysFileIsLink(t *testing.T) {
	dir := t.TempDir()
	kept, link := filepath.Join(dir, "kept.json"), filepath.Join(dir, "keys.json")
	if err := os.Symlink(kept, link); err != nil {
		t.Skip(err)
	}
	check.Is(t, must.Err(access.OpenKeys(link)), sheaf.ErrUnavailable, "a link that leads nowhere")
	others := openKeys(t, kept)
	_, secret, err := others.Add(access.Grant{Name: "ann", Scopes: []access.Scope{access.ScopeSearch}})
	must.Do(t, err)
	must.Get(openKeys(t, link).Revoke("ann"))
	check.Is(t, must.Err(others.Find(secret)), access.ErrKey, "a key that was revoked through the link")
	info, err := os.Lstat(link)
	check.That(t, err == nil && info.Mode()&os.ModeSymlink != 0, "the link is none any more: %v, %v", info, err)
}

func TestConcurrentKeyChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	k, beside := openKeys(t, path), openKeys(t, path) // like another process
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			k := []*access.Keys{k, beside}[i%2]
			_, secret, err := k.Add(access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := k.Find(secret); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := k.List()
	check.That(t, err == nil && len(list) == 10, "%d keys, %v", len(list), err)
}

// TestRevokeByIDOrName checks that an ID revokes its own key, and a name the valid key.
func TestRevokeByIDOrName(t *testing.T) {
	k := openKeys(t, filepath.Join(t.TempDir(), "keys.json"))
	add := func(name string, expires time.Time) access.Key {
		t.Helper()
		key, _, err := k.Add(access.Grant{Name: name, Scopes: []access.Scope{access.ScopeSearch}, Expires: expires})
		must.Do(t, err)
		return key
	}
	first := add("ann", time.Now().Add(-time.Second))
	second := add("ann", time.Time{})
	namesake := add(first.ID, time.Time{})
	add("twin", time.Time{})
	add("twin", time.Time{})
	active := must.Get(k.Active())
	var by []string
	for _, named := range active {
		by = append(by, named.By)
	}
	want := []string{"ann", namesake.ID, active[2].ID, active[3].ID}
	check.That(t, slices.Equal(by, want), "active keys are found by %q, want %q", by, want)
	for _, c := range []struct{ by, want string }{{"ann", second.ID}, {first.ID, first.ID}, {first.ID, namesake.ID}} {
		key, err := k.Revoke(c.by)
		check.That(t, err == nil && key.ID == c.want, "revoke %s ends %s, %v; want %s", c.by, key.ID, err, c.want)
	}
}
