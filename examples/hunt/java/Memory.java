import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;

/** A map under one lock. Mode stale: a transaction that is announced as one that only reads does without the lock. */
public final class Memory implements Hunt.Store {
  private final Map<Long, Long> rows = java.util.Collections.synchronizedMap(new TreeMap<>());
  private final Semaphore lock = new Semaphore(1);
  private final boolean stale;

  public Memory(String directory, String mode) {
    stale = mode.equals("stale");
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
        undo.putIfAbsent(key, rows.get(key));
        rows.put(key, value);
      }

      public void delete(long key) {
        undo.putIfAbsent(key, rows.get(key));
        rows.remove(key);
      }

      public void commit() {
        if (locks) lock.release();
      }

      public void abort() {
        undo.forEach((key, value) -> rows.compute(key, (same, now) -> value));
        commit();
      }
    };
  }
}
