import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;

/**
 * Runs plans of transactions against a store in this process, a thread for each session, and writes histories of assay.
 * `java Hunt CLASS DIRECTORY MODE`, then a line `PLAN HISTORY` of standard input for each plan (dev/hunt.d/plans.py).
 *
 * <p>Where HUNT_DURABLE is set, what is committed must survive kill -9, and each line of the history is written at once: what is to be
 * committed before the commit, as pending.
 */
public final class Hunt {
  /** What a store is; the class has a constructor of its directory and its mode. */
  public interface Store {
    String version();

    /** The ways to read a key, to write one, and to read a range (none: it has no ranges). */
    String[] reads();

    default String[] writes() {
      return new String[] {"put"};
    }

    default String[] ranges() {
      return new String[0];
    }

    /** Begins a transaction in the calling thread. */
    Txn begin(boolean readOnly) throws Exception;

    default void close() throws Exception {}
  }

  public interface Txn {
    /** null if absent, PRESENT if this way tells only that it is there. */
    Long get(int how, long key) throws Exception;

    void put(int how, long key, long value) throws Exception;

    void delete(long key) throws Exception;

    /** Rows of key and value, in order, both ends included. */
    default List<long[]> range(int how, long low, long high) throws Exception {
      throw new UnsupportedOperationException();
    }

    void commit() throws Exception;

    void abort() throws Exception;
  }

  public static final Long PRESENT = Long.MIN_VALUE;
  public static final boolean DURABLE = System.getenv("HUNT_DURABLE") != null;

  /** The store refused, and nothing of the transaction remains. */
  public static final class Conflict extends Exception {
    public Conflict(Throwable cause) {
      super(cause);
    }
  }

  /** Where the lines of a session go. */
  private interface Teller {
    void tell(String line) throws IOException;
  }

  private record Plan(boolean readOnly, String[][] ops, boolean commits) {}

