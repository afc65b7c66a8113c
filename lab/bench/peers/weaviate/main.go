// Command weaviate runs Weaviate over gRPC as a peer of sheaf bench: BM25, HNSW with defaults, and its hybrid query.
// It starts and stops the server that WEAVIATE_SERVER names.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"sheaf/eval/benchmark"
)

func main() {
	benchmark.Main(func(task benchmark.Task, _ benchmark.Meta) benchmark.Engine { return &engine{task: task} })
}

type engine struct {
	task   benchmark.Task
	server *server
	conn   *grpc.ClientConn
	client pb.WeaviateClient
}

// Version returns the version of the server that setup.sh installs.
func (e *engine) Version() string { return os.Getenv("WEAVIATE_VERSION") }

// Process returns the number of the server's process.
func (e *engine) Process() string {
	if e.server == nil {
		return ""
	}
	return strconv.Itoa(e.server.command.Process.Pid)
}

func (e *engine) Open(dir string) (err error) {
	if e.server, err = start(dir); err != nil {
		return err
	}
	e.conn, err = grpc.NewClient(e.server.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	e.client = pb.NewWeaviateClient(e.conn)
	return err
}

func (e *engine) Close() error {
	_ = e.conn.Close()
	return e.server.stop()
}

const class = `{"class": "Chunk", "vectorizer": "none", "vectorIndexConfig": {"distance": "dot"}, "properties": [
	{"name": "title", "dataType": ["text"]}, {"name": "text", "dataType": ["text"]}]}`

func (e *engine) Build(ctx context.Context, dir string, docs []benchmark.Document, vectors [][]float32) (err error) {
	if err := e.Open(dir); err != nil {
		return err
	}
	defer func() {
		if fault := e.Close(); err == nil {
			err = fault
		}
	}()
	answer, err := http.Post(e.server.rest+"/v1/schema", "application/json", bytes.NewReader([]byte(class)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return fmt.Errorf("make the class: %s: %s", answer.Status, text)
	}
	const batchSize = 1000
	for from := 0; from < len(docs); from += batchSize {
		batch := &pb.BatchObjectsRequest{}
		for i := from; i < min(from+batchSize, len(docs)); i++ {
			o := &pb.BatchObject{Uuid: uuid(docs[i].ID), Collection: "Chunk",
				Properties: &pb.BatchObject_Properties{NonRefProperties: &structpb.Struct{}}}
			if e.task != benchmark.TaskVectors {
				o.Properties.NonRefProperties.Fields = map[string]*structpb.Value{"title": structpb.NewStringValue(docs[i].Title),
					"text": structpb.NewStringValue(docs[i].Text)}
			}
			if e.task != benchmark.TaskWords {
				o.VectorBytes = wire(vectors[i]) // the class has one vector, without a name
			}
			batch.Objects = append(batch.Objects, o)
		}
		reply, err := e.client.BatchObjects(ctx, batch)
		if err != nil {
			return err
		}
		if len(reply.Errors) > 0 {
			return fmt.Errorf("object %d: %s", from+int(reply.Errors[0].Index), reply.Errors[0].Error)
		}
	}
	return nil
}

func (e *engine) Ask(ctx context.Context, text string, vector []float32) ([]string, error) {
	r := &pb.SearchRequest{Collection: "Chunk", Limit: benchmark.Top, Metadata: &pb.MetadataRequest{Uuid: true},
		Properties: &pb.PropertiesRequest{}, Uses_127Api: true}
	fields := []string{"title", "text"}
	switch e.task {
	case benchmark.TaskWords:
		r.Bm25Search = &pb.BM25{Query: text, Properties: fields}
	case benchmark.TaskVectors:
		r.NearVector = &pb.NearVector{VectorBytes: wire(vector)}
	default:
		r.HybridSearch = &pb.Hybrid{Query: text, Properties: fields, VectorBytes: wire(vector), Alpha: 0.5,
			FusionType: pb.Hybrid_FUSION_TYPE_RANKED}
	}
	reply, err := e.client.Search(ctx, r)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, found := range reply.Results {
		ids = append(ids, name(found.Metadata.Id))
	}
	return ids, nil
}

// wire returns a vector as little-endian float32 numbers, as the protocol sends it.
func wire(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// prefix is the beginning of every UUID. The rest of a UUID is the number of a document.
const prefix = "00000000-0000-4000-8000-00000"

func uuid(id string) string { return prefix + id[1:] }

func name(uuid string) string { return "d" + uuid[len(prefix):] }
