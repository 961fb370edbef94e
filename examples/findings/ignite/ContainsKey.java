import java.util.List;
import org.apache.ignite.Ignition;
import org.apache.ignite.IgniteCache;
import org.apache.ignite.cache.CacheAtomicityMode;
import org.apache.ignite.configuration.CacheConfiguration;
import org.apache.ignite.configuration.IgniteConfiguration;
import org.apache.ignite.spi.discovery.tcp.TcpDiscoverySpi;
import org.apache.ignite.spi.discovery.tcp.ipfinder.vm.TcpDiscoveryVmIpFinder;
import org.apache.ignite.transactions.TransactionConcurrency;
import org.apache.ignite.transactions.TransactionIsolation;

/** Ignite: two SERIALIZABLE transactions see that a seat is free, and both take it, if they ask by containsKey. */
public class ContainsKey {
  public static void main(String[] args) throws Exception {
    var finder = new TcpDiscoveryVmIpFinder().setAddresses(List.of("127.0.0.1:47500"));
    var ignite = Ignition.start(new IgniteConfiguration().setLocalHost("127.0.0.1").setMetricsLogFrequency(0).setWorkDirectory(args[0])
        .setDiscoverySpi(new TcpDiscoverySpi().setIpFinder(finder)));
    IgniteCache<String, String> cache = ignite.getOrCreateCache(new CacheConfiguration<String, String>("c").setAtomicityMode(CacheAtomicityMode.TRANSACTIONAL));
    for (String method : new String[] {"get", "containsKey"}) {
      String seat = "seat by " + method;
      try (var alice = ignite.transactions().txStart(TransactionConcurrency.OPTIMISTIC, TransactionIsolation.SERIALIZABLE)) {
        boolean free = method.equals("get") ? cache.get(seat) == null : !cache.containsKey(seat);
        var other = new Thread(() -> cache.put(seat, "bob")); // a transaction of its own
        other.start();
        other.join();
        cache.put("list " + method, free ? "alice has " + seat : "");
        alice.commit();
        System.out.println(method + ": committed, though what it read was no longer true: " + cache.get("list " + method) + ", the seat is " + cache.get(seat) + "'s");
      } catch (org.apache.ignite.transactions.TransactionOptimisticException refused) {
        System.out.println(method + ": refused, as promised");
      }
    }
    ignite.close();
  }
}
