package main

import (
	"path/filepath"

	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/serve"
)

// door opens the session's index as the doors (HTTP, MCP, the page) see it. It
// is to be closed before the session.
func (s *session) door() (*serve.Collection, error) {
	o := s.ingestOptions()
	if err := foldersExist(o.Trees); err != nil {
		return nil, err
	}
	return serve.New(serve.Options{
		Name: collection.TreeName(s.where.Root), Catalog: s.catalog, Backend: s.backend, Store: "the index", Analyzer: s.analyzer,
		Embed: s.queryVector(), Known: s.known(), Confidence: s.confidence, Passages: s.passages(), Model: s.localModel(), Rerank: s.reranker, ProfileDirs: []string{profileFolder()}, Tuned: s.where.Dir, Profile: s.config.Profile,
		Ingest: &o, Documents: filepath.Join(s.where.Dir, collection.DocumentsName), Tasks: filepath.Join(s.where.Dir, collection.TasksName),
		Judged: filepath.Join(s.where.Dir, collection.JudgedName),
	})
}
