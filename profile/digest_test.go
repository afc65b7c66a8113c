package profile_test

import (
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
)

// TestDigest checks that the content of a profile changes its digest, but its notation does not.
func TestDigest(t *testing.T) {
	digest := func(text string) string {
		t.Helper()
		p := must.Get(profile.Parse("own.yaml", []byte("name: own\nabout: x.\n"+text), profile.Builtin))
		return p.Digest()
	}
	own := must.Get(profile.Load("sheaf", profile.Builtin))
	check.That(t,
		digest("extends: sheaf\nparameters: {meaning: 0.220}\n") == digest("extends: sheaf\nparameters: {meaning: 0.22}\n") &&
			digest("extends: sheaf\n") == own.Digest(), "a number that is written another way gives another digest")
	base := digest("parameters: {p: {default: 3, min: 0, max: 9, about: q.}}\nbranches: [{retrieve: text, limit: 10, " +
		"fields: {title: p, body: 2}}]\n")
	for _, same := range []string{
		"parameters: {p: {default: 3.0, min: 0, max: 9, about: another.}}\nbranches: [{retrieve: text, limit: 10, fields: " +
			"{title: p, body: 2}}]\n",
		"parameters: {p: {default: 3, min: 0, max: 9, about: q.}}\nbranches: [{retrieve: text, limit: 10, fields: {title: " +
			"p, body: 2.0}}]\n",
		"parameters: {p: {default: 3, min: 0, max: 9, about: q.}}\nbranches: [{fields: {body: 2, title: p}, retrieve: " +
			"text, limit: 10}]\n",
	} {
		check.Equal(t, digest(same), base, "digest of\n%s", same)
	}
	for _, other := range []string{
		"parameters: {p: {default: 4, min: 0, max: 9, about: q.}}\nbranches: [{retrieve: text, limit: 10, fields: {title: " +
			"p, body: 2}}]\n",
		"parameters: {p: {default: 3, min: 0, max: 9, about: q.}}\nbranches: [{retrieve: text, limit: 10, fields: {title: " +
			"p, body: 3}}]\n",
		"parameters: {p: {default: 3, min: 0, max: 9, about: q.}}\nbranches: [{retrieve: text, limit: 10, fields: {title: " +
			"2, body: p}}]\n",
		"parameters: {p: {default: 3, min: 0, max: 9, about: q.}}\nbranches: [{retrieve: text, limit: 11, fields: {title: " +
			"p, body: 2}}]\n",
	} {
		check.That(t, digest(other) != base, "the same digest of\n%s", other)
	}
}
