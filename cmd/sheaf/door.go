package main

import (
	"path/filepath"
	"slices"

	"sheaf/cmd/sheaf/internal/config"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/search/scan"
)

// door opens the session's index as the doors (HTTP, MCP, the page) see it. It
// is to be closed before the session.
func (s *session) door() (*collection.Collection, error) {
	o := s.ingestOptions()
	if err := someFolder(o.Trees); err != nil {
		return nil, err
	}
	_, _ = s.loadTuned(s.config.Profile) // warns of a tuned profile that is not used; requests tell of other faults
	scanner, err := s.folderScanner(o)
	if err != nil {
		return nil, err
	}
	out := collection.Options{
		Name: o.Trees[0].Name, Catalog: s.catalog, Backend: s.backend, Store: s.storeAtDoors(), Distant: s.target != nil,
		SharedStatistics: s.shared, ShowComments: s.config.Comments == config.CommentsSearch, Analyzer: s.analyzer,
		Scanner: scanner,
		Embed:   s.queryVector(), Confidence: s.confidenceNow, Passages: s.passages(), Model: s.localModel(),
		Rerank: s.reranker, ProfileDirs: []string{profileFolder()}, Tuned: s.where.Dir, Profile: s.config.Profile,
		Ingest: &o, Documents: filepath.Join(s.where.Dir, location.DocumentsName),
		Tasks:      filepath.Join(s.where.Dir, location.TasksName),
		Judged:     filepath.Join(s.where.Dir, location.JudgedName),
		CacheBytes: cacheBytes(s.config.CacheSize), Notice: func(err error) { s.notice("%v", err) },
	}
	if s.asIs { // nothing is written
		out.Ingest, out.Documents, out.Tasks, out.Judged = nil, "", "", ""
	}
	return collection.New(out)
}

// storeAtDoors is what callers hear the store called: where it is, is not for all of them.
func (s *session) storeAtDoors() string {
	if s.target == nil {
		return s.storeInErrors()
	}
	return s.target.Kind
}

// cacheBytes is a setting as a collection takes it, whose 0 is a default.
func cacheBytes(size int64) int64 {
	if size == 0 {
		return -1
	}
	return size
}

// folderScanner reads the files of the folder that the index is of, for profiles
// that need no index; nil when it is of none.
func (s *session) folderScanner(o ingest.Options) (search.Scanner, error) {
	i := slices.IndexFunc(o.Trees, func(t catalog.Tree) bool { return t.Root == s.where.Root && t.Root != "" })
	if i < 0 {
		return nil, nil
	}
	return scan.New(scan.Options{Root: o.Trees[i].Root, Tree: o.Trees[i].Name, Walk: o.Walk, Analyzer: s.analyzer,
		Embedder: s.embedder})
}
