import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.mapdb.BTreeMap;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.HTreeMap;
import org.mapdb.TxMaker;
import org.mapdb.TxRollbackException;

/** MapDB 1.0, the last with transactions for several threads (TxMaker), in memory. Modes: tree, hash. */
public final class MapDb implements Hunt.Store {
  private final TxMaker maker;
  private final boolean hash;

  public MapDb(String directory, String mode) {
    hash = mode.equals("hash");
    maker = (Hunt.DURABLE ? DBMaker.newFileDB(new File(directory, "hunt")) : DBMaker.newMemoryDB()).makeTxMaker();
    DB db = maker.makeTx();
    if (db.exists("kv")) {
      // opened after a kill
    } else if (hash) {
      db.createHashMap("kv").make();
    } else {
      db.createTreeMap("kv").make();
    }
    db.commit();
  }

  @Override
  public String version() {
    return "1.0.9";
  }

  @Override
  public String[] reads() {
    return hash ? new String[] {"get", "containsKey"} : new String[] {"get", "containsKey", "ceilingEntry", "floorEntry"};
  }

  @Override
  public String[] writes() {
    return new String[] {"put", "replace or putIfAbsent"};
  }

  @Override
  public String[] ranges() {
    return hash ? new String[0] : new String[] {"subMap", "descendingMap"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) {
    DB db = maker.makeTx();
    HTreeMap<Long, Long> table = hash ? db.getHashMap("kv") : null;
    BTreeMap<Long, Long> tree = hash ? null : db.getTreeMap("kv");
    java.util.concurrent.ConcurrentMap<Long, Long> map = hash ? table : tree;
    return new Hunt.Txn() {
      @Override
      public Long get(int how, long key) {
        if (how == 0) return map.get(key);
        if (how == 1) return map.containsKey(key) ? Hunt.PRESENT : null;
        Map.Entry<Long, Long> entry = how == 2 ? tree.ceilingEntry(key) : tree.floorEntry(key);
        return entry != null && entry.getKey() == key ? entry.getValue() : null;
      }

      @Override
      public void put(int how, long key, long value) {
        if (how == 0) map.put(key, value);
        else if (map.replace(key, value) == null) map.putIfAbsent(key, value);
      }

      @Override
      public void delete(long key) {
        map.remove(key);
      }

      @Override
      public List<long[]> range(int how, long low, long high) {
        var rows = new ArrayList<long[]>();
        if (how == 0) tree.subMap(low, true, high, true).forEach((key, value) -> rows.add(new long[] {key, value}));
        else tree.subMap(low, true, high, true).descendingMap().forEach((key, value) -> rows.add(0, new long[] {key, value}));
        return rows;
      }

      @Override
      public void commit() throws Exception {
        try {
          db.commit();
        } catch (TxRollbackException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void abort() {
        if (!db.isClosed()) db.rollback();
      }
    };
  }
}
