import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.transaction.TransactionContext;
import com.hazelcast.transaction.TransactionException;
import com.hazelcast.transaction.TransactionOptions;
import com.hazelcast.transaction.TransactionalMap;
import java.util.concurrent.TimeUnit;

/** Hazelcast, one member, on loopback. Modes: get, for-update (each read is getForUpdate). */
public final class HazelcastStore implements Hunt.Store {
  private final HazelcastInstance instance;
  private final boolean locks;

  public HazelcastStore(String directory, String mode) {
    locks = mode.equals("for-update");
    var config = new Config();
    config.getNetworkConfig().setPublicAddress("127.0.0.1").getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    config.setProperty("hazelcast.logging.type", "none").setProperty("hazelcast.phone.home.enabled", "false");
    instance = Hazelcast.newHazelcastInstance(config);
  }

  @Override
  public String version() {
    return instance.getCluster().getLocalMember().getVersion().toString();
  }

  @Override
  public String[] reads() {
    return locks ? new String[] {"getForUpdate"} : new String[] {"get", "containsKey"};
  }

  @Override
  public String[] writes() {
    return new String[] {"put", "set"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) {
    TransactionContext context = instance.newTransactionContext(new TransactionOptions().setTimeout(10, TimeUnit.MILLISECONDS)
        .setTransactionType(TransactionOptions.TransactionType.ONE_PHASE));
    context.beginTransaction();
    TransactionalMap<Long, Long> map = context.getMap("kv");
    return new Hunt.Txn() {
      @Override
      public Long get(int how, long key) throws Exception {
        try {
          if (locks) return map.getForUpdate(key);
          return how == 0 ? map.get(key) : map.containsKey(key) ? Hunt.PRESENT : null;
        } catch (TransactionException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void put(int how, long key, long value) throws Exception {
        try {
          if (how == 0) map.put(key, value);
          else map.set(key, value);
        } catch (TransactionException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void delete(long key) throws Exception {
        try {
          map.delete(key);
        } catch (TransactionException conflict) {
          throw new Hunt.Conflict(conflict);
        }
      }

      @Override
      public void commit() {
        context.commitTransaction();
      }

      @Override
      public void abort() {
        context.rollbackTransaction();
      }
    };
  }
}
