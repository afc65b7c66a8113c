package opensearch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Examine checks a server and a store's index. It tests rights, analyzers and vectors with a temporary empty index.
func Examine(ctx context.Context, o Options) []store.Finding {
	if err := o.prepare(); err != nil {
		return []store.Finding{{Check: "settings", Err: err}}
	}
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	s := newStore(o)
	var nodes struct {
		Nodes map[string]struct{ Version string }
	}
	began := time.Now()
	err := s.client.Call(ctx, "GET", "/_nodes/_all/http?filter_path=nodes.*.version", nil, &nodes)
	if err != nil && !errors.Is(err, store.ErrForbidden) {
		if errors.Is(err, sheaf.ErrNotFound) {
			err = s.askDialect(err)
		}
		return []store.Finding{{Check: "connection", Err: err}}
	}
	out := []store.Finding{storekit.Connected(began)}
	version := storekit.NotTold
	for _, n := range nodes.Nodes {
		version = o.Dialect.String() + " " + n.Version
		break
	}
	out = append(out, store.Finding{Check: "version", Found: version}, s.examineHealth(ctx), s.examineClock(ctx))
	err = s.checkServer(ctx)
	there := fmt.Sprintf("there; a query may have %d clauses", s.server.clauses.Load())
	out = append(out, storekit.Finding("plug-ins", there, err))
	if o.Dialect == Elasticsearch {
		out = append(out, s.examineLicense(ctx))
	}
	return append(out, s.examineMaking(ctx), s.examineIndex(ctx))
}

// examineLicense reports the license of the server. An expired license is a fault.
func (s *Store) examineLicense(ctx context.Context) store.Finding {
	out := store.Finding{Check: "license", Found: storekit.NotTold}
	var said struct {
		License struct{ Type, Status string }
	}
	switch err := s.client.Call(ctx, "GET", "/_license", nil, &said); {
	case errors.Is(err, sheaf.ErrInvalid), errors.Is(err, sheaf.ErrNotFound), err == nil && said.License.Type == "":
		return out // the user lacks the right, or the server the module
	case err != nil:
		return storekit.Finding(out.Check, "", err)
	}
	out.Found = said.License.Type + ", " + said.License.Status
	if said.License.Status == "expired" {
		out.Err = s.fault(store.ErrForbidden, "its license has expired: renew it, or return to the free one with POST "+
			"/_license/start_basic?acknowledge=true")
	}
	return out
}

func (s *Store) examineHealth(ctx context.Context) store.Finding {
	var health struct{ Status string }
	err := s.client.Call(ctx, "GET", "/_cluster/health", nil, &health)
	if errors.Is(err, store.ErrForbidden) {
		return store.Finding{Check: "health", Found: storekit.NotTold}
	}
	if err == nil && health.Status == "red" {
		err = s.fault(sheaf.ErrUnavailable, "shards of the cluster have no copy: see _cluster/allocation/explain")
	}
	return store.Finding{Check: "health", Found: health.Status, Err: err}
}

// examineClock compares this machine's clock with the clock of each node. The servers send no Date header, so
// examineClock asks each node for its time. If this time is between the request and the answer, there is no difference.
func (s *Store) examineClock(ctx context.Context) store.Finding {
	var stats struct {
		Nodes map[string]struct{ Timestamp int64 }
	}
	before := time.Now()
	err := s.client.Call(ctx, "GET", "/_nodes/stats/process?filter_path=nodes.*.timestamp", nil, &stats)
	after := time.Now()
	out := store.Finding{Check: "clock", Found: storekit.NotTold, Err: err}
	if errors.Is(err, store.ErrForbidden) {
		out.Err = nil
	}
	if len(stats.Nodes) == 0 {
		return out
	}
	var skew time.Duration
	for _, n := range stats.Nodes {
		at := time.UnixMilli(n.Timestamp)
		skew = max(skew, before.Sub(at), at.Sub(after))
	}
	out.Found = fmt.Sprintf("differs by %v", skew.Round(time.Millisecond))
	if skew > store.MaxSkew {
		out.Err = s.fault(sheaf.ErrInvalid, "the clocks differ by more than %v: set both from the network", store.MaxSkew)
	}
	return out
}

// examineMaking tests the right to create an index: it creates one with the store's mapping and removes it.
func (s *Store) examineMaking(ctx context.Context) store.Finding {
	probe := fmt.Sprintf("%s-probe-%d", s.index(), time.Now().UnixNano())
	fields := s.o.Vectors
	if len(fields) == 0 {
		fields = []store.VectorField{{Name: store.VectorBody, Dims: 8}}
	}
	err := s.client.Probe(ctx, "/"+probe, func() error {
		return s.make(ctx, probe, s.o.meta(fields))
	})
	return storekit.Finding("rights and analyzers", "an index can be made", err)
}

func (s *Store) examineIndex(ctx context.Context) store.Finding {
	check := "index " + s.index()
	err := s.ourDictionary(ctx)
	gone := errors.Is(err, sheaf.ErrNotFound)
	if err == nil || gone || errors.Is(err, store.ErrForbidden) {
		err = s.verify(ctx)
	}
	if err == nil {
		err = s.examineBlocks(ctx)
	}
	if err == nil && gone {
		err = s.fault(sheaf.ErrNotFound, "the index exists, but its dictionary %s-terms does not: sheaf index --rebuild "+
			"makes it again", s.index())
		return storekit.Finding(check, "", err)
	}
	if errors.Is(err, sheaf.ErrNotFound) {
		return storekit.Finding(check, "not made yet", nil)
	}
	if err != nil {
		return storekit.Finding(check, "", err)
	}
	n, err := s.count(ctx, object{"match_all": object{}})
	return storekit.Chunks(check, n, err)
}

// examineBlocks fails when the server blocks an operation on the index or its dictionary. Servers block an index by
// themselves when a disk is nearly full.
func (s *Store) examineBlocks(ctx context.Context) error {
	var found map[string]struct{ Settings map[string]string }
	err := s.client.Call(ctx, "GET",
		fmt.Sprintf("/%s,%s-terms/_settings/index.blocks.*?flat_settings=true&ignore_unavailable=true", s.index(), s.index()),
		nil, &found)
	if errors.Is(err, sheaf.ErrInvalid) {
		return nil // the user lacks the right; a write will show blocks
	}
	if err != nil {
		return err
	}
	var lifts []string
	space := ""
	for _, index := range slices.Sorted(maps.Keys(found)) {
		// Blocks that allow only reading come first, because they prevent changes of the others. Each block needs a separate
		// request, because the server refuses several together. The block of metadata refuses this request, and the error
		// names it.
		for _, block := range []string{"read_only_allow_delete", "read_only", "write", "read"} {
			if found[index].Settings["index.blocks."+block] != "true" {
				continue
			}
			lifts = append(lifts, fmt.Sprintf(`PUT /%s/_settings {"index.blocks.%s":null}`, index, block))
			if block == "read_only_allow_delete" {
				space = "make space where the server's disk is nearly full, then "
			}
		}
	}
	if len(lifts) == 0 {
		return nil
	}
	return s.fault(sheaf.ErrUnavailable, "the server blocks it (%d settings index.blocks): %slift that, one after "+
		"another: %s", len(lifts), space, strings.Join(lifts, ", "))
}
