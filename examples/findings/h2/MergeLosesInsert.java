import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** H2: MERGE overwrites a row that was inserted after the snapshot of its transaction, where UPDATE is refused. */
public class MergeLosesInsert {
  public static void main(String[] args) throws SQLException {
    for (String isolation : new String[] {"REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE"}) {
      for (boolean before : new boolean[] {true, false}) {
        String url = "jdbc:h2:mem:" + isolation.replace(' ', '_') + before + ";DB_CLOSE_DELAY=-1";
        Connection one = DriverManager.getConnection(url, "sa", "");
        Connection other = DriverManager.getConnection(url, "sa", "");
        one.createStatement().execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)");
        if (before) one.createStatement().execute("INSERT INTO t VALUES (1, 0)");
        one.setAutoCommit(false);
        one.createStatement().execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + isolation);
        String seen = read(one); // the snapshot
        other.createStatement().execute("MERGE INTO t KEY (k) VALUES (1, 10)"); // commits
        String outcome = "commits";
        try {
          one.createStatement().execute("MERGE INTO t KEY (k) VALUES (1, 1)");
          one.commit();
        } catch (SQLException refused) {
          outcome = "is refused: " + refused.getSQLState() + " " + refused.getErrorCode();
          one.rollback();
        }
        System.out.println(isolation + ": saw " + seen + ", another transaction wrote 10, then its MERGE " + outcome + "; the row is now " + read(other));
      }
    }
  }

  private static String read(Connection connection) throws SQLException {
    try (var rows = connection.createStatement().executeQuery("SELECT v FROM t WHERE k = 1")) {
      return rows.next() ? rows.getString(1) : "no row";
    }
  }
}
