package main

import (
	"context"
	"runtime/debug"

	"sheaf/cmd/sheaf/internal/config"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/search/scan"
)

// openScan opens a session on a folder without an index, for a profile that
// finds candidates in the files. It writes nothing.
func (a *app) openScan(ctx context.Context, folder string, set []string) (*session, error) {
	c := a.config
	s := a.newSession(folder, location.Location{Root: folder})
	s.Waits = collection.Hasty
	var err error
	if s.Catalog, err = scan.Empty(catalog.TreeName(folder), folder); err != nil {
		return nil, err
	}
	s.View = s.Catalog.View()
	if err := s.OpenAnalyzer(ctx); err != nil {
		s.Close()
		return nil, err
	}
	p, parameters, err := s.profileOf(set)
	if err != nil {
		s.Close()
		return nil, err
	}
	plan, err := p.Plan(c.Limit, parameters)
	if err != nil {
		s.Close()
		return nil, err
	}
	if err := s.checkLimit(plan); err != nil {
		s.Close()
		return nil, err
	}
	if plan.Scan != nil {
		// The collector would let the process grow to twice what is in use.
		debug.SetMemoryLimit(plan.Scan.MemoryBytes / 4 * 3)
	}
	if s.expander, err = newExpander(c.Chat); err != nil {
		s.Close()
		return nil, err
	}
	if search.NeedsVectors(plan) {
		if err := s.OpenEmbedder(ctx); err != nil {
			s.Close()
			return nil, err
		}
	}
	s.scanner, err = scan.New(scan.Options{Root: folder, Analyzer: s.Analyzer, Embedder: s.Embedder,
		HideComments: c.Comments == config.CommentsHide,
		Walk: ingest.WalkOptions{Include: c.Include, Exclude: c.Exclude, MaxFileBytes: c.MaxFileSize,
			FollowLinks: c.FollowSymlinks}})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}
