import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** HSQLDB in the model MVCC: two transactions at SERIALIZABLE each read what the other writes. */
public class WriteSkew {
  public static void main(String[] args) throws SQLException {
    try (Connection one = open(); Connection other = open()) {
      one.createStatement().execute("SET DATABASE TRANSACTION CONTROL MVCC");
      one.createStatement().execute("CREATE TABLE doctors (name VARCHAR(9) PRIMARY KEY, on_call BOOLEAN)");
      one.createStatement().execute("INSERT INTO doctors VALUES ('alice', TRUE), ('bob', TRUE)");
      for (Connection connection : new Connection[] {one, other}) {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      }
      System.out.println("isolation " + one.getTransactionIsolation() + " and " + other.getTransactionIsolation() + " (8 is SERIALIZABLE)");
      System.out.println("on call, as alice sees it: " + count(one) + ", as bob sees it: " + count(other));
      one.createStatement().execute("UPDATE doctors SET on_call = FALSE WHERE name = 'alice'");
      other.createStatement().execute("UPDATE doctors SET on_call = FALSE WHERE name = 'bob'");
      one.commit();
      other.commit();
      System.out.println("both committed; on call now: " + count(one));
    }
  }

  private static Connection open() throws SQLException {
    return DriverManager.getConnection("jdbc:hsqldb:mem:doctors", "SA", "");
  }

  private static int count(Connection connection) throws SQLException {
    try (var rows = connection.createStatement().executeQuery("SELECT count(*) FROM doctors WHERE on_call")) {
      rows.next();
      return rows.getInt(1);
    }
  }
}
