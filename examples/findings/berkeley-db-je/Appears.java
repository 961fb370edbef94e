import com.sleepycat.je.*;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Berkeley DB JE: with serializable isolation a transaction finds that a key is absent, and then finds it. Others delete and put it. Runs until then. */
public final class Appears {
  public static void main(String[] args) throws Exception {
    var config = new EnvironmentConfig();
    config.setAllowCreate(true).setTransactional(true).setTxnSerializableIsolation(true).setDurability(Durability.COMMIT_NO_SYNC);
    config.setLockTimeout(20, TimeUnit.MILLISECONDS);
    var environment = new Environment(Files.createTempDirectory("je").toFile(), config);
    Database database = environment.openDatabase(null, "hunt", new DatabaseConfig().setAllowCreate(true).setTransactional(true));
    var serializable = new TransactionConfig().setSerializableIsolation(true);
    var committed = new AtomicInteger();
    var key = new DatabaseEntry(new byte[] {1});
    long began = System.nanoTime(), end = began + TimeUnit.SECONDS.toNanos(args.length > 0 ? Integer.parseInt(args[0]) : 60);
    for (int thread = 0; thread < 6; thread++) {
      int number = thread;
      new Thread(() -> {
        for (int i = 0; System.nanoTime() < end; i++) {
          Transaction txn = environment.beginTransaction(null, serializable);
          try {
            var value = new DatabaseEntry();
            boolean there = database.get(txn, key, value, null) == OperationStatus.SUCCESS;
            if (number % 2 == 0) { // a reader
              boolean again = database.get(txn, key, value, null) == OperationStatus.SUCCESS;
              txn.commit();
              if (!there && again) {
                System.out.printf("after %.1f s and %,d transactions: a transaction found no value, then %d, and committed%n", (System.nanoTime() - began) / 1e9,
                    committed.get(), value.getData()[0]);
                System.exit(0);
              }
            } else { // a writer
              if (there) database.delete(txn, key);
              else database.put(txn, key, new DatabaseEntry(new byte[] {(byte) (i % 100)}));
              txn.commit();
            }
            committed.incrementAndGet();
          } catch (LockConflictException refused) {
            txn.abort();
          }
        }
      }).start();
    }
    Thread.sleep(TimeUnit.NANOSECONDS.toMillis(end - began) + 1000);
    System.out.printf("not seen in %,d transactions%n", committed.get());
    System.exit(1);
  }
}
