import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.regex.Pattern;

/** Sessions on SQLite, recorded; SQLite is behind examples/drivers/sqlite.py: Demo RECORDERS DATABASE HISTORY */
final class Demo {
  private static final Pattern VALUE = Pattern.compile("\"value\": *(null|\\d+)");

  private static final class Connection {
    private final Writer in;
    private final BufferedReader out;

    Connection(String recorders, String database) throws IOException {
      Process driver = new ProcessBuilder("python3", recorders + "/../drivers/sqlite.py", database).start();
      in = driver.outputWriter();
      out = driver.inputReader();
    }

    String ask(String message) throws IOException {
      in.write(message + "\n");
      in.flush();
      return out.readLine();
    }

    void hello(int timeout) throws IOException {
      ask("{\"do\":\"hello\",\"protocol\":1,\"isolation\":\"\",\"timeout_ms\":" + timeout + ",\"run\":1}");
    }
  }

  private static boolean ok(String reply) {
    return reply.contains("\"ok\": true");
  }

  private static Object value(String reply) {
    var found = VALUE.matcher(reply);
    if (!found.find() || found.group(1).equals("null")) return null;
    return Long.valueOf(found.group(1));
  }

  private static void work(Recorder recorder, int number, Connection db) throws IOException {
    var session = recorder.session("s" + number);
    db.hello(50);
    for (int i = 0; i < 30; ++i) {
      var txn = session.begin();
      int a = (i * 7 + number) % 5, b = (a + 1 + i % 4) % 5, written = 1000 * number + i + 1;
      String reply = db.ask("{\"do\":\"begin\"}");
      for (String key : new String[] {"x" + a, "x" + b}) {
        if (ok(reply)) reply = db.ask("{\"do\":\"op\",\"op\":[\"r\",\"" + key + "\"]}");
        if (ok(reply)) txn.read(key, value(reply));
      }
      if (ok(reply)) reply = db.ask("{\"do\":\"op\",\"op\":[\"w\",\"x" + b + "\"," + written + "]}");
      if (ok(reply)) {
        txn.write("x" + b, written);
        txn.committing();
        reply = db.ask("{\"do\":\"commit\"}");
      }
      if (ok(reply)) txn.committed();
      else if (reply.contains("\"aborted\"")) txn.aborted();
      else txn.unknown();
    }
    session.end();
  }

  public static void main(String[] arguments) throws Exception {
    String recorders = arguments[0], database = arguments[1];
    try (var recorder = new Recorder(Path.of(arguments[2]), null)) {
      var first = new Connection(recorders, database);
      first.hello(5000);
      first.ask("{\"do\":\"prepare\"}");
      var threads = new ArrayList<Thread>();
      for (int n = 0; n < 4; ++n) {
        int number = n;
        var thread = new Thread(() -> {
          try {
            work(recorder, number, new Connection(recorders, database));
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) thread.join();
      // What is no integer and no string: told as one, or the transaction as of unknown outcome.
      var odd = recorder.session("odd");
      var big = java.math.BigInteger.TWO.pow(70);
      for (Object[] values : new Object[][] {{true, new java.math.BigDecimal("1.50"), 1.5, 2.0, big}, {new Object(), 1}}) {
        var txn = odd.begin();
        for (int key = 0; key < values.length; ++key) txn.write(key, values[key]);
        txn.committing();
        txn.committed();
      }
      odd.end();
    }
    System.exit(0);
  }
}
