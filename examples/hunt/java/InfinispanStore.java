import jakarta.transaction.RollbackException;
import jakarta.transaction.TransactionManager;
import org.infinispan.AdvancedCache;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.transaction.LockingMode;
import org.infinispan.transaction.TransactionMode;
import org.infinispan.commons.tx.lookup.TransactionManagerLookup;
import org.infinispan.transaction.lookup.EmbeddedTransactionManagerLookup;
import org.infinispan.util.concurrent.IsolationLevel;
import java.util.Set;

/** Infinispan, a local cache. Modes: optimistic, pessimistic; both REPEATABLE_READ. */
public final class InfinispanStore implements Hunt.Store {
  private final AdvancedCache<Long, Long> cache;
  private final TransactionManager transactions;

  public InfinispanStore(String directory, String mode) {
    var manager = new DefaultCacheManager();
    var builder = new ConfigurationBuilder();
    builder.transaction().transactionMode(TransactionMode.TRANSACTIONAL).transactionManagerLookup((TransactionManagerLookup) new EmbeddedTransactionManagerLookup())
        .lockingMode(mode.equals("pessimistic") ? LockingMode.PESSIMISTIC : LockingMode.OPTIMISTIC);
    builder.locking().isolationLevel(IsolationLevel.REPEATABLE_READ).lockAcquisitionTimeout(5);
    manager.defineConfiguration("kv", builder.build());
    cache = manager.<Long, Long>getCache("kv").getAdvancedCache();
    transactions = cache.getTransactionManager();
  }

  @Override
  public String version() {
    return org.infinispan.commons.util.Version.getVersion();
  }

  @Override
  public String[] reads() {
    return new String[] {"get", "containsKey", "getAll", "getCacheEntry"};
  }

  @Override
  public String[] writes() {
    return new String[] {"put", "replace or putIfAbsent"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) throws Exception {
    transactions.begin();
    return new Hunt.Txn() {
      @Override
      public Long get(int how, long key) throws Exception {
        return refusing(() -> {
          if (how == 0) return cache.get(key);
          if (how == 1) return cache.containsKey(key) ? Hunt.PRESENT : null;
          if (how == 2) return cache.getAll(Set.of(key)).get(key);
          var entry = cache.getCacheEntry(key);
          return entry == null ? null : entry.getValue();
        });
      }

      @Override
      public void put(int how, long key, long value) throws Exception {
        refusing(() -> how == 0 ? cache.put(key, value) : cache.replace(key, value) == null ? cache.putIfAbsent(key, value) : null);
      }

      @Override
      public void delete(long key) throws Exception {
        refusing(() -> cache.remove(key));
      }

      @Override
      public void commit() throws Exception {
        try {
          transactions.commit();
        } catch (RollbackException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void abort() throws Exception {
        if (transactions.getTransaction() != null) transactions.rollback();
      }
    };
  }

  private interface Step<T> {
    T run() throws Exception;
  }

  private static <T> T refusing(Step<T> step) throws Exception {
    try {
      return step.run();
    } catch (RuntimeException error) {
      for (Throwable cause = error; cause != null; cause = cause.getCause())
        if (cause.getClass().getSimpleName().equals("TimeoutException")) throw new Hunt.Conflict(error);
      throw error;
    }
  }
}
