import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Records what an application's transactions did and saw, for `assay check`. Copy it into the application.
 *
 * <pre>
 *   var recorder = new Recorder(Path.of("history.jsonl"), 0);   // the value that every key has at the beginning
 *   var session = recorder.session("worker 1");                 // one for each thread or connection
 *
 *   var txn = session.begin();                                  // before the first statement is sent
 *   txn.read("x", value); txn.write("x", 7);                    // after each statement has answered
 *   txn.committing();                                           // before COMMIT is sent
 *   txn.committed();                                            // it was acknowledged
 *   txn.aborted(); txn.unknown();                               // or: the database says it had no effect; nobody knows
 *
 *   session.end();                                              // nothing more of it: whoever watches the file need not wait
 * </pre>
 *
 * Write each value to a key once only, so that a value that is read tells who wrote it. A line with the transaction is on
 * its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is true. Times are
 * nanoseconds of one clock; docs/formats/assay.md has every field. Keys and values are integers, strings, or null.
 */
public final class Recorder implements Closeable {
  private final BufferedWriter file;

  /** Creates the file, which must not exist. */
  public Recorder(Path path, Object initial) throws IOException {
    file = Files.newBufferedWriter(path, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW);
    line("{\"assay\":1,\"initial\":" + json(initial) + "}");
  }

  /** What this key holds before anything is written, if not `initial`. */
  public void holds(Object key, Object value) throws IOException {
    line("{\"key\":" + json(key) + ",\"initial\":" + json(value) + "}");
  }

  public Session session(String name) {
    return new Session(name);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  private synchronized void line(String text) throws IOException {
    file.write(text + "\n");
    file.flush();
  }

  private static String json(Object value) {
    if (value == null || value instanceof Number) return String.valueOf(value);
    if (value instanceof List<?> list) {
      var items = new ArrayList<String>();
      for (Object item : list) items.add(json(item));
      return "[" + String.join(",", items) + "]";
    }
    var out = new StringBuilder("\"");
    for (char c : value.toString().toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  /** Transactions of one session follow one another. */
  public final class Session {
    private final String name;
    private int count = 0;

    private Session(String name) {
      this.name = name;
    }

    public Txn begin() {
      return new Txn(name, name + "-" + ++count);
    }

    public void end() throws IOException {
      line("{\"event\":\"end\",\"session\":" + json(name) + "}");
    }
  }

  public final class Txn {
    private final String session, name;
    private final long begins = System.nanoTime();
    private Long began, ends, ended; // null: not yet
    private final List<Object> ops = new ArrayList<>();

    private Txn(String session, String name) {
      this.session = session;
      this.name = name;
    }

    /** null: there is no such row. */
    public void read(Object key, Object value) {
      op("r", key, value);
    }

    public void write(Object key, Object value) {
      op("w", key, value);
    }

    public void delete(Object key) {
      op("d", key, "deleted " + name + "." + ops.size()); // names this deletion
    }

    public void append(Object key, Object element) {
      op("append", key, element);
    }

    public void readList(Object key, List<?> elements) {
      op("r", key, List.copyOf(elements));
    }

    public void committing() throws IOException {
      ends = System.nanoTime();
      write("pending");
    }

    public void committed() throws IOException {
      end("committed");
    }

    public void aborted() throws IOException {
      end("aborted");
    }

    public void unknown() throws IOException {
      end("unknown");
    }

    private void op(String kind, Object key, Object value) {
      if (began == null) began = System.nanoTime(); // the first statement has answered
      var op = new ArrayList<Object>(List.of(kind, key));
      op.add(value);
      ops.add(op);
    }

    private void end(String status) throws IOException {
      if (ends == null) ends = System.nanoTime();
      if (!status.equals("unknown")) ended = System.nanoTime();
      write(status);
    }

    private void write(String status) throws IOException {
      String end = ends == null ? "" : ",\"end\":[" + ends + "," + ended + "]";
      line("{\"session\":" + json(session) + ",\"txn\":" + json(name) + ",\"status\":\"" + status + "\",\"begin\":["
          + begins + "," + began + "]" + end + ",\"ops\":" + json(ops) + "}");
    }
  }
}
