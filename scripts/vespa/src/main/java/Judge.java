import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.yahoo.component.Version;
import com.yahoo.component.chain.Chain;
import com.yahoo.config.model.NullConfigModelRegistry;
import com.yahoo.config.model.api.ValidationParameters;
import com.yahoo.config.model.application.provider.ApplicationPackageXmlFilesValidator;
import com.yahoo.config.model.application.provider.FilesApplicationPackage;
import com.yahoo.config.model.deploy.DeployState;
import com.yahoo.container.QrSearchersConfig;
import com.yahoo.document.DocumentPut;
import com.yahoo.document.DocumentTypeManager;
import com.yahoo.document.DocumentUpdate;
import com.yahoo.document.config.DocumentmanagerConfig;
import com.yahoo.document.json.DocumentOperationType;
import com.yahoo.document.json.JsonReader;
import com.yahoo.language.Language;
import com.yahoo.language.Linguistics;
import com.yahoo.language.opennlp.OpenNlpLinguistics;
import com.yahoo.language.process.LinguisticsParameters;
import com.yahoo.language.process.StemMode;
import com.yahoo.language.process.Token;
import com.yahoo.prelude.IndexFacts;
import com.yahoo.prelude.IndexModel;
import com.yahoo.prelude.query.AndItem;
import com.yahoo.prelude.query.BoolItem;
import com.yahoo.prelude.query.CompositeItem;
import com.yahoo.prelude.query.FalseItem;
import com.yahoo.prelude.query.IntItem;
import com.yahoo.prelude.query.Item;
import com.yahoo.prelude.query.Limit;
import com.yahoo.prelude.query.NotItem;
import com.yahoo.prelude.query.OrItem;
import com.yahoo.prelude.query.PrefixItem;
import com.yahoo.prelude.query.RankItem;
import com.yahoo.prelude.query.SameElementItem;
import com.yahoo.prelude.query.StringInItem;
import com.yahoo.prelude.query.TrueItem;
import com.yahoo.prelude.query.WordItem;
import com.yahoo.schema.Schema;
import com.yahoo.schema.document.Attribute;
import com.yahoo.schema.document.ImmutableSDField;
import com.yahoo.search.Query;
import com.yahoo.search.Result;
import com.yahoo.search.config.IndexInfoConfig;
import com.yahoo.search.config.SchemaInfoConfig;
import com.yahoo.search.handler.Body;
import com.yahoo.search.ranking.GlobalPhase;
import com.yahoo.search.schema.SchemaInfo;
import com.yahoo.search.searchchain.Execution;
import com.yahoo.search.yql.MinimalQueryInserter;
import com.yahoo.searchlib.rankingexpression.RankingExpression;
import com.yahoo.searchlib.rankingexpression.evaluation.DoubleValue;
import com.yahoo.searchlib.rankingexpression.evaluation.MapContext;
import com.yahoo.searchlib.rankingexpression.evaluation.Value;
import com.yahoo.searchlib.rankingexpression.rule.CompositeNode;
import com.yahoo.searchlib.rankingexpression.rule.ExpressionNode;
import com.yahoo.searchlib.rankingexpression.rule.ReferenceNode;
import com.yahoo.tensor.Tensor;
import com.yahoo.vespa.config.search.RankProfilesConfig;
import com.yahoo.vespa.model.VespaModel;
import com.yahoo.vespa.model.application.validation.Validation;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Lets Vespa's own classes judge application packages, queries, documents and global phases, without a
 * server. Every line read is a task in JSON, every line written its answer, with "error" when Vespa objects:
 *
 *   {"do": "package", "dir": D}                     loads and validates a folder
 *   {"do": "query", "dir": D, "body": {...}}        reads the body of a query and gives its tree
 *   {"do": "match", "dir": D, "body": {...}, "documents": [{...}]}  which fields of documents meet the tree of a query
 *   {"do": "document", "dir": D, "id": I, "update": false, "body": {...}}  reads a feed operation
 *   {"do": "global", "dir": D, "schema": S, "profile": P, "inputs": {...}, "hits": [{"id", "first", "features"}]}
 *   {"do": "function", "dir": D, "schema": S, "profile": P, "name": F, "values": {...}}  a function of a profile; values
 *       are those of features, such as "attribute(boost)"; an attribute without one is not set
 *   {"do": "tokens", "text": T}                     cuts a text as an index field without stemming does
 */
public final class Judge {
    private static final ObjectMapper json = new ObjectMapper();
    private static final Linguistics linguistics = new OpenNlpLinguistics();
    private static final Map<String, Loaded> packages = new HashMap<>();

