package vespa

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sheaf"
	"sheaf/store/storekit"
)

// These are paths of the configuration server. Requests for the default tenant use them.
const (
	application = "/application/v2/tenant/default/application/default"
	activate    = "/application/v2/tenant/default/prepareandactivate"
)

// deploy makes the server run Sheaf's application if it runs none. It does not change an existing application, because
// a deployment would replace all of it.
func (s *Store) deploy(ctx context.Context) error {
	config := newClient(s.o)
	config.URL = s.o.Config
	var refused *refusal
	err := config.Call(ctx, "GET", application, nil, nil)
	if err == nil {
		return nil
	}
	if !errors.As(err, &refused) || refused.status != http.StatusNotFound {
		return err
	}
	files, err := s.o.Application()
	if err != nil {
		return err
	}
	zipped, err := archive(files)
	if err != nil {
		return err
	}
	if err := config.Call(ctx, "POST", activate, storekit.Bytes{Type: "application/zip", Data: zipped}, nil); err != nil {
		return fmt.Errorf("deploy the application: %w", err)
	}
	return s.wait(ctx)
}

// waitPause is roughly the pause between two requests for the state of the container.
const waitPause = 200 * time.Millisecond

// wait waits until the server's container knows the schema. After a deployment, this takes some time.
func (s *Store) wait(ctx context.Context) error {
	for {
		err := s.verify(ctx)
		if err == nil || errors.Is(err, errEmpty) || errors.Is(err, sheaf.ErrInvalid) && !errors.Is(err, sheaf.ErrNotFound) {
			return nil // Open reports the fault
		}
		if storekit.Wait(ctx, 1, waitPause) != nil {
			return fmt.Errorf("the application is deployed, and the container does not run it in time: try again, or "+
				"raise timeout in the address: %w", storekit.OutOfTime(ctx, err))
		}
	}
}

// Drop removes all documents of a store. The schemas stay: only a deployment removes them. A schema may be missing.
func Drop(ctx context.Context, o Options) error {
	c := newClient(o)
	for _, schema := range []string{o.Schema, o.Schema + "_about"} {
		for continuation := ""; ; {
			err := deleteSome(ctx, c, schema, &continuation)
			var refused *refusal
			if errors.As(err, &refused) && (refused.status == http.StatusBadRequest || refused.status == http.StatusNotFound) {
				break // the schema does not exist
			} else if err != nil {
				return err
			}
			if continuation == "" {
				break
			}
		}
	}
	return nil
}

// deleteSome deletes as many documents of a schema as the server deletes in one request. It continues where the last
// call stopped, and sets continuation to "" at the end.
func deleteSome(ctx context.Context, c *storekit.Client, schema string, continuation *string) error {
	path := "/document/v1/" + namespace + "/" + schema + "/docid/?selection=true"
	if *continuation != "" {
		path += "&continuation=" + url.QueryEscape(*continuation)
	}
	var said struct{ Continuation string }
	err := c.Call(ctx, "DELETE", path, nil, &said)
	*continuation = said.Continuation
	return err
}

// Empty implements [store.Emptier]. It removes some documents at a time.
func (s *Store) Empty(ctx context.Context) error {
	for continuation := ""; ; {
		err := s.calls.Write(ctx, func(ctx context.Context) error {
			return deleteSome(ctx, s.feeder, s.o.Schema, &continuation)
		})
		if err != nil || continuation == "" {
			return err
		}
	}
}
