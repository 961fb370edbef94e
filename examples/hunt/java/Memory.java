import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;

/**
 * A map under one lock. Mode logged: what is committed is appended to a file, which is read again when the store is opened. Mode stale: a transaction that
 * is announced as one that only reads does without the lock.
 */
public final class Memory implements Hunt.Store {
  private final Map<Long, Long> rows = java.util.Collections.synchronizedMap(new TreeMap<>());
  private final Semaphore lock = new Semaphore(1);
  private final boolean stale;
  private final FileChannel log; // null: none

  public Memory(String directory, String mode) throws IOException {
    stale = mode.equals("stale");
    Path file = Path.of(directory, "log");
    log = mode.equals("logged") ? FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND) : null;
    if (log == null) return;
    for (String line : Files.readAllLines(file)) {
      if (!line.endsWith(";")) continue; // the process was killed while it wrote the line
      for (String change : line.substring(0, line.length() - 1).split(",")) {
        String[] parts = change.split("=");
        if (parts.length == 2) rows.put(Long.valueOf(parts[0]), Long.valueOf(parts[1]));
        else rows.remove(Long.valueOf(parts[0]));
      }
    }
  }

  public String version() {
    return "1";
  }

  public String[] reads() {
    return new String[] {"get", "containsKey"};
  }

  public Hunt.Txn begin(boolean readOnly) throws Exception {
    boolean locks = !readOnly || !stale;
    if (locks) lock.acquire();
    var undo = new HashMap<Long, Long>();
    return new Hunt.Txn() {
      public Long get(int how, long key) {
        return how == 0 || !rows.containsKey(key) ? rows.get(key) : Hunt.PRESENT;
      }

      public void put(int how, long key, long value) {
        remember(key);
        rows.put(key, value);
      }

      public void delete(long key) {
        remember(key);
        rows.remove(key);
      }

      private void remember(long key) {
        if (!undo.containsKey(key)) undo.put(key, rows.get(key)); // null: it was absent, which putIfAbsent would take for unknown
      }

      public void commit() throws IOException {
        try {
          if (log != null && !undo.isEmpty()) write();
        } finally {
          end();
        }
      }

      private void write() throws IOException {
        var changes = new ArrayList<String>();
        for (Long key : undo.keySet()) changes.add(rows.containsKey(key) ? key + "=" + rows.get(key) : key.toString());
        ByteBuffer line = ByteBuffer.wrap(("\n" + String.join(",", changes) + ";\n").getBytes()); // a line of its own, whatever came before
        if (log.write(line) != line.limit()) throw new IOException("a line was not written whole");
      }

      private void end() {
        if (locks) lock.release();
      }

      public void abort() {
        undo.forEach((key, value) -> rows.compute(key, (same, now) -> value));
        end();
      }
    };
  }
}
