package main

import (
	"sheaf/chunk"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/inference"
)

// configuredChunker is how the settings want documents to be cut. Windows are
// measured in the tokens of the model that embeds them: the built-in one's are known;
// an endpoint does not tell its own, so that words are counted there, as without a
// model.
func configuredChunker(c *config.Config) (chunk.Options, error) {
	o := chunk.Options{
		Chunker: c.Chunker, GitHubSlugs: c.Chunk.GitHubSlugs, Sections: chunk.SectionOptions{Cap: c.Chunk.SectionCap},
		Window: chunk.WindowOptions{Size: c.Chunk.WindowSize, Overlap: c.Chunk.WindowOverlap, Boundary: c.Chunk.WindowBoundary, Large: c.Chunk.WindowLarge,
			TitlePrefix: c.Chunk.WindowTitlePrefix, MetadataSuffix: c.Chunk.WindowMetadataSuffix},
	}
	if c.Embedder.Use == config.EmbedderNone || c.Embedder.Remote() {
		return o, nil
	}
	e, err := newBuiltIn()
	if t, ok := e.(inference.Tokenizer); ok {
		o.Window.Tokens, o.Window.TokensName = t.Pieces, e.Model()
	}
	return o, err
}

// newChunker is how documents are cut from now on; what windows of an endpoint's
// model count is said.
func (a *app) newChunker() (chunk.Options, error) {
	if a.config.Chunker == "window" && a.config.Embedder.Remote() {
		a.notice("windows are measured in words: the endpoint does not tell the tokens of %s", a.config.Embedder.Model)
	}
	return configuredChunker(a.config)
}

// modelTokens are the tokens of the model of this name, nil when it is not in this
// program.
func modelTokens(model string) chunk.Tokens {
	e, err := newBuiltIn()
	if t, ok := e.(inference.Tokenizer); ok && err == nil && e.Model() == model {
		return t.Pieces
	}
	return nil
}
