import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.FilteringTokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.AbstractTokenFilterFactory;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * The parts of Elasticsearch's module analysis-common that an index of Sheaf's names,
 * and those that the index of its users and keys names, under the names and settings
 * that they have there. The archive for tests lacks that module; Lucene's classes,
 * which do the work there and here, are in it.
 */
public class Terms extends Plugin implements AnalysisPlugin {
	@Override
	public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
		return Map.of("uax_url_email", (index, environment, name, settings) -> TokenizerFactory.newFactory(name, () -> new UAX29URLEmailTokenizer()),
			"char_group", (index, environment, name, settings) -> {
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
		return Map.of("pattern_capture", (index, environment, name, settings) -> new PatternCapture(name, settings),
			"unique", (index, environment, name, settings) -> new Unique(name));
	}

	private static class Unique extends AbstractTokenFilterFactory {
		Unique(String name) {
			super(name);
		}

		@Override
		public TokenStream create(TokenStream tokens) {
			return new FilteringTokenFilter(tokens) {
				private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
				private final Set<String> seen = new HashSet<>();

				@Override
				protected boolean accept() {
					return seen.add(term.toString());
				}

				@Override
				public void reset() throws IOException {
					super.reset();
					seen.clear();
				}
			};
		}
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
