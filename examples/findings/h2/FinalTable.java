import java.sql.*;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * H2: at READ COMMITTED an UPDATE within FINAL TABLE changes rows that do not satisfy its condition any more, where it finds them by an index; the UPDATE alone
 * does not. Six threads, each with a connection, close each of 300 rows, which only one can do.
 */
public final class FinalTable {
  private static final int ROWS = 300, THREADS = 6;

  public static void main(String[] args) throws Exception {
    String update = "UPDATE t SET open = 0 WHERE open = 1 AND number = ?";
    String within = "SELECT id FROM FINAL TABLE (" + update + ")";
    for (int round = 0; round < 5; round++) {
      System.out.println("FINAL TABLE with an index: " + changes("indexed" + round, within, true) + " changes of " + ROWS + " rows");
      System.out.println("FINAL TABLE without an index: " + changes("scanned" + round, within, false) + " changes of " + ROWS + " rows");
      System.out.println("UPDATE alone: " + changes("alone" + round, update, true) + " changes of " + ROWS + " rows");
    }
  }

  private static int changes(String name, String sql, boolean index) throws Exception {
    String url = "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1";
    try (Connection c = DriverManager.getConnection(url); Statement s = c.createStatement()) {
      s.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, number BIGINT NOT NULL, open BIGINT NOT NULL)");
      if (index) s.execute("CREATE INDEX i ON t (open, number)");
      for (int i = 1; i <= ROWS; i++) s.execute("INSERT INTO t VALUES (" + i + ", " + i + ", 1)");
    }
    AtomicInteger changed = new AtomicInteger();
    CyclicBarrier together = new CyclicBarrier(THREADS);
    Thread[] threads = new Thread[THREADS];
    for (int n = 0; n < THREADS; n++) {
      threads[n] = new Thread(() -> {
        try (Connection c = DriverManager.getConnection(url); PreparedStatement s = c.prepareStatement(sql)) {
          c.setAutoCommit(false);
          c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
          for (int number = 1; number <= ROWS; number++) {
            if (number % 16 == 0) together.await();
            s.setLong(1, number);
            changed.addAndGet(committed(c, s));
          }
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      });
      threads[n].start();
    }
    for (Thread thread : threads) thread.join();
    return changed.get();
  }

  /** How many rows one transaction changed; none if it was refused. */
  private static int committed(Connection c, PreparedStatement s) throws SQLException {
    try {
      int rows = 0;
      if (s.execute())
        for (ResultSet r = s.getResultSet(); r.next();) rows++;
      else
        rows = s.getUpdateCount();
      c.commit();
      return rows;
    } catch (SQLException refused) {
      c.rollback();
      return 0;
    }
  }
}
