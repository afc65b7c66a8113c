package weaviate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/columnword"
	"sheaf/backend/textplan"
)

// maxBatch is how many objects one request carries, maxBatchBytes about how many
// bytes of text.
const (
	maxBatch      = 500
	maxBatchBytes = 4 << 20
)

// Write implements [backend.Backend]. New chunks are written first, and those that
// they take the place of deleted after: a reader may see both for a moment. After
// an error that is no PartialError a part of the batch may be there; writing it
// again brings it in order.
func (s *Store) Write(ctx context.Context, batch backend.Batch) error {
	if err := s.check(&batch); err != nil {
		return err
	}
	return s.calls.Write(ctx, func(ctx context.Context) error { return s.write(ctx, &batch) })
}

// Delete implements [backend.Backend].
func (s *Store) Delete(ctx context.Context, docs []sheaf.ID) error {
	return s.Write(ctx, backend.Batch{Replace: docs})
}

func (s *Store) check(batch *backend.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	dims := map[string]int{}
	for _, v := range s.o.Vectors {
		dims[v.Name] = v.Dims
	}
	s.mu.Lock()
	for name, v := range s.vectors {
		dims[name] = v.Dims
	}
	s.mu.Unlock()
	return batch.ValidateDims(dims, maxDims)
}

// hash stands for an ID in filters.
func hash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// objectID is the ID of an object, made of the parts of what it stands for.
func objectID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (s *Store) write(ctx context.Context, batch *backend.Batch) error {
	chunks := map[sheaf.ID]*backend.Chunk{} // the last of equal IDs
	for i := range batch.Chunks {
		chunks[batch.Chunks[i].ID] = &batch.Chunks[i]
	}
	if len(chunks)+len(batch.Replace) == 0 {
		return nil
	}
	if err := s.addFields(ctx, chunks); err != nil {
		return err
	}
	token := rand.Text()
	out := sender{s: s, rejected: map[sheaf.ID]error{}}
	for _, id := range slices.Sorted(maps.Keys(chunks)) {
		for _, o := range s.objects(chunks[id], token) {
			if err := out.add(ctx, chunks[id].Doc, o); err != nil {
				return err
			}
		}
	}
	if err := out.flush(ctx); err != nil {
		return err
	}
	var docs, ids, bad []string
	for _, id := range batch.Replace {
		if out.rejected[id] == nil {
			docs = append(docs, hash(string(id)))
		}
	}
	for id := range chunks {
		ids = append(ids, hash(string(id)))
	}
	for id := range out.rejected {
		bad = append(bad, hash(string(id)))
	}
	slices.Sort(ids)
	if err := s.removeOthers(ctx, token, docs, ids, bad); err != nil {
		return err
	}
	if len(out.rejected) > 0 {
		return &backend.PartialError{Rejected: out.rejected}
	}
	return nil
}

