package opensearch_test

import (
	"context"
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

// BenchmarkOverhead is a whole query, as the doors answer it, with a profile of two
// branches and with the default, beside the same requests to the server alone.
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

// BenchmarkBulk fills an index beside a loop of the server's own bulk requests with the
// same documents.
func BenchmarkBulk(b *testing.B) {
	collected := &storetest.Collected{}
	collectiontest.Open(b, collectiontest.Documentation(b), func(o *collection.Options) { o.Backend = collected })
	tap := &storetest.Tap{HTTP: storekit.Transport()}
	fresh := func() (*opensearch.Store, opensearch.Options) {
		o := optionsOf(b, opensearch.OpenSearch)
		o.Client = &http.Client{Transport: tap}
		return storesOf(opensearch.OpenSearch).Open(b, o).(*opensearch.Store), o
	}
	st, o := fresh()
	tap.Take()
	if err := st.Write(context.Background(), store.Batch{Chunks: collected.Chunks}); err != nil {
		b.Fatal(err)
	}
	first := o.Index
	var bulk []storetest.Sent
	for _, s := range tap.Take() {
		if !strings.Contains(s.URL, first+"-terms") {
			bulk = append(bulk, s)
		}
	}
	var into *opensearch.Store
	var place opensearch.Options
	storetest.Ratio(b, func() { into, place = fresh() }, func() error {
		return into.Write(context.Background(), store.Batch{Chunks: collected.Chunks})
	}, func() error {
		for _, s := range bulk {
			s.URL = strings.ReplaceAll(s.URL, "/"+first+"/", "/"+place.Index+"/")
			if err := tap.Send(context.Background(), s); err != nil {
				return err
			}
		}
		return nil
	})
}
