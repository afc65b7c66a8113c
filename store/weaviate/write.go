package weaviate

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// maxBatch is the largest number of objects in one request. maxBatchBytes is roughly the largest size of a request.
const (
	maxBatch      = 500
	maxBatchBytes = 4 << 20
)

// Write implements [store.Backend]. It writes new chunks and then removes old chunks, so readers may briefly see both.
// After an error other than PartialError, a part of the batch may be in the store. To repair that, write the batch
// again.
func (s *Store) Write(ctx context.Context, batch store.Batch) error {
	if err := s.vectors.Check(&batch, s.o.Vectors, maxDims); err != nil {
		return err
	}
	return s.calls.Write(ctx, func(ctx context.Context) error { return s.write(ctx, &batch) })
}

// objectID returns the ID of an object, made from parts that identify the object.
func objectID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (s *Store) write(ctx context.Context, batch *store.Batch) error {
	chunks := storekit.LastOfEqual(batch)
	if len(chunks)+len(batch.Replace) == 0 {
		return nil
	}
	if err := s.addFields(ctx, chunks); err != nil {
		return err
	}
	token, order := rand.Text(), slices.Sorted(maps.Keys(chunks))
	out := sender{s: s, rejected: storekit.Rejected{}}
	if err := out.sendAll(ctx, order, chunks, token); err != nil {
		return err
	}
	older := object{"path": []string{"write"}, "operator": "NotEqual", "valueText": token}
	for _, class := range s.classes() {
		for _, part := range []struct {
			path string
			ids  []sheaf.ID
			when []object
		}{{"doc", out.rejected.Accepted(batch.Replace), []object{older}}, {"chunk", order, []object{older}},
			{"doc", slices.Collect(maps.Keys(out.rejected)), nil}} {
			for some := range slices.Chunk(part.ids, 1000) {
				where := append([]object{{"path": []string{part.path}, "operator": "ContainsAny",
					"valueTextArray": storekit.Hashes(some)}}, part.when...)
				for more := true; more; {
					var err error
					if more, err = s.deleteSome(ctx, class, where); err != nil {
						return err
					}
				}
			}
		}
	}
	return out.rejected.Err()
}

// addFields creates the missing properties and classes for the fields of chunks.
func (s *Store) addFields(ctx context.Context, chunks map[sheaf.ID]*store.Chunk) error {
	texts := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(chunks)) {
		for _, f := range chunks[id].Fields {
			if !s.hasField(f.Name) {
				texts[f.Name] = true
			}
		}
		for _, v := range s.vectors.Missing(chunks[id], s.o.Vectors) {
			if err := s.addVectors(ctx, v); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := s.client.Call(ctx, "POST", "/v1/schema/"+s.o.Class+"/properties",
			property(textProperty(name), "text", "whitespace", true), nil); err != nil {
			return err
		}
		s.mu.Lock()
		s.texts[textProperty(name)] = true
		s.mu.Unlock()
	}
	return nil
}

// objects returns a chunk and its passages as JSON objects. A long text has tens of thousands of passages, so objects
// encodes their common part only once.
func (s *Store) objects(c *store.Chunk, token string) ([][]byte, error) {
	facts := object{"cid": hex.EncodeToString([]byte(c.ID)), "chunk": storekit.Hash(string(c.ID)),
		"doc": storekit.Hash(string(c.Doc)), "c": storekit.ColumnWords(c)}
	shared, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	facts["write"], facts[keptProperty] = token, encodeKept(c)
	for _, f := range c.Fields {
		if text := storekit.Analyze(s.o.Analyzer, f.Text).Text(validWord); text != "" {
			facts[textProperty(f.Name)] = text
		}
	}
	chunk := object{"class": s.o.Class, "id": objectID(string(c.ID)), "properties": facts}
	out := make([][]byte, 1)
	for _, v := range c.Vectors {
		class := s.passageClass(v.Name)
		for n, p := range v.Passages {
			out = append(out, fmt.Appendf(nil, `{"class":%q,"id":%q,"properties":%s,"n":%d,"write":%q},"vector":%s}`,
				class, objectID(string(c.ID), v.Name, strconv.Itoa(n)), shared[:len(shared)-1], n, token, numbers(p)))
		}
	}
	out[0], err = json.Marshal(chunk)
	return out, err
}

// validWord removes the bytes of a term that are not UTF-8.
func validWord(term string) string { return strings.ToValidUTF8(term, "") }

