import java.util.Map;
import java.util.Set;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCache;
import org.apache.ignite.Ignition;
import org.apache.ignite.cache.CacheAtomicityMode;
import org.apache.ignite.cache.CacheEntry;
import org.apache.ignite.configuration.CacheConfiguration;
import org.apache.ignite.configuration.IgniteConfiguration;
import org.apache.ignite.spi.discovery.tcp.TcpDiscoverySpi;
import org.apache.ignite.spi.discovery.tcp.ipfinder.vm.TcpDiscoveryVmIpFinder;
import org.apache.ignite.transactions.Transaction;
import org.apache.ignite.transactions.TransactionConcurrency;
import org.apache.ignite.transactions.TransactionIsolation;

/** Ignite, one node, on loopback. Modes: optimistic, pessimistic (both SERIALIZABLE), pessimistic-rr; with -values reads are get, getEntry and getAll. */
public final class IgniteStore implements Hunt.Store {
  private final Ignite ignite;
  private final IgniteCache<Long, Long> cache;
  private final String mode;

  public IgniteStore(String directory, String mode) {
    this.mode = mode;
    var finder = new TcpDiscoveryVmIpFinder().setAddresses(java.util.List.of("127.0.0.1:47500..47509"));
    ignite = Ignition.start(new IgniteConfiguration().setWorkDirectory(directory).setLocalHost("127.0.0.1").setMetricsLogFrequency(0)
        .setDiscoverySpi(new TcpDiscoverySpi().setIpFinder(finder)));
    cache = ignite.getOrCreateCache(new CacheConfiguration<Long, Long>("kv").setAtomicityMode(CacheAtomicityMode.TRANSACTIONAL));
  }

  @Override
  public String version() {
    return ignite.version().toString().split("#")[0];
  }

  @Override
  public String[] reads() {
    if (mode.endsWith("-values")) return new String[] {"get", "getEntry", "getAll"};
    return new String[] {"get", "getEntry", "getAll", "containsKey", "getEntries"};
  }

  @Override
  public String[] writes() {
    return new String[] {"put", "putAll", "getAndPut", "replace or putIfAbsent"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) {
    Transaction txn = ignite.transactions().txStart(mode.startsWith("optimistic") ? TransactionConcurrency.OPTIMISTIC : TransactionConcurrency.PESSIMISTIC,
        mode.equals("pessimistic-rr") ? TransactionIsolation.REPEATABLE_READ : TransactionIsolation.SERIALIZABLE, 200, 0);
    return new Hunt.Txn() {
      @Override
      public Long get(int how, long key) throws Exception {
        return refusing(() -> {
          switch (how) {
            case 0:
              return cache.get(key);
            case 1:
              CacheEntry<Long, Long> entry = cache.getEntry(key);
              return entry == null ? null : entry.getValue();
            case 2:
              return cache.getAll(Set.of(key)).get(key);
            case 3:
              return cache.containsKey(key) ? Hunt.PRESENT : null;
            default:
              return cache.getEntries(Set.of(key)).stream().findFirst().map(CacheEntry::getValue).orElse(null);
          }
        });
      }

      @Override
      public void put(int how, long key, long value) throws Exception {
        refusing(() -> {
          if (how == 0) cache.put(key, value);
          else if (how == 1) cache.putAll(Map.of(key, value));
          else if (how == 2) cache.getAndPut(key, value);
          else if (!cache.replace(key, value)) cache.putIfAbsent(key, value);
          return null;
        });
      }

      @Override
      public void delete(long key) throws Exception {
        refusing(() -> cache.remove(key));
      }

      @Override
      public void commit() throws Exception {
        refusing(() -> {
          txn.commit();
          return null;
        });
      }

      @Override
      public void abort() {
        txn.close();
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
      for (Throwable cause = error; cause != null; cause = cause.getCause()) {
        String name = cause.getClass().getSimpleName();
        if (name.equals("TransactionOptimisticException") || name.equals("TransactionTimeoutException") || name.equals("TransactionDeadlockException")
            || name.equals("TransactionRollbackException"))
          throw new Hunt.Conflict(error);
      }
      throw error;
    }
  }
}
