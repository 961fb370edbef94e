import java.util.ArrayList;
import java.util.List;
import jetbrains.exodus.ArrayByteIterable;
import jetbrains.exodus.ByteIterable;
import jetbrains.exodus.bindings.LongBinding;
import jetbrains.exodus.env.Cursor;
import jetbrains.exodus.env.Environment;
import jetbrains.exodus.env.EnvironmentConfig;
import jetbrains.exodus.env.Environments;
import jetbrains.exodus.env.Store;
import jetbrains.exodus.env.StoreConfig;
import jetbrains.exodus.env.Transaction;

/** Xodus environments. Modes: prefixing, btree (the two kinds of store). */
public final class XodusStore implements Hunt.Store {
  private final Environment environment;
  private final Store store;

  public XodusStore(String directory, String mode) {
    environment = Environments.newInstance(directory, new EnvironmentConfig().setLogDurableWrite(Hunt.DURABLE));
    StoreConfig config = mode.equals("btree") ? StoreConfig.WITHOUT_DUPLICATES : StoreConfig.WITHOUT_DUPLICATES_WITH_PREFIXING;
    store = environment.computeInTransaction(txn -> environment.openStore("kv", config, txn));
  }

  @Override
  public String version() {
    return "2.0.1";
  }

  @Override
  public String[] reads() {
    return new String[] {"get", "getSearchKey", "getSearchKeyRange", "exists"};
  }

  @Override
  public String[] writes() {
    return new String[] {"put", "delete and add"};
  }

  @Override
  public String[] ranges() {
    return new String[] {"next", "prev"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) {
    Transaction txn = readOnly ? environment.beginReadonlyTransaction() : environment.beginTransaction();
    return new Hunt.Txn() {
      @Override
      public Long get(int how, long key) {
        if (how == 0) return number(store.get(txn, LongBinding.longToEntry(key)));
        if (how == 3) {
          ByteIterable value = store.get(txn, LongBinding.longToEntry(key));
          if (value != null && !store.exists(txn, LongBinding.longToEntry(key), value)) throw new IllegalStateException("the pair is not there");
          return number(value);
        }
        try (Cursor cursor = store.openCursor(txn)) {
          if (how == 1) return number(cursor.getSearchKey(LongBinding.longToEntry(key)));
          ByteIterable value = cursor.getSearchKeyRange(LongBinding.longToEntry(key));
          return value != null && LongBinding.entryToLong(cursor.getKey()) == key ? number(value) : null;
        }
      }

      @Override
      public void put(int how, long key, long value) {
        if (how == 0) {
          store.put(txn, LongBinding.longToEntry(key), LongBinding.longToEntry(value));
          return;
        }
        store.delete(txn, LongBinding.longToEntry(key));
        store.add(txn, LongBinding.longToEntry(key), LongBinding.longToEntry(value));
      }

      @Override
      public void delete(long key) {
        store.delete(txn, LongBinding.longToEntry(key));
      }

      @Override
      public List<long[]> range(int how, long low, long high) {
        var rows = new ArrayList<long[]>();
        try (Cursor cursor = store.openCursor(txn)) {
          if (how == 0) {
            for (boolean on = cursor.getSearchKeyRange(LongBinding.longToEntry(low)) != null; on && LongBinding.entryToLong(cursor.getKey()) <= high;
                on = cursor.getNext())
              rows.add(new long[] {LongBinding.entryToLong(cursor.getKey()), number(cursor.getValue())});
          } else {
            boolean on = cursor.getSearchKeyRange(LongBinding.longToEntry(high)) != null || cursor.getLast();
            for (; on && LongBinding.entryToLong(cursor.getKey()) >= low; on = cursor.getPrev())
              if (LongBinding.entryToLong(cursor.getKey()) <= high) rows.add(0, new long[] {LongBinding.entryToLong(cursor.getKey()), number(cursor.getValue())});
          }
        }
        return rows;
      }

      @Override
      public void commit() throws Exception {
        if (txn.isReadonly()) {
          txn.abort();
        } else if (!txn.commit()) {
          txn.abort();
          throw new Hunt.Conflict(null);
        }
      }

      @Override
      public void abort() {
        if (!txn.isFinished()) txn.abort();
      }
    };
  }

  private static Long number(ByteIterable value) {
    return value == null ? null : LongBinding.entryToLong(new ArrayByteIterable(value));
  }
}
