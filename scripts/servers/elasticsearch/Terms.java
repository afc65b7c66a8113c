import java.util.Map;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.AbstractTokenFilterFactory;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * The two parts of Elasticsearch's module analysis-common that an index of Sheaf's
 * names, under the names and settings that they have there. The archive for tests
 * lacks that module; Lucene's classes, which do the work there and here, are in it.
 */
public class Terms extends Plugin implements AnalysisPlugin {
	@Override
	public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
		return Map.of("char_group", (index, environment, name, settings) -> {
			String separators = String.join("", settings.getAsList("tokenize_on_chars"));
			int longest = settings.getAsInt("max_token_length", CharTokenizer.DEFAULT_MAX_WORD_LEN);
			return TokenizerFactory.newFactory(name, () -> new CharTokenizer(Tokenizer.DEFAULT_TOKEN_ATTRIBUTE_FACTORY, longest) {
				@Override
				protected boolean isTokenChar(int c) {
					return separators.indexOf(c) < 0;
				}
			});
		});
	}

	@Override
	public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
		return Map.of("pattern_capture", (index, environment, name, settings) -> new PatternCapture(name, settings));
	}

	private static class PatternCapture extends AbstractTokenFilterFactory {
		private final boolean original;
		private final Pattern[] patterns;

		PatternCapture(String name, Settings settings) {
			super(name);
			original = settings.getAsBoolean("preserve_original", true);
			patterns = settings.getAsList("patterns").stream().map(Pattern::compile).toArray(Pattern[]::new);
		}

		@Override
		public TokenStream create(TokenStream tokens) {
			return new PatternCaptureGroupTokenFilter(tokens, original, patterns);
		}
	}
}
