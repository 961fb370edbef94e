import java.sql.Connection;
import java.sql.SQLException;

/** H2 on disk. Modes: serializable, repeatable-read, snapshot; with -no-reuse each query is run, where H2 would give the last result again. */
public final class H2 extends Jdbc {
  public H2(String directory, String mode) throws Exception {
    super("jdbc:h2:" + directory + "/hunt;LOCK_TIMEOUT=200" + (Hunt.DURABLE ? ";WRITE_DELAY=0" : "") + (mode.endsWith("-no-reuse") ? ";OPTIMIZE_REUSE_RESULTS=FALSE" : ""), "sa",
        mode.startsWith("serializable") ? Connection.TRANSACTION_SERIALIZABLE : mode.startsWith("snapshot") ? 6 : Connection.TRANSACTION_REPEATABLE_READ, TABLE);
  }

  @Override
  protected boolean isConflict(SQLException error) {
    return super.isConflict(error) || error.getErrorCode() == 90131 || error.getErrorCode() == 50200;
  }

  @Override
  protected String upsert() {
    return "MERGE INTO kv (k, k2, v) KEY (k) VALUES (?, ?, ?)";
  }
}