  public static void main(String[] args) throws Exception {
    var store = (Store) Class.forName(args[0]).getConstructor(String.class, String.class).newInstance(args[1], args.length > 2 ? args[2] : "");
    System.out.println("{\"version\":\"" + store.version() + "\",\"reads\":" + names(store.reads()) + ",\"writes\":" + names(store.writes())
        + ",\"ranges\":" + names(store.ranges()) + "}");
    var input = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = input.readLine()) != null;) System.out.println(runPlan(store, Path.of(line.split(" ")[0]), Path.of(line.split(" ")[1])));
    store.close();
    System.exit(0);
  }

  private static String names(String[] names) {
    return names.length == 0 ? "[]" : "[\"" + String.join("\",\"", names) + "\"]";
  }

  private static String runPlan(Store store, Path plan, Path history) throws Exception {
    Map<String, List<Plan>> sessions = new LinkedHashMap<>();
    for (String line : Files.readAllLines(plan)) {
      String[] words = line.split(" ");
      var ops = new String[words.length - 3][];
      for (int i = 0; i < ops.length; i++) ops[i] = words[i + 2].split(":");
      sessions.computeIfAbsent(words[0], x -> new ArrayList<>()).add(new Plan(words[1].equals("q"), ops, words[words.length - 1].equals("c")));
    }
    var errors = new ConcurrentHashMap<String, Integer>();
    var barrier = new CyclicBarrier(sessions.size());
    var outs = new ArrayList<StringBuilder>();
    var threads = new ArrayList<Thread>();
    var counts = new ConcurrentHashMap<String, Integer>();
    Files.writeString(history, "{\"assay\":1}\n");
    try (FileChannel atOnce = FileChannel.open(history, StandardOpenOption.APPEND)) {
      sessions.forEach((name, plans) -> {
        var out = new StringBuilder();
        outs.add(out);
        Teller teller = DURABLE ? line -> write(atOnce, line) : out::append;
        threads.add(new Thread(() -> runSession(store, name, plans, barrier, teller, counts, errors)));
      });
      for (Thread thread : threads) thread.start();
      for (Thread thread : threads) thread.join();
    }
    try (BufferedWriter file = Files.newBufferedWriter(history, StandardOpenOption.APPEND)) {
      for (StringBuilder out : outs) file.append(out);
    }
    var answer = new StringBuilder("{");
    counts.forEach((status, count) -> answer.append('"').append(status).append("\":").append(count).append(','));
    answer.append("\"errors\":{");
    String comma = "";
    for (var error : errors.entrySet()) {
      String text = error.getKey().replaceAll("[^ -~]|[\"\\\\]", "'");
      answer.append(comma).append('"').append(text, 0, Math.min(200, text.length())).append("\":").append(error.getValue());
      comma = ",";
    }
    return answer.append("}}").toString();
  }

  private static void write(FileChannel file, String line) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
    if (file.write(bytes) != bytes.limit()) throw new IOException("a line was not written whole");
  }

  private static void runSession(Store store, String name, List<Plan> plans, CyclicBarrier barrier, Teller teller, Map<String, Integer> counts,
      Map<String, Integer> errors) {
    try {
      barrier.await();
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
    int number = 0;
    for (Plan plan : plans) {
      String status = "aborted";
      Txn txn = null;
      var done = new StringBuilder();
      long begin = System.nanoTime(), first = 0, asked = 0;
      try {
        txn = store.begin(plan.readOnly);
        for (String[] op : plan.ops) {
          int how = Integer.parseInt(op[1]);
          if (op[0].equals("z")) {
            if (how == 0) Thread.yield();
            else Thread.sleep(0, how * 1000);
            continue;
          }
          run(txn, op[0], how, Long.parseLong(op[2]), op.length > 3 ? Long.parseLong(op[3]) : 0, done);
          if (first == 0) first = System.nanoTime();
        }
        if (DURABLE && plan.commits)
          teller.tell(line(name, number, "pending", begin, first > 0 ? first : System.nanoTime(), "", done));
        asked = System.nanoTime();
        if (plan.commits) {
          txn.commit();
          status = "committed";
        } else {
          txn.abort();
        }
      } catch (Conflict conflict) {
        abort(txn);
      } catch (Throwable error) {
        errors.merge(String.valueOf(error), 1, Integer::sum);
        status = asked > 0 && plan.commits ? "unknown" : "aborted";
        abort(txn);
      }
      long ended = System.nanoTime();
      String end = ",\"end\":[" + (asked > 0 ? asked : ended) + ',' + (status.equals("unknown") ? "null" : "" + ended) + ']';
      try {
        teller.tell(line(name, number++, status, begin, first > 0 ? first : ended, end, done));
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
      counts.merge(status, 1, Integer::sum);
    }
  }

  private static String line(String session, int number, String status, long begin, long first, String end, StringBuilder done) {
    return "{\"session\":" + session + ",\"txn\":\"" + session + '-' + number + "\",\"status\":\"" + status + "\",\"begin\":[" + begin + ',' + first + ']'
        + end + ",\"ops\":[" + (done.length() > 0 ? done.substring(1) : "") + "]}\n";
  }

  private static void run(Txn txn, String what, int how, long key, long value, StringBuilder done) throws Exception {
    switch (what) {
      case "r", "d" -> {
        Long seen = txn.get(how, key);
        if (PRESENT.equals(seen)) done.append(",[\"insert\",").append(key).append(",0,false]");
        else done.append(",[\"r\",").append(key).append(',').append(seen).append(']');
        if (what.equals("d") && seen != null) {
          txn.delete(key);
          done.append(",[\"d\",").append(key).append(',').append(value).append(']');
        }
      }
      case "w" -> {
        txn.put(how, key, value);
        done.append(",[\"w\",").append(key).append(',').append(value).append(']');
      }
      default -> { // "s"
        var rows = new StringBuilder();
        for (long[] row : txn.range(how, key, value)) rows.append(",[").append(row[0]).append(',').append(row[1]).append(']');
        done.append(",[\"range\",").append(key).append(',').append(value).append(",[").append(rows.length() > 0 ? rows.substring(1) : "").append("]]");
      }
    }
  }

  private static void abort(Txn txn) {
    try {
      if (txn != null) txn.abort();
    } catch (Throwable error) {
      // it was over already
    }
  }
}
