import java.sql.*;

/** H2: a key that others inserted and deleted since the snapshot can be inserted; one that was there and was updated cannot. One thread, two connections. */
public final class ForgottenDelete {
  public static void main(String[] args) throws Exception {
    String url = "jdbc:h2:mem:forgotten;LOCK_TIMEOUT=100;OPTIMIZE_REUSE_RESULTS=FALSE";
    try (Connection other = DriverManager.getConnection(url); Connection mine = DriverManager.getConnection(url)) {
      other.createStatement().execute("CREATE TABLE kv (k BIGINT PRIMARY KEY, v BIGINT)");
      mine.setAutoCommit(false);
      int[] isolations = {Connection.TRANSACTION_REPEATABLE_READ, 6, Connection.TRANSACTION_SERIALIZABLE};
      String[] names = {"REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE"};
      for (int i = 0; i < isolations.length; i++) {
        mine.setTransactionIsolation(isolations[i]);
        for (boolean there : new boolean[] {true, false}) {
          other.createStatement().execute("DELETE FROM kv");
          other.createStatement().execute("INSERT INTO kv VALUES (1, 10)");
          if (there) other.createStatement().execute("INSERT INTO kv VALUES (2, 10)");
          long snapshot = read(mine);
          // three transactions, each committed before my transaction goes on
          other.createStatement().execute("UPDATE kv SET v = 20 WHERE k = 1");
          other.createStatement().execute("MERGE INTO kv VALUES (2, 20)");
          if (!there) other.createStatement().execute("DELETE FROM kv WHERE k = 2");
          String outcome = "committed";
          try {
            mine.createStatement().execute("MERGE INTO kv VALUES (2, 30)");
            mine.commit();
          } catch (SQLException refused) {
            outcome = "refused";
            mine.rollback();
          }
          System.out.println(names[i] + (there ? ", key updated" : ", key inserted and deleted") + " since the snapshot (" + snapshot + ", now " + read(other) + "): " + outcome);
        }
      }
    }
  }

  private static long read(Connection connection) throws SQLException {
    try (ResultSet rows = connection.createStatement().executeQuery("SELECT v FROM kv WHERE k = 1")) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
