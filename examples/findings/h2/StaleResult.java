import java.sql.*;

/** H2: after a rollback a prepared query gives the result of the transaction that was rolled back. One thread, two connections. */
public final class StaleResult {
  public static void main(String[] args) throws Exception {
    String url = "jdbc:h2:mem:stale" + (args.length > 0 ? ";" + args[0] : "");
    try (Connection writer = DriverManager.getConnection(url); Connection reader = DriverManager.getConnection(url)) {
      writer.createStatement().execute("CREATE TABLE kv (k BIGINT PRIMARY KEY, v BIGINT)");
      int[] isolations = {Connection.TRANSACTION_REPEATABLE_READ, 6, Connection.TRANSACTION_SERIALIZABLE};
      String[] names = {"REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE"};
      for (int i = 0; i < isolations.length; i++) {
        writer.createStatement().execute("MERGE INTO kv VALUES (1, 10)");
        reader.setAutoCommit(false);
        reader.setTransactionIsolation(isolations[i]);
        PreparedStatement query = reader.prepareStatement("SELECT v FROM kv WHERE k = ?");
        reader.createStatement().executeQuery("SELECT count(*) FROM kv"); // here the snapshot is taken
        writer.createStatement().execute("UPDATE kv SET v = 20 WHERE k = 1"); // committed by itself
        long before = read(query); // 10, rightly
        reader.rollback();
        long first = read(query); // a new transaction
        long second = read(reader.prepareStatement("SELECT v FROM kv WHERE k BETWEEN 1 AND ?"));
        System.out.println(names[i] + ": snapshot " + before + "; the next transaction reads " + first + ", then " + second);
        reader.commit();
        query.close();
      }
    }
  }

  private static long read(PreparedStatement query) throws SQLException {
    query.setLong(1, 1);
    try (ResultSet rows = query.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