// addFields makes what the classes lack for the chunks.
func (s *Store) addFields(ctx context.Context, chunks map[sheaf.ID]*backend.Chunk) error {
	texts, vectors := map[string]bool{}, map[string]backend.VectorField{}
	s.mu.Lock()
	for _, c := range chunks {
		for _, f := range c.Fields {
			if !s.texts[textProperty(f.Name)] {
				texts[f.Name] = true
			}
		}
		for _, v := range c.Vectors {
			if _, ok := s.vectors[v.Name]; !ok {
				vectors[v.Name] = backend.VectorField{Name: v.Name, Dims: len(v.Passages[0])}
			}
		}
	}
	s.mu.Unlock()
	for _, v := range s.o.Vectors {
		if _, ok := vectors[v.Name]; ok {
			vectors[v.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		if err := s.addVectors(ctx, vectors[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := s.client.Call(ctx, "POST", "/v1/schema/"+s.o.Class+"/properties", property(textProperty(name), "text", "whitespace", true), nil); err != nil {
			return err
		}
		s.mu.Lock()
		s.texts[textProperty(name)] = true
		s.mu.Unlock()
	}
	return nil
}

// objects are a chunk and its passages.
func (s *Store) objects(c *backend.Chunk, token string) []object {
	words := []string{}
	for _, col := range c.Columns {
		name := columnword.Column(col.Name)
		for _, v := range col.Values {
			if !v.IsZero() {
				words = append(words, name+columnword.Value(v))
			}
		}
	}
	facts := object{"cid": hex.EncodeToString([]byte(c.ID)), "chunk": hash(string(c.ID)), "doc": hash(string(c.Doc)), "write": token, "c": words}
	chunk := maps.Clone(facts)
	chunk[keptProperty] = keep(c)
	for _, f := range c.Fields {
		if text := terms(textplan.Analyze(s.o.Analyzer, f.Text)); text != "" {
			chunk[textProperty(f.Name)] = text
		}
	}
	out := []object{{"class": s.o.Class, "id": objectID(string(c.ID)), "properties": chunk}}
	for _, v := range c.Vectors {
		if s.o.Hybrid && v.Name == backend.VectorBody {
			out[0]["vector"] = v.Passages[0]
		}
		for n, p := range v.Passages {
			passage := maps.Clone(facts)
			passage["n"] = n
			out = append(out, object{"class": s.passageClass(v.Name), "id": objectID(string(c.ID), v.Name, strconv.Itoa(n)), "properties": passage, "vector": p})
		}
	}
	return out
}

// terms writes the terms of a field, forms left out, as often as they stand there.
func terms(f textplan.Field) string {
	var out strings.Builder
	for _, p := range f.Postings {
		if strings.HasPrefix(p.Term, textplan.FormMark) {
			continue
		}
		for range p.Frequency {
			if out.Len() > 0 {
				out.WriteByte(' ')
			}
			out.WriteString(p.Term)
		}
	}
	if !utf8.ValidString(out.String()) {
		return strings.ToValidUTF8(out.String(), "")
	}
	return out.String()
}

// sender sends objects in batches.
type sender struct {
	s        *Store
	objects  []object
	docs     []sheaf.ID
	bytes    int
	rejected map[sheaf.ID]error
}

func (b *sender) add(ctx context.Context, doc sheaf.ID, o object) error {
	b.objects, b.docs = append(b.objects, o), append(b.docs, doc)
	for _, v := range o["properties"].(object) {
		if text, ok := v.(string); ok {
			b.bytes += len(text)
		}
	}
	if v, ok := o["vector"].([]float32); ok {
		b.bytes += 10 * len(v)
	}
	if len(b.objects) < maxBatch && b.bytes < maxBatchBytes {
		return nil
	}
	return b.flush(ctx)
}

func (b *sender) flush(ctx context.Context) error {
	if len(b.objects) == 0 {
		return nil
	}
	var said []struct {
		Result struct {
			Errors *struct{ Error []struct{ Message string } }
		}
	}
	if err := b.s.client.Call(ctx, "POST", "/v1/batch/objects", object{"objects": b.objects}, &said); err != nil {
		return err
	}
	if len(said) != len(b.objects) {
		return b.s.fault(sheaf.ErrUnavailable, "the server answered for %d of %d objects", len(said), len(b.objects))
	}
	for i, one := range said {
		if e := one.Result.Errors; e != nil && len(e.Error) > 0 {
			b.rejected[b.docs[i]] = fmt.Errorf("weaviate: %.300s", e.Error[0].Message)
		}
	}
	b.objects, b.docs, b.bytes = nil, nil, 0
	return nil
}

// removeOthers deletes what documents and chunks had before the write that token
// names, and everything of the documents in bad.
func (s *Store) removeOthers(ctx context.Context, token string, docs, ids, bad []string) error {
	classes := []string{s.o.Class}
	s.mu.Lock()
	for name := range s.vectors {
		classes = append(classes, s.passageClass(name))
	}
	s.mu.Unlock()
	slices.Sort(classes)
	older := object{"path": []string{"write"}, "operator": "NotEqual", "valueText": token}
	for _, c := range classes {
		for _, part := range []struct {
			path string
			list []string
			when []object
		}{{"doc", docs, []object{older}}, {"chunk", ids, []object{older}}, {"doc", bad, nil}} {
			for some := range slices.Chunk(part.list, 1000) {
				where := append([]object{{"path": []string{part.path}, "operator": "ContainsAny", "valueTextArray": some}}, part.when...)
				if err := s.deleteWhere(ctx, c, where); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *Store) deleteWhere(ctx context.Context, class string, where []object) error {
	for {
		var said struct {
			Results struct{ Matches, Successful, Failed, Limit int }
		}
		err := s.client.Call(ctx, "DELETE", "/v1/batch/objects", object{"output": "minimal", "match": object{"class": class, "where": object{"operator": "And", "operands": where}}}, &said)
		r := said.Results
		switch {
		case err != nil:
			return err
		case r.Failed > 0:
			return s.fault(sheaf.ErrUnavailable, "%d objects of %s were not deleted: write again", r.Failed, class)
		case r.Matches <= r.Successful && r.Matches < max(r.Limit, 1):
			return nil
		case r.Successful == 0:
			return nil
		}
	}
}
