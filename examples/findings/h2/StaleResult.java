import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** H2: a prepared query gives the result of an earlier transaction again. Two connections, one thread, nothing is left to chance. */
public class StaleResult {
  public static void main(String[] args) throws SQLException {
    for (String setting : new String[] {"TRUE", "FALSE"}) {
      String url = "jdbc:h2:mem:" + setting + ";DB_CLOSE_DELAY=-1;OPTIMIZE_REUSE_RESULTS=" + setting;
      Connection writer = DriverManager.getConnection(url, "sa", "");
      writer.createStatement().execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)");
      writer.createStatement().execute("INSERT INTO t VALUES (1, 0)");
      writer.setAutoCommit(false);
      Connection reader = DriverManager.getConnection(url, "sa", "");
      reader.setAutoCommit(false);
      reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      PreparedStatement byKey = reader.prepareStatement("SELECT v FROM t WHERE k = 1");
      PreparedStatement byRange = reader.prepareStatement("SELECT v FROM t WHERE k BETWEEN 1 AND 1");

      System.out.println("OPTIMIZE_REUSE_RESULTS=" + setting + ", isolation " + reader.getTransactionIsolation());
      writer.createStatement().execute("UPDATE t SET v = 1 WHERE k = 1");
      System.out.println("  first transaction, before the update was committed: by key " + read(byKey));
      reader.commit();
      writer.commit();
      System.out.println("  second transaction, begun after that: by key " + read(byKey) + ", by range " + read(byRange) + ", by key " + read(byKey));
      reader.commit();
    }
  }

  private static int read(PreparedStatement query) throws SQLException {
    try (var rows = query.executeQuery()) {
      rows.next();
      return rows.getInt(1);
    }
  }
}
