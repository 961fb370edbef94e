import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.UUID;

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
 * Values may repeat, as balances do; where each is written to a key once only, a value that is read always tells who wrote it. A line
 * with the transaction is on its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is
 * true. Times are nanoseconds of one clock; docs/formats/assay.md has every field.
 *
 * <p>Keys and values are integers, strings, null, and what can be told as one of them so that what is equal stays equal: 1.5 and
 * new BigDecimal("1.50") are "1.5", true is 1. No call on a transaction throws: one with anything else is recorded as of unknown
 * outcome, with the reason. A file that cannot be written any more is told by close().
 */
public final class Recorder implements Closeable {
  private final BufferedWriter file;
  private IOException error; // after it nothing is written: a line without its end must be the last

  /** Creates the file, which must not exist. */
  public Recorder(Path path, Object initial) throws IOException {
    file = Files.newBufferedWriter(path, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW);
    line("{\"assay\":1,\"initial\":" + json(told(initial)) + "}");
  }

  /** What this key holds before anything is written, if not `initial`. */
  public void holds(Object key, Object value) throws IOException {
    line("{\"key\":" + json(key) + ",\"initial\":" + json(value) + "}");
  }

  public Session session(String name) {
    return new Session(name);
  }

  @Override
  public synchronized void close() throws IOException {
    if (error != null) throw error;
    file.close();
  }

  private synchronized void line(String text) {
    if (error != null) return;
    try {
      file.write(text + "\n");
      file.flush();
    } catch (IOException e) {
      error = e;
    }
  }

  private static Object told(Object value) {
    if (value == null) return null;
    if (value instanceof Boolean truth) return truth ? 1 : 0;
    if (value instanceof Float || value instanceof Double) {
      if (!Double.isFinite(((Number) value).doubleValue())) return value.toString();
      value = new BigDecimal(value.toString());
    }
    if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) return value;
    if (value instanceof BigInteger whole) value = new BigDecimal(whole);
    if (value instanceof BigDecimal number) {
      var text = number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
      return text.contains(".") || new BigInteger(text).bitLength() > 63 ? text : (Object) Long.valueOf(text);
    }
    if (value instanceof CharSequence || value instanceof Character || value instanceof Enum || value instanceof UUID
        || value instanceof Temporal || value instanceof Date) {
      var text = value.toString();
      if (StandardCharsets.UTF_8.newEncoder().canEncode(text)) return text; // half of a pair is no text
    }
    throw new IllegalArgumentException("a " + value.getClass().getSimpleName() + " cannot be recorded");
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

    public void end() {
      line("{\"event\":\"end\",\"session\":" + json(name) + "}");
    }
  }

  public final class Txn {
    private final String session, name;
    private final long begins = System.nanoTime();
    private Long began, ends, ended; // null: not yet
    private final List<Object> ops = new ArrayList<>();
    private String fault; // what is not recorded

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
      op("r", key, elements);
    }

    public void committing() {
      ends = System.nanoTime();
      write("pending");
    }

    public void committed() {
      end("committed");
    }

    public void aborted() {
      end("aborted");
    }

    public void unknown() {
      end("unknown");
    }

    private void op(String kind, Object key, Object value) {
      if (began == null) began = System.nanoTime(); // the first statement has answered
      try {
        var op = new ArrayList<Object>(List.of(kind, told(key))); // null is no key
        if (value instanceof List<?> list) {
          var elements = new ArrayList<Object>();
          for (Object element : list) elements.add(told(element));
          op.add(elements);
        } else {
          op.add(told(value));
        }
        ops.add(op);
      } catch (RuntimeException e) { // of whatever the application gave us
        if (fault == null) fault = kind + ": " + (e.getMessage() == null ? "null is no key" : e.getMessage());
      }
    }

    private void end(String status) {
      if (status.equals("committed") && fault != null) status = "unknown"; // more than is recorded
      if (ends == null) ends = System.nanoTime();
      if (!status.equals("unknown")) ended = System.nanoTime();
      write(status);
    }

    private void write(String status) {
      String end = ends == null ? "" : ",\"end\":[" + ends + "," + ended + "]";
      if (fault != null) end += ",\"meta\":{\"not_recorded\":" + json(fault) + "}";
      line("{\"session\":" + json(session) + ",\"txn\":" + json(name) + ",\"status\":\"" + status + "\",\"begin\":["
          + begins + "," + began + "]" + end + ",\"ops\":" + json(ops) + "}");
    }
  }
}
