package opensearch_test

import (
	"net/http"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/store"
	"sheaf/store/opensearch"
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
				at := optionsOf(b, opensearch.OpenSearch)
				at.Client, at.Analyzer = &http.Client{Transport: tap}, o.Analyzer
				o.Backend, o.Store = storesOf(opensearch.OpenSearch).Open(b, at), "OpenSearch"
			})
			tap.Overhead(b, len(collectiontest.Asked), whole)
		})
	}
}

// BenchmarkBulk compares filling an index with sending the same bulk requests directly.
func BenchmarkBulk(b *testing.B) {
	collected := &storetest.Collected{}
	collectiontest.Open(b, collectiontest.Documentation(b), func(o *collection.Options) { o.Backend = collected })
	tap := &storetest.Tap{HTTP: storekit.Transport()}
	tap.Fill(b, collected.Chunks, func() (store.Backend, string) {
		o := optionsOf(b, opensearch.OpenSearch)
		o.Client = &http.Client{Transport: tap}
		return storesOf(opensearch.OpenSearch).Open(b, o), o.Index
	}, func(s storetest.Sent) bool { return !strings.Contains(s.URL, "-terms") })
}