// sender collects objects and sends them in batches.
type sender struct {
	s        *Store
	objects  [][]byte
	docs     []sheaf.ID
	bytes    int
	rejected storekit.Rejected
}

// sendAll sends the objects of chunks, in order. It analyzes and encodes several chunks in parallel.
func (b *sender) sendAll(ctx context.Context, order []sheaf.ID, chunks map[sheaf.ID]*store.Chunk, token string) error {
	err := storekit.InOrder(ctx, order, func(id sheaf.ID) ([][]byte, error) {
		return b.s.objects(chunks[id], token)
	}, func(ctx context.Context, id sheaf.ID, list [][]byte) error {
		for _, o := range list {
			if err := b.add(ctx, chunks[id].Doc, o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.flush(ctx)
}

func (b *sender) add(ctx context.Context, doc sheaf.ID, o []byte) error {
	if len(b.objects) > 0 && (len(b.objects) == maxBatch || b.bytes+len(o) > maxBatchBytes) {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.objects, b.docs, b.bytes = append(b.objects, o), append(b.docs, doc), b.bytes+len(o)
	return nil
}

// flush sends the collected objects. It uses several requests if the objects are too large for one.
func (b *sender) flush(ctx context.Context) error {
	objects, docs := b.objects, b.docs
	b.objects, b.docs, b.bytes = nil, nil, 0
	if len(objects) == 0 {
		return nil
	}
	return storekit.Halve(0, len(objects), func(from, to int) error {
		return b.send(ctx, objects[from:to], docs[from:to])
	}, func(i int, err error) { b.rejected[docs[i]] = fmt.Errorf("a chunk is too large to send: %w", err) })
}

func (b *sender) send(ctx context.Context, objects [][]byte, docs []sheaf.ID) error {
	var said []struct {
		Result struct {
			Status string
			Errors *struct{ Error []struct{ Message string } }
		}
	}
	if err := b.s.client.Call(ctx, "POST", "/v1/batch/objects",
		storekit.Bytes{Type: "application/json",
			Data: slices.Concat([]byte(`{"objects":[`), bytes.Join(objects, []byte{','}), []byte("]}"))}, &said); err != nil {
		return err
	}
	if len(said) != len(objects) {
		return b.s.fault(sheaf.ErrUnavailable, "the server answered for %d of %d objects", len(said), len(objects))
	}
	for i, one := range said {
		e := one.Result.Errors
		switch {
		case e != nil && len(e.Error) > 0:
			b.rejected[docs[i]] = fmt.Errorf("weaviate: %.300s", e.Error[0].Message)
		case one.Result.Status != "SUCCESS":
			return b.s.fault(sheaf.ErrUnavailable, "an object is neither taken nor refused (status %q): the answer is not from "+
				"such a server", one.Result.Status)
		}
	}
	return nil
}

// classes returns the class of chunks and the classes of the vector fields, sorted.
func (s *Store) classes() []string {
	out := []string{s.o.Class}
	for _, v := range s.vectors.All() {
		out = append(out, s.passageClass(v.Name))
	}
	slices.Sort(out)
	return out
}

// deleteSome deletes as many objects as the server deletes in one request. more is true if objects may be left.
func (s *Store) deleteSome(ctx context.Context, class string, where []object) (more bool, err error) {
	var said struct {
		Results *struct{ Matches, Successful, Failed, Limit int }
	}
	err = s.client.Call(ctx, "DELETE", "/v1/batch/objects",
		object{"output": "minimal", "match": object{"class": class, "where": object{"operator": "And", "operands": where}}},
		&said)
	r := said.Results
	switch {
	case err != nil:
		return false, err
	case r == nil:
		return false, s.fault(sheaf.ErrUnavailable, "a deletion without results: the answer is not from such a server")
	case r.Failed > 0:
		return false, s.fault(sheaf.ErrUnavailable, "%d objects of %s were not deleted: write again", r.Failed, class)
	}
	return r.Successful > 0 && (r.Matches > r.Successful || r.Matches >= max(r.Limit, 1)), nil
}

// Empty implements [store.Emptier]. It deletes some objects at a time.
func (s *Store) Empty(ctx context.Context) error {
	where := []object{{"path": []string{"write"}, "operator": "NotEqual", "valueText": rand.Text()}}
	for _, class := range s.classes() {
		for more := true; more; {
			err := s.calls.Write(ctx, func(ctx context.Context) (err error) {
				more, err = s.deleteSome(ctx, class, where)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
