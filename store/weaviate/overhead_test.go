package weaviate_test

import (
	"net/http"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// BenchmarkOverhead compares whole queries through the collection with the same requests sent
// directly. It uses a profile of two branches and the default.
func BenchmarkOverhead(b *testing.B) {
	for _, profile := range []string{"rrf", "sheaf"} {
		b.Run(profile, func(b *testing.B) {
			tap := &storetest.Tap{HTTP: storekit.Transport()}
			_, whole := collectiontest.Searches(b, profile, func(o *collection.Options) {
				at := options(b)
				at.Client, at.Analyzer = &http.Client{Transport: tap}, o.Analyzer
				o.Backend, o.Store = stores().Open(b, at), "Weaviate"
			})
			tap.Overhead(b, len(collectiontest.Asked), whole)
		})
	}
}

// BenchmarkBulk compares filling a class with sending the same batches directly.
func BenchmarkBulk(b *testing.B) {
	collected := &storetest.Collected{}
	collectiontest.Open(b, collectiontest.Documentation(b), func(o *collection.Options) { o.Backend = collected })
	tap := &storetest.Tap{HTTP: storekit.Transport()}
	tap.Fill(b, collected.Chunks, func() (store.Backend, string) {
		o := options(b)
		o.Client = &http.Client{Transport: tap}
		return stores().Open(b, o), o.Class
	}, func(s storetest.Sent) bool {
		return s.Method == "POST" && (strings.HasSuffix(s.URL, "/v1/batch/objects") || strings.HasSuffix(s.URL, "/v1/schema"))
	})
}
