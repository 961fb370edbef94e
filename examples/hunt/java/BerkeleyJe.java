import com.sleepycat.je.Cursor;
import com.sleepycat.je.CursorConfig;
import com.sleepycat.je.Database;
import com.sleepycat.je.DatabaseConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.Get;
import com.sleepycat.je.LockConflictException;
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationStatus;
import com.sleepycat.je.Put;
import com.sleepycat.je.Transaction;
import com.sleepycat.je.TransactionConfig;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Berkeley DB Java Edition. Modes: serializable, repeatable-read (its default), read-committed. */
public final class BerkeleyJe implements Hunt.Store {
  private final Environment environment;
  private final Database database;
  private final TransactionConfig config = new TransactionConfig();

  public BerkeleyJe(String directory, String mode) {
    var settings = new EnvironmentConfig();
    settings.setAllowCreate(true).setTransactional(true).setTxnSerializableIsolation(mode.equals("serializable"));
    settings.setLockTimeout(20, TimeUnit.MILLISECONDS).setConfigParam(EnvironmentConfig.LOG_FILE_MAX, "100000000");
    settings.setDurability(Hunt.DURABLE ? com.sleepycat.je.Durability.COMMIT_SYNC : com.sleepycat.je.Durability.COMMIT_NO_SYNC);
    environment = new Environment(new File(directory), settings);
    database = environment.openDatabase(null, "hunt", new DatabaseConfig().setAllowCreate(true).setTransactional(true));
    config.setSerializableIsolation(mode.equals("serializable")).setReadCommitted(mode.equals("read-committed"));
  }

  @Override
  public String version() {
    return com.sleepycat.je.JEVersion.CURRENT_VERSION.getNumericVersionString();
  }

  @Override
  public String[] reads() {
    return new String[] {"get", "cursor search", "search range", "both", "for update"};
  }

  @Override
  public String[] writes() {
    return new String[] {"put", "cursor put"};
  }

  @Override
  public String[] ranges() {
    return new String[] {"next", "previous", "keys first"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) {
    Transaction txn = environment.beginTransaction(null, config);
    return new Hunt.Txn() {
      private Cursor open() {
        return database.openCursor(txn, CursorConfig.DEFAULT);
      }

      @Override
      public Long get(int how, long key) throws Exception {
        var value = new DatabaseEntry();
        try {
          if (how == 0) return database.get(txn, entry(key), value, LockMode.DEFAULT) == OperationStatus.SUCCESS ? number(value) : null;
          if (how == 4) return database.get(txn, entry(key), value, LockMode.RMW) == OperationStatus.SUCCESS ? number(value) : null;
          if (how == 3) { // the value, then whether the pair is there
            if (database.get(txn, entry(key), value, LockMode.DEFAULT) != OperationStatus.SUCCESS) return null;
            if (database.getSearchBoth(txn, entry(key), value, LockMode.DEFAULT) != OperationStatus.SUCCESS) throw new IllegalStateException("the pair is not there");
            return number(value);
          }
          try (Cursor cursor = open()) {
            DatabaseEntry at = entry(key);
            if (how == 1) return cursor.get(at, value, Get.SEARCH, null) != null ? number(value) : null;
            return cursor.get(at, value, Get.SEARCH_GTE, null) != null && number(at) == key ? number(value) : null;
          }
        } catch (LockConflictException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void put(int how, long key, long value) throws Exception {
        try {
          if (how == 0) {
            database.put(txn, entry(key), entry(value));
          } else {
            try (Cursor cursor = open()) {
              cursor.put(entry(key), entry(value), Put.OVERWRITE, null);
            }
          }
        } catch (LockConflictException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void delete(long key) throws Exception {
        try {
          database.delete(txn, entry(key));
        } catch (LockConflictException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public List<long[]> range(int how, long low, long high) throws Exception {
        var rows = new ArrayList<long[]>();
        var value = new DatabaseEntry();
        try (Cursor cursor = open()) {
          if (how == 1) { // from the first key beyond the range, or the last of all, backwards
            DatabaseEntry at = entry(high);
            boolean found = cursor.get(at, value, Get.SEARCH_GTE, null) != null;
            if (!found) found = cursor.get(at, value, Get.LAST, null) != null;
            for (; found && number(at) >= low; found = cursor.get(at, value, Get.PREV, null) != null)
              if (number(at) <= high) rows.add(0, new long[] {number(at), number(value)});
            return rows;
          }
          DatabaseEntry at = entry(low);
          for (boolean found = cursor.get(at, value, Get.SEARCH_GTE, null) != null; found && number(at) <= high;
              found = cursor.get(at, value, Get.NEXT, null) != null)
            rows.add(new long[] {number(at), number(value)});
          if (how == 2) // each row again by its key
            for (long[] row : rows) if (!Long.valueOf(row[1]).equals(get(0, row[0]))) throw new IllegalStateException("another value by its key");
          return rows;
        } catch (LockConflictException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void commit() throws Exception {
        try {
          txn.commit();
        } catch (LockConflictException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void abort() {
        txn.abort();
      }
    };
  }

  private static DatabaseEntry entry(long value) {
    return new DatabaseEntry(ByteBuffer.allocate(8).putLong(value).array());
  }

  private static long number(DatabaseEntry entry) {
    return ByteBuffer.wrap(entry.getData()).getLong();
  }
}
