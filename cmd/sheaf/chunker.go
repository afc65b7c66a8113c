package main

import (
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/text/chunk"
)

// configuredChunker is how the settings want documents to be cut. Windows are
// measured in the tokens of the model that embeds them: the built-in one's are known;
// an endpoint does not tell its own, so that words are counted there, as without a
// model.
func configuredChunker(c *config.Config) (chunk.Options, error) {
	o := chunk.Options{
		Chunker: c.Chunker, GitHubSlugs: c.Chunk.GitHubSlugs, Sections: chunk.SectionOptions{Cap: c.Chunk.SectionCap},
		Window: chunk.WindowOptions{Size: c.Chunk.WindowSize, Overlap: c.Chunk.WindowOverlap,
			Boundary: c.Chunk.WindowBoundary, Large: c.Chunk.WindowLarge,
			TitlePrefix: c.Chunk.WindowTitlePrefix, MetadataSuffix: c.Chunk.WindowMetadataSuffix},
	}
	if c.Embedder.Use == config.EmbedderNone || c.Embedder.Remote() {
		return o, nil
	}
	e, err := newBuiltIn()
	if err != nil {
		return o, err
	}
	o.Window.Tokens, o.Window.TokensName = e.Pieces, e.Tokens()
	return o, nil
}

// newChunker is how documents are cut from now on; what windows of an endpoint's
// model count is said.
func (a *app) newChunker() (chunk.Options, error) {
	if a.config.Chunker == "window" && a.config.Embedder.Remote() {
		a.notice("windows are measured in words: the endpoint does not tell the tokens of %s", a.config.Embedder.Model)
	}
	return configuredChunker(a.config)
}
