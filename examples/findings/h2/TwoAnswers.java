import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;

/** H2: one transaction reads one row twice, by two prepared queries, while another connection updates it. Counts different answers for ten seconds. */
public class TwoAnswers {
  public static void main(String[] args) throws Exception {
    for (String setting : new String[] {"TRUE", "FALSE"}) {
      String url = "jdbc:h2:mem:" + setting + ";DB_CLOSE_DELAY=-1;OPTIMIZE_REUSE_RESULTS=" + setting;
      Connection reader = DriverManager.getConnection(url, "sa", ""), writer = DriverManager.getConnection(url, "sa", "");
      reader.createStatement().execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)");
      reader.createStatement().execute("INSERT INTO t VALUES (1, 0)");
      var stop = new AtomicBoolean();
      var thread = new Thread(() -> write(writer, stop));
      thread.start();
      reader.setAutoCommit(false);
      reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      PreparedStatement byKey = reader.prepareStatement("SELECT v FROM t WHERE k = 1");
      PreparedStatement byRange = reader.prepareStatement("SELECT v FROM t WHERE k BETWEEN 1 AND 1");
      int transactions = 0, different = 0;
      for (long end = System.nanoTime() + 10_000_000_000L; System.nanoTime() < end; transactions++) {
        int one = read(transactions % 2 == 0 ? byKey : byRange), other = read(transactions % 2 == 0 ? byRange : byKey);
        reader.commit();
        if (one != other && different++ == 0) System.out.println("one transaction read v = " + one + ", and then v = " + other);
      }
      stop.set(true);
      thread.join();
      System.out.println("OPTIMIZE_REUSE_RESULTS=" + setting + ", isolation " + reader.getTransactionIsolation() + ": " + different + " of " + transactions
          + " transactions read two values of one row");
    }
  }

  private static void write(Connection writer, AtomicBoolean stop) {
    try (PreparedStatement update = writer.prepareStatement("UPDATE t SET v = v + 1 WHERE k = 1")) {
      while (!stop.get()) {
        update.executeUpdate(); // commits
        Thread.sleep(0, 50_000); // without a pause a result is never given twice
      }
    } catch (SQLException | InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private static int read(PreparedStatement query) throws SQLException {
    try (var rows = query.executeQuery()) {
      rows.next();
      return rows.getInt(1);
    }
  }
}
