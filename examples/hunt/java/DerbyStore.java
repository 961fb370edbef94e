import java.sql.Connection;

/** Derby in memory, or on disk where it must be durable. Modes: serializable, repeatable-read. */
public final class DerbyStore extends Jdbc {
  public DerbyStore(String directory, String mode) throws Exception {
    super("jdbc:derby:" + (Hunt.DURABLE ? "directory:" + directory + "/" : "memory:") + "hunt;create=true", "app",
        mode.equals("serializable") ? Connection.TRANSACTION_SERIALIZABLE : Connection.TRANSACTION_REPEATABLE_READ,
        new String[] {TABLE[0].replace("PRIMARY KEY", "NOT NULL PRIMARY KEY"), TABLE[1],
            "CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.locks.deadlockTimeout', '1')",
            "CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.locks.waitTimeout', '0')"});
  }
}
