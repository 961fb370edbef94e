import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.OptimisticTransactionDB;
import org.rocksdb.OptimisticTransactionOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Status;
import org.rocksdb.Transaction;
import org.rocksdb.TransactionDB;
import org.rocksdb.TransactionDBOptions;
import org.rocksdb.TransactionOptions;
import org.rocksdb.WriteOptions;

/** RocksDB's transactions. Modes: optimistic, pessimistic, both with a snapshot; optimistic-update, pessimistic-update: reads by getForUpdate. */
public final class RocksDbStore implements Hunt.Store {
  private final OptimisticTransactionDB optimistic;
  private final TransactionDB pessimistic;
  private final boolean update;
  private final WriteOptions writes;

  public RocksDbStore(String directory, String mode) throws RocksDBException {
    RocksDB.loadLibrary();
    writes = new WriteOptions().setSync(Hunt.DURABLE);
    update = mode.endsWith("-update");
    var options = new Options().setCreateIfMissing(true);
    optimistic = mode.startsWith("optimistic") ? OptimisticTransactionDB.open(options, directory) : null;
    pessimistic = optimistic == null ? TransactionDB.open(options, new TransactionDBOptions().setTransactionLockTimeout(50), directory) : null;
  }

  @Override
  public String version() {
    return RocksDB.rocksdbVersion().toString();
  }

  @Override
  public String[] reads() {
    return update ? new String[] {"getForUpdate"} : new String[] {"get", "multiGetAsList", "iterator"};
  }

  @Override
  public String[] writes() {
    return new String[] {"put", "delete and put"};
  }

  @Override
  public String[] ranges() {
    return update ? new String[0] : new String[] {"next", "prev"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) {
    Transaction txn = optimistic != null ? optimistic.beginTransaction(writes, new OptimisticTransactionOptions().setSetSnapshot(true))
        : pessimistic.beginTransaction(writes, new TransactionOptions().setSetSnapshot(true).setDeadlockDetect(true));
    var read = new ReadOptions().setSnapshot(txn.getSnapshot());
    return new Hunt.Txn() {
      @Override
      public Long get(int how, long key) throws Exception {
        try {
          if (update) return number(txn.getForUpdate(read, bytes(key), true));
          if (how == 0) return number(txn.get(read, bytes(key)));
          if (how == 1) return number(txn.multiGetAsList(read, List.of(bytes(key))).get(0));
          try (RocksIterator iterator = txn.getIterator(read)) {
            iterator.seek(bytes(key));
            return iterator.isValid() && number(iterator.key()) == key ? number(iterator.value()) : null;
          }
        } catch (RocksDBException error) {
          throw refused(error);
        }
      }

      @Override
      public void put(int how, long key, long value) throws Exception {
        try {
          if (how == 1) txn.delete(bytes(key));
          txn.put(bytes(key), bytes(value));
        } catch (RocksDBException error) {
          throw refused(error);
        }
      }

      @Override
      public void delete(long key) throws Exception {
        try {
          txn.delete(bytes(key));
        } catch (RocksDBException error) {
          throw refused(error);
        }
      }

      @Override
      public List<long[]> range(int how, long low, long high) {
        var rows = new ArrayList<long[]>();
        try (RocksIterator iterator = txn.getIterator(read)) {
          if (how == 0)
            for (iterator.seek(bytes(low)); iterator.isValid() && number(iterator.key()) <= high; iterator.next())
              rows.add(new long[] {number(iterator.key()), number(iterator.value())});
          else
            for (iterator.seekForPrev(bytes(high)); iterator.isValid() && number(iterator.key()) >= low; iterator.prev())
              rows.add(0, new long[] {number(iterator.key()), number(iterator.value())});
        }
        return rows;
      }

      @Override
      public void commit() throws Exception {
        try {
          txn.commit();
        } catch (RocksDBException error) {
          throw refused(error);
        }
        close();
      }

      @Override
      public void abort() throws Exception {
        txn.rollback();
        close();
      }

      private void close() {
        read.close();
        txn.close();
      }
    };
  }

  private static Exception refused(RocksDBException error) {
    Status.Code code = error.getStatus().getCode();
    return code == Status.Code.Busy || code == Status.Code.TimedOut || code == Status.Code.TryAgain || code == Status.Code.Aborted ? new Hunt.Conflict(error) : error;
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }

  private static Long number(byte[] bytes) {
    return bytes == null ? null : ByteBuffer.wrap(bytes).getLong();
  }
}