    /** A package that Vespa accepts. */
    private record Loaded(VespaModel model, Map<String, RankProfilesConfig> profiles, List<String> log) {}

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what classes print is no answer
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            ObjectNode answer = json.createObjectNode();
            try {
                answer(json.readTree(line), answer);
            } catch (Throwable e) {
                StringBuilder why = new StringBuilder();
                for (Throwable cause = e; cause != null; cause = cause.getCause())
                    why.append(why.isEmpty() ? "" : ": ").append(cause.getMessage() != null ? cause.getMessage() : cause.getClass().getSimpleName());
                answer.removeAll();
                answer.put("error", why.toString());
            }
            out.println(json.writeValueAsString(answer));
            out.flush();
        }
        System.exit(0); // threads of the classes would keep the process
    }

    private static void answer(JsonNode task, ObjectNode answer) throws Exception {
        switch (task.path("do").asText()) {
            case "package" -> {
                var log = answer.putArray("log");
                load(task).log.forEach(log::add);
            }
            case "query" -> query(load(task), json.writeValueAsBytes(task.get("body")), answer);
            case "match" -> match(load(task), task, answer);
            case "document" -> document(load(task), task, answer);
            case "global" -> global(load(task), task, answer);
            case "function" -> answer.put("value", function(load(task), task));
            case "tokens" -> {
                var tokens = answer.putArray("tokens");
                for (Token t : linguistics.getTokenizer().tokenize(task.get("text").asText(), new LinguisticsParameters(Language.ENGLISH, StemMode.NONE, false, true)))
                    if (t.isIndexable()) tokens.add(t.getTokenString());
            }
            default -> throw new IllegalArgumentException("unknown task");
        }
    }

    private static Loaded load(JsonNode task) throws Exception {
        String dir = task.get("dir").asText();
        Loaded known = packages.get(dir);
        if (known != null) return known;
        List<String> log = new ArrayList<>();
        var app = FilesApplicationPackage.fromDir(new File(dir), Map.of());
        app.validateFileExtensions();
        var xml = ApplicationPackageXmlFilesValidator.create(new File(dir), new Version(8));
        xml.checkApplication();
        xml.checkIncludedDirs(app);
        DeployState state = new DeployState.Builder().applicationPackage(app).deployLogger((level, message) -> log.add(level + ": " + message)).build();
        VespaModel model = new VespaModel(new NullConfigModelRegistry(), state);
        new Validation().validate(model, new ValidationParameters(ValidationParameters.CheckRouting.FALSE), state);
        Map<String, RankProfilesConfig> profiles = new HashMap<>();
        Set<String> wrong = new TreeSet<>();
        for (Schema schema : state.getSchemas()) {
            for (String id : model.allConfigIds()) {
                if (!id.matches("[^/]+/search/cluster\\.[^/]+/" + schema.getName())) continue;
                profiles.put(schema.getName(), model.getConfig(RankProfilesConfig.class, id));
                references(profiles.get(schema.getName()), schema, wrong);
            }
        }
        if (!wrong.isEmpty()) throw new IllegalArgumentException(String.join("; ", wrong));
        Loaded loaded = new Loaded(model, profiles, log);
        packages.put(dir, loaded);
        return loaded;
    }

    private static void query(Loaded app, byte[] body, ObjectNode answer) {
        Query query = parse(app, body);
        answer.put("tree", query.getModel().getQueryTree().toString());
        answer.put("structure", structure(query.getModel().getQueryTree().getRoot()));
        answer.put("hits", query.getHits());
        answer.put("profile", query.getRanking().getProfile());
        var inputs = answer.putObject("inputs");
        query.getRanking().getFeatures().asMap().forEach((name, value) -> inputs.put(name, value.toString()));
    }

    /** The query of a body, as the container reads it before it goes to the content. */
    private static Query parse(Loaded app, byte[] body) {
        QrSearchersConfig searchers = app.model.getConfig(QrSearchersConfig.class, "default");
        IndexFacts facts = new IndexFacts(new IndexModel(app.model.getConfig(IndexInfoConfig.class, "default"), searchers));
        SchemaInfo schemas = new SchemaInfo(app.model.getConfig(SchemaInfoConfig.class, "default"), searchers);
        Query query = new Query.Builder().setRequestMap(Body.parameters(body)).setSchemaInfo(schemas).build();
        Execution.Context context = Execution.Context.createContextStub(null, facts, schemas, linguistics);
        Result result = new Execution(new Chain<>(new MinimalQueryInserter(linguistics)), context).search(query);
        if (result.hits().getError() != null) throw new IllegalArgumentException(result.hits().getError().toString());
        for (String source : query.getModel().getSources()) {
            var schema = schemas.schemas().get(source);
            if (schema == null) throw new IllegalArgumentException("no schema " + source);
            if (!schema.rankProfiles().containsKey(query.getRanking().getProfile())) throw new IllegalArgumentException("no rank profile " + query.getRanking().getProfile());
            String summary = query.getPresentation().getSummary();
            if (summary != null && !schema.documentSummaries().containsKey(summary)) throw new IllegalArgumentException("no document summary " + summary);
        }
        return query;
    }

    private static void match(Loaded app, JsonNode task, ObjectNode answer) throws Exception {
        Item root = parse(app, json.writeValueAsBytes(task.get("body"))).getModel().getQueryTree().getRoot();
        var found = answer.putArray("found");
        for (JsonNode document : task.get("documents")) found.add(matches(root, document));
    }

    /**
     * Whether a document meets a tree, by what Vespa's documentation says of the operators: this is no code of
     * Vespa's, whose matching is in C++.
     */
    private static boolean matches(Item item, JsonNode document) {
        if (item instanceof TrueItem) return true;
        if (item instanceof FalseItem) return false;
        if (item instanceof RankItem rank) return matches(rank.getItem(0), document);
        if (item instanceof NotItem not) {
            for (int i = 1; i < not.getItemCount(); i++) if (matches(not.getItem(i), document)) return false;
            return matches(not.getPositiveItem(), document);
        }
        if (item instanceof SameElementItem same) {
            for (JsonNode element : document.path(same.getFieldName())) {
                boolean all = true;
                for (int i = 0; i < same.getItemCount(); i++) all &= matches(same.getItem(i), element);
                if (all) return true;
            }
            return false;
        }
        if (item instanceof AndItem || item instanceof OrItem) {
            CompositeItem list = (CompositeItem) item;
            boolean all = true, any = false;
            for (int i = 0; i < list.getItemCount(); i++) {
                boolean one = matches(list.getItem(i), document);
                all &= one;
                any |= one;
            }
            return item instanceof AndItem ? all : any;
        }
        if (item instanceof StringInItem in) return words(document.path(in.getIndexName())).stream().anyMatch(in.getTokens()::contains);
        if (item instanceof PrefixItem prefix) return words(document.path(prefix.getIndexName())).stream().anyMatch(w -> w.startsWith(prefix.getWord()));
        if (item instanceof BoolItem bool) return document.path(bool.getIndexName()).asBoolean() == bool.value();
        if (item instanceof IntItem number) {
            JsonNode value = document.path(number.getIndexName());
            return value.isNumber() && within(value.longValue(), number.getFromLimit(), 1) && within(value.longValue(), number.getToLimit(), -1);
        }
        if (item instanceof WordItem word) return words(document.path(word.getIndexName())).contains(word.getWord());
        throw new IllegalArgumentException("an operator that this check does not know: " + item.getClass().getSimpleName());
    }

    private static boolean within(long value, Limit limit, int sign) {
        if (limit.isInfinite()) return true;
        int order = sign * new BigDecimal(value).compareTo(new BigDecimal(limit.number().toString()));
        return order > 0 || order == 0 && limit.isInclusive();
    }

    /** What a field holds: the keys of a weighted set, the entries of an array, the words of a text. */
    private static Set<String> words(JsonNode field) {
        Set<String> words = new HashSet<>();
        if (field.isObject()) field.fieldNames().forEachRemaining(words::add);
        else if (field.isArray()) field.forEach(w -> words.add(w.asText()));
        else words.addAll(List.of(field.asText().split(" ")));
        return words;
    }

    /** The operators of a tree without what stands in their leaves. */
    private static String structure(Item item) {
        String name = item.getClass().getSimpleName();
        if (!(item instanceof CompositeItem all) || all.getItemCount() == 0) return name;
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < all.getItemCount(); i++) parts.add(structure(all.getItem(i)));
        return name + "(" + String.join(" ", parts) + ")";
    }

    private static void document(Loaded app, JsonNode task, ObjectNode answer) throws Exception {
        var types = new DocumentTypeManager(app.model.getConfig(DocumentmanagerConfig.class, "client"));
        boolean update = task.path("update").asBoolean();
        var reader = new JsonReader(types, new ByteArrayInputStream(json.writeValueAsBytes(task.get("body"))), new JsonFactory());
        var parsed = reader.readSingleDocumentStreaming(update ? DocumentOperationType.UPDATE : DocumentOperationType.PUT, task.get("id").asText());
        if (update) {
            answer.put("fields", ((DocumentUpdate) parsed.operation()).fieldUpdates().size());
            return;
        }
        var fields = answer.putObject("fields");
        ((DocumentPut) parsed.operation()).getDocument().iterator().forEachRemaining(e -> fields.put(e.getKey().getName(), String.valueOf(e.getValue())));
    }

    private static void global(Loaded app, JsonNode task, ObjectNode answer) {
        Map<String, Tensor> inputs = new HashMap<>();
        task.get("inputs").fields().forEachRemaining(e -> inputs.put("query(" + e.getKey() + ")", Tensor.from(e.getValue().asDouble())));
        List<GlobalPhase.Input> hits = new ArrayList<>();
        for (JsonNode hit : task.get("hits")) {
            Map<String, Double> features = new HashMap<>();
            hit.get("features").fields().forEachRemaining(e -> features.put(e.getKey(), e.getValue().asDouble()));
            hits.add(new GlobalPhase.Input(hit.get("id").asText(), hit.get("first").asDouble(), features));
        }
        var order = answer.putArray("order");
        var scores = answer.putObject("scores");
        GlobalPhase.scores(app.profiles.get(task.get("schema").asText()), task.get("profile").asText(), inputs, hits).forEach((id, score) -> {
            order.add(id);
            scores.put(id, score);
        });
    }

    private static double function(Loaded app, JsonNode task) throws Exception {
        Map<String, String> scripts = new HashMap<>();
        for (var profile : app.profiles.get(task.get("schema").asText()).rankprofile()) {
            if (!profile.name().equals(task.get("profile").asText())) continue;
            for (var property : profile.fef().property())
                if (property.name().endsWith(".rankingScript")) scripts.put(property.name().substring(0, property.name().length() - ".rankingScript".length()), property.value());
        }
        MapContext values = new MapContext() {
            @Override public Value get(String name) { // the class itself takes what it does not know for 0
                try {
                    if (scripts.containsKey(name)) return new RankingExpression(scripts.get(name)).evaluate(this);
                } catch (Exception e) {
                    throw new IllegalArgumentException(name, e);
                }
                JsonNode value = task.get("values").get(name);
                if (value != null && !value.isNull()) return new DoubleValue(value.asDouble());
                if (name.startsWith("attribute(")) return new DoubleValue(Double.NaN);
                throw new IllegalArgumentException("no value of " + name);
            }
        };
        return values.get("rankingExpression(" + task.get("name").asText() + ")").asDouble();
    }

    /**
     * What the program vespa-verify-ranksetup of a server would object to and the classes do not: features of
     * fields that are not there or cannot have them, and names that nobody defines.
     */
    private static void references(RankProfilesConfig config, Schema schema, Set<String> wrong) throws Exception {
        for (var profile : config.rankprofile()) {
            Set<String> functions = new HashSet<>();
            List<String> expressions = new ArrayList<>();
            for (var property : profile.fef().property()) {
                if (property.name().endsWith(").rankingScript")) {
                    functions.add(property.name().substring("rankingExpression(".length(), property.name().length() - ").rankingScript".length()));
                    expressions.add(property.value());
                } else if (property.name().matches("vespa\\.(rank\\..*phase|match\\.feature|summary\\.feature)")) {
                    expressions.add(property.value());
                }
            }
            for (var normalizer : profile.normalizer()) {
                if (!functions.contains(normalizer.input())) expressions.add(normalizer.input());
            }
            for (String text : expressions) {
                List<ReferenceNode> found = new ArrayList<>();
                collect(new RankingExpression(text).getRoot(), found);
                for (ReferenceNode r : found) {
                    String why = objection(r, functions, schema);
                    if (why != null) wrong.add("profile " + profile.name() + ": " + r + ": " + why);
                }
            }
        }
    }

    private static void collect(ExpressionNode node, List<ReferenceNode> found) {
        if (node instanceof ReferenceNode r) found.add(r);
        else if (node instanceof CompositeNode all) all.children().forEach(child -> collect(child, found));
    }

    private static String objection(ReferenceNode r, Set<String> functions, Schema schema) {
        var arguments = r.getArguments().expressions();
        if (arguments.isEmpty()) return r.getName().startsWith("normalize@") || Set.of("now", "random").contains(r.getName()) ? null : "nobody defines it";
        String first = arguments.get(0).toString(), last = arguments.get(arguments.size() - 1).toString();
        Attribute attribute = attribute(schema, last);
        return switch (r.getName()) {
            case "query", "value" -> null; // strict profiles refuse those that are no inputs
            case "rankingExpression" -> functions.contains(first) ? null : "no such function";
            case "attribute" -> attribute == null ? "no attribute" : attribute.getCollectionType() != Attribute.CollectionType.SINGLE ? "several values" : null;
            case "bm25" -> schema.getIndex(first) != null && schema.getIndex(first).useInterleavedFeatures() ? null : "no index with enable-bm25";
            case "closeness", "distance", "closest" -> attribute != null && attribute.tensorType().isPresent() ? null : "no tensor attribute";
            default -> "a feature that this check does not know";
        };
    }

    private static Attribute attribute(Schema schema, String name) {
        ImmutableSDField field = schema.getConcreteField(name);
        return field == null ? null : field.getAttributes().get(name);
    }

    private Judge() {}
}
