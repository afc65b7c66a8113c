package elastic_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"sheaf/backend"
	"sheaf/backend/backendtest"
	"sheaf/backend/elastic"
	"sheaf/backend/httpstore"
	"sheaf/serve"
	"sheaf/serve/servetest"
)

// BenchmarkOverhead is a whole query, as the doors answer it, with a profile of two
// branches and with the default, beside the same requests to the server alone.
func BenchmarkOverhead(b *testing.B) {
	for _, profile := range []string{"rrf", "sheaf"} {
		b.Run(profile, func(b *testing.B) {
			tap := &backendtest.Tap{HTTP: httpstore.Transport()}
			_, whole := servetest.Searches(b, profile, func(o *serve.Options) {
				at := optionsOf(b, elastic.OpenSearch)
				at.Client, at.Analyzer = &http.Client{Transport: tap}, o.Analyzer
				o.Backend, o.Store = storesOf(elastic.OpenSearch).Open(b, at), "OpenSearch"
			})
			tap.Overhead(b, len(servetest.Asked), whole)
		})
	}
}

// BenchmarkBulk fills an index beside a loop of the server's own bulk requests with the
// same documents.
func BenchmarkBulk(b *testing.B) {
	collected := &backendtest.Collected{}
	servetest.Open(b, servetest.Documentation(b), func(o *serve.Options) { o.Backend = collected })
	tap := &backendtest.Tap{HTTP: httpstore.Transport()}
	fresh := func() (*elastic.Store, elastic.Options) {
		o := optionsOf(b, elastic.OpenSearch)
		o.Client = &http.Client{Transport: tap}
		return storesOf(elastic.OpenSearch).Open(b, o).(*elastic.Store), o
	}
	store, o := fresh()
	tap.Take()
	if err := store.Write(context.Background(), backend.Batch{Chunks: collected.Chunks}); err != nil {
		b.Fatal(err)
	}
	first := o.Index
	var bulk []backendtest.Sent
	for _, s := range tap.Take() {
		if !strings.Contains(s.URL, first+"-terms") {
			bulk = append(bulk, s)
		}
	}
	var into *elastic.Store
	var place elastic.Options
	backendtest.Ratio(b, func() { into, place = fresh() }, func() error {
		return into.Write(context.Background(), backend.Batch{Chunks: collected.Chunks})
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
