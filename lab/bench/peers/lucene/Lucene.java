import java.io.*;
import java.nio.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.store.*;
import org.apache.lucene.util.Version;

/**
 * Lucene as a peer of sheaf bench: title and text as two fields with positions,
 * any of the words, and the HNSW graph of its float vectors. eval/benchmark/peer.go has the protocol.
 * Its English analyzer leaves stop words out; with -Dwords=all it keeps them, as the other engines do.
 */
public final class Lucene {
  static final int TOP = 10, POOL = 50, PASSES = 3, WARMUP = 3;

  record Asked(String id, String cls, Query words, float[] vector) {}

  interface Ask { String[] of(Asked q) throws IOException; }

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]), index = Path.of(args[2]);
    String task = args[1];
    boolean all = "all".equals(System.getProperty("words")); // vectors alone are the same with all words
    if (!(all ? Set.of("words", "hybrid") : Set.of("words", "vectors", "hybrid")).contains(task)) System.exit(3);
    boolean words = !task.equals("vectors"), vectors = !task.equals("words");
    Map<String, String> meta = object(Files.readString(folder.resolve("meta.json")));
    int dims = Integer.parseInt(meta.get("dims")), clients = Integer.parseInt(meta.get("clients"));
    double seconds = Double.parseDouble(meta.get("seconds"));

    List<Map<String, String>> docs = new ArrayList<>();
    for (String line : Files.readAllLines(folder.resolve("corpus.jsonl"))) docs.add(object(line));
    float[][] rows = vectors ? rows(folder.resolve("vectors.f32"), dims) : null;
    System.gc();
    long before = anonymous();
    long began = System.nanoTime();
    EnglishAnalyzer analyzer = all ? new EnglishAnalyzer(CharArraySet.EMPTY_SET) : new EnglishAnalyzer();
    IndexWriterConfig config = new IndexWriterConfig(analyzer).setRAMBufferSizeMB(256);
    try (Directory dir = FSDirectory.open(index); IndexWriter writer = new IndexWriter(dir, config)) {
      for (int i = 0; i < docs.size(); i++) {
        Document d = new Document();
        d.add(new StoredField("id", docs.get(i).get("id")));
        if (words) {
          d.add(new TextField("title", docs.get(i).get("title"), Field.Store.NO));
          d.add(new TextField("text", docs.get(i).get("text"), Field.Store.NO));
        }
        if (vectors) d.add(new KnnFloatVectorField("vector", rows[i], VectorSimilarityFunction.DOT_PRODUCT));
        writer.addDocument(d);
      }
      writer.forceMerge(1);
      writer.commit();
    }
    double build = (System.nanoTime() - began) / 1e9;
    long peak = anonymous() - before, bytes = size(index);
    docs = null;
    rows = null;
    System.gc();

    began = System.nanoTime();
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(FSDirectory.open(index)));
    double open = (System.nanoTime() - began) / 1e9;
    searcher.setQueryCache(null);
    List<Asked> asked = new ArrayList<>();
    float[][] queryRows = rows(folder.resolve("queryvectors.f32"), dims);
    for (String line : Files.readAllLines(folder.resolve("queries.jsonl"))) {
      Map<String, String> q = object(line);
      BooleanQuery.Builder any = new BooleanQuery.Builder();
      for (String field : new String[] {"title", "text"}) {
        try (var stream = analyzer.tokenStream(field, q.get("text"))) {
          var term = stream.addAttribute(org.apache.lucene.analysis.tokenattributes.CharTermAttribute.class);
          stream.reset();
          while (stream.incrementToken()) any.add(new TermQuery(new Term(field, term.toString())), BooleanClause.Occur.SHOULD);
          stream.end();
        }
      }
      asked.add(new Asked(q.get("id"), q.get("class"), any.build(), queryRows[asked.size()]));
    }
    Ask byWords = q -> ids(searcher, searcher.search(q.words(), task.equals("hybrid") ? POOL : TOP));
    Ask byVector = q -> ids(searcher, searcher.search(new KnnFloatVectorQuery("vector", q.vector(), 100), task.equals("hybrid") ? POOL : TOP));
    Ask ask = task.equals("words") ? byWords : task.equals("vectors") ? byVector : q -> fuse(byWords.of(q), byVector.of(q));

    StringBuilder out = new StringBuilder();
    out.append("{\"version\":\"").append(Version.LATEST).append("\",\"build_seconds\":").append(build).append(",\"open_seconds\":").append(open)
        .append(",\"index_bytes\":").append(bytes).append(",\"peak_bytes\":").append(Math.max(peak, 0)).append(",\"hits\":{");
    boolean comma = false;
    for (String cls : new TreeSet<>(asked.stream().map(Asked::cls).toList())) {
      long start = System.nanoTime();
      for (Asked q : asked) {
        if (!q.cls().equals(cls) || System.nanoTime() - start > WARMUP * seconds * 1e9) continue;
        out.append(comma ? "," : "").append('"').append(q.id()).append("\":[");
        comma = true;
        String[] ids = ask.of(q);
        for (int k = 0; k < ids.length; k++) out.append(k > 0 ? ",\"" : "\"").append(ids[k]).append('"');
        out.append(']');
      }
    }
    long warm = System.nanoTime();
    for (int pass = 0; pass < 2; pass++) // for the compiler
      for (Asked q : asked) if (System.nanoTime() - warm < WARMUP * seconds * 1e9) ask.of(q);
    out.append("},\"classes\":{");
    boolean first = true;
    for (String cls : new TreeSet<>(asked.stream().map(Asked::cls).toList())) {
      List<Asked> mine = asked.stream().filter(q -> q.cls().equals(cls)).toList();
      if (!first) out.append(',');
      first = false;
      measure(out, cls, mine, ask, clients, seconds);
    }
    out.append("},\"search_bytes\":").append(resident()).append("}\n");
    System.out.print(out);
    System.exit(0);
  }

  static void measure(StringBuilder out, String cls, List<Asked> mine, Ask ask, int clients, double seconds) throws Exception {
    double best = 0;
    out.append('"').append(cls).append("\":{\"micros\":[");
    for (int pass = 0; pass < PASSES; pass++) {
      long began = System.nanoTime();
      out.append(pass > 0 ? ",[" : "[");
      int n = 0;
      for (Asked q : mine) {
        long start = System.nanoTime();
        ask.of(q);
        out.append(n++ > 0 ? "," : "").append((System.nanoTime() - start) / 1e3);
        if (System.nanoTime() - began > seconds * 1e9) break;
      }
      out.append(']');
      best = Math.max(best, n / ((System.nanoTime() - began) / 1e9));
    }
    AtomicInteger next = new AtomicInteger();
    ConcurrentLinkedQueue<Double> took = new ConcurrentLinkedQueue<>();
    long began = System.nanoTime();
    List<Thread> threads = new ArrayList<>();
    for (int c = 0; c < Math.max(clients, 1); c++) {
      Thread t = new Thread(() -> {
        int i;
        while ((i = next.getAndIncrement()) < 2 * mine.size() && System.nanoTime() - began < seconds * 1e9) {
          long start = System.nanoTime();
          try {
            ask.of(mine.get(i % mine.size()));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          took.add((System.nanoTime() - start) / 1e3);
        }
      });
      threads.add(t);
      t.start();
    }
    for (Thread t : threads) t.join();
    double qps = took.size() / ((System.nanoTime() - began) / 1e9);
    out.append("],\"qps\":").append(best).append(",\"clients_qps\":").append(qps).append(",\"clients_micros\":").append(took).append('}');
  }

  static String[] ids(IndexSearcher searcher, TopDocs found) throws IOException {
    StoredFields stored = searcher.storedFields();
    String[] ids = new String[found.scoreDocs.length];
    for (int i = 0; i < ids.length; i++) ids[i] = stored.document(found.scoreDocs[i].doc).get("id");
    return ids;
  }

  static String[] fuse(String[]... legs) {
    Map<String, Double> scores = new HashMap<>();
    for (String[] leg : legs) for (int i = 0; i < leg.length; i++) scores.merge(leg[i], 1.0 / (60 + i + 1), Double::sum);
    return scores.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
        .limit(TOP).map(Map.Entry::getKey).toArray(String[]::new);
  }

  static float[][] rows(Path file, int dims) throws IOException {
    FloatBuffer b = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    float[][] rows = new float[b.remaining() / dims][dims];
    for (float[] row : rows) b.get(row);
    return rows;
  }

  static long resident() throws IOException {
    return pages(1);
  }

  /** What of the resident size is no page of a file. */
  static long anonymous() throws IOException {
    return pages(1) - pages(2);
  }

  static long pages(int field) throws IOException {
    return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[field]) * 4096;
  }

  static long size(Path dir) throws IOException {
    long n = 0;
    try (var files = Files.list(dir)) {
      for (Path p : (Iterable<Path>) files::iterator) n += Files.size(p);
    }
    return n;
  }

  /** A flat JSON object; numbers as text. */
  static Map<String, String> object(String json) {
    Map<String, String> out = new HashMap<>();
    int[] at = {json.indexOf('{') + 1};
    while (at[0] < json.length() && json.charAt(at[0]) != '}') {
      String key = string(json, at);
      at[0]++; // the colon
      String value;
      if (json.charAt(at[0]) == '"') {
        value = string(json, at);
      } else {
        int from = at[0];
        while (",}".indexOf(json.charAt(at[0])) < 0) at[0]++;
        value = json.substring(from, at[0]);
      }
      out.put(key, value);
      if (json.charAt(at[0]) == ',') at[0]++;
    }
    return out;
  }

  static String string(String json, int[] at) {
    StringBuilder b = new StringBuilder();
    at[0]++;
    for (; json.charAt(at[0]) != '"'; at[0]++) {
      char c = json.charAt(at[0]);
      if (c != '\\') {
        b.append(c);
        continue;
      }
      c = json.charAt(++at[0]);
      switch (c) {
        case 'n' -> b.append('\n');
        case 't' -> b.append('\t');
        case 'r' -> b.append('\r');
        case 'b' -> b.append('\b');
        case 'f' -> b.append('\f');
        case 'u' -> {
          b.append((char) Integer.parseInt(json.substring(at[0] + 1, at[0] + 5), 16));
          at[0] += 4;
        }
        default -> b.append(c);
      }
    }
    at[0]++;
    return b.toString();
  }
}
