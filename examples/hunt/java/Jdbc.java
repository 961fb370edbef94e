import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An embedded database behind JDBC, a connection for each thread. A subclass says how it is opened. */
public abstract class Jdbc implements Hunt.Store {
  private final String url;
  private final int isolation;
  private final String[] afterOpening;
  private final ThreadLocal<Session> sessions = new ThreadLocal<>();
  protected final Connection keeper; // an embedded database lives while a connection is open

  protected Jdbc(String url, String user, int isolation, String[] once, String... afterOpening) throws Exception {
    this.url = url;
    this.isolation = isolation;
    this.afterOpening = afterOpening;
    keeper = DriverManager.getConnection(url, user, "");
    try (var statement = keeper.createStatement(); var tables = keeper.getMetaData().getTables(null, null, "KV", null)) {
      if (tables.next()) return; // it is opened again
      for (String sql : once) statement.execute(sql);
    }
  }

  /** Whether the error says that the transaction was refused because of others. */
  protected boolean isConflict(SQLException error) {
    return error.getSQLState() != null && error.getSQLState().startsWith("40") || error.getSQLState() != null && error.getSQLState().equals("HYT00");
  }

  protected String upsert() {
    return null;
  }

  @Override
  public String version() {
    try {
      return keeper.getMetaData().getDatabaseProductVersion().split(" ")[0];
    } catch (SQLException error) {
      return "?";
    }
  }

  @Override
  public String[] reads() {
    return new String[] {"primary key", "count", "secondary index", "between"};
  }

  @Override
  public String[] writes() {
    return new String[] {"update or insert"};
  }

  @Override
  public String[] ranges() {
    return new String[] {"between", "scan", "sum of parts"};
  }

  @Override
  public Hunt.Txn begin(boolean readOnly) throws Exception {
    if (sessions.get() == null) sessions.set(new Session());
    return sessions.get();
  }

  private final class Session implements Hunt.Txn {
    private final Connection connection = DriverManager.getConnection(url, keeper.getMetaData().getUserName(), "");
    private final Map<String, PreparedStatement> statements = new HashMap<>();

    Session() throws SQLException {
      try (var statement = connection.createStatement()) {
        for (String sql : afterOpening) statement.execute(sql);
      }
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(isolation);
      if (connection.getTransactionIsolation() != isolation) throw new SQLException("isolation is " + connection.getTransactionIsolation());
      connection.commit();
    }

    private PreparedStatement prepare(String sql, long... parameters) throws SQLException {
      PreparedStatement statement = statements.get(sql);
      if (statement == null) statements.put(sql, statement = connection.prepareStatement(sql));
      for (int i = 0; i < parameters.length; i++) statement.setLong(i + 1, parameters[i]);
      return statement;
    }

    private int update(String sql, long... parameters) throws Exception {
      try {
        return prepare(sql, parameters).executeUpdate();
      } catch (SQLException error) {
        throw refused(error);
      }
    }

    private List<long[]> query(String sql, long... parameters) throws Exception {
      var rows = new ArrayList<long[]>();
      try (var result = prepare(sql, parameters).executeQuery()) {
        int columns = result.getMetaData().getColumnCount();
        while (result.next()) rows.add(columns == 1 ? new long[] {result.getLong(1)} : new long[] {result.getLong(1), result.getLong(2)});
      } catch (SQLException error) {
        throw refused(error);
      }
      return rows;
    }

    private Exception refused(SQLException error) {
      return isConflict(error) ? new Hunt.Conflict(error) : error;
    }

    @Override
    public Long get(int how, long key) throws Exception {
      if (how == 1) return query("SELECT count(*) FROM kv WHERE k = ?", key).get(0)[0] > 0 ? Hunt.PRESENT : null;
      String where = how == 0 ? "k = ?" : how == 2 ? "k2 = ?" : "k BETWEEN ? AND ?";
      List<long[]> rows = how == 3 ? query("SELECT v FROM kv WHERE " + where, key, key) : query("SELECT v FROM kv WHERE " + where, key);
      if (rows.size() > 1) throw new IllegalStateException("two rows of one key");
      return rows.isEmpty() ? null : rows.get(0)[0];
    }

    @Override
    public void put(int how, long key, long value) throws Exception {
      if (upsert() != null) update(upsert(), key, key, value);
      else if (update("UPDATE kv SET v = ? WHERE k = ?", value, key) == 0) insert(key, value);
    }

    private void insert(long key, long value) throws Exception {
      try {
        update("INSERT INTO kv (k, k2, v) VALUES (?, ?, ?)", key, key, value);
      } catch (SQLException error) {
        if (error.getSQLState().startsWith("23")) throw new Hunt.Conflict(error); // somebody else inserted it since: given up, and undone
        throw error;
      }
    }

    @Override
    public void delete(long key) throws Exception {
      update("DELETE FROM kv WHERE k = ?", key);
    }

    @Override
    public List<long[]> range(int how, long low, long high) throws Exception {
      if (how == 0) return query("SELECT k, v FROM kv WHERE k BETWEEN ? AND ? ORDER BY k", low, high);
      if (how == 1) return query("SELECT k, v FROM kv WHERE k + 0 >= ? AND k + 0 <= ? ORDER BY k", low, high);
      return query("SELECT k2, v FROM kv WHERE k2 >= ? AND k2 <= ? ORDER BY k2", low, high);
    }

    @Override
    public void commit() throws Exception {
      try {
        connection.commit();
      } catch (SQLException error) {
        throw refused(error);
      }
    }

    @Override
    public void abort() throws Exception {
      connection.rollback();
    }
  }

  protected static final String[] TABLE = {"CREATE TABLE kv (k BIGINT PRIMARY KEY, k2 BIGINT, v BIGINT)", "CREATE INDEX by_k2 ON kv (k2)"};
}
