import java.sql.Connection;

/** HSQLDB in memory, or on disk where it must be durable. Modes: locks, mvlocks, mvcc (its transaction models), at SERIALIZABLE; mvcc-rr at REPEATABLE READ. */
public final class Hsqldb extends Jdbc {
  public Hsqldb(String directory, String mode) throws Exception {
    super("jdbc:hsqldb:" + (Hunt.DURABLE ? "file:" + directory + "/hunt;hsqldb.write_delay=false;hsqldb.lock_file=false" : "mem:hunt"), "SA", mode.endsWith("-rr") ? Connection.TRANSACTION_REPEATABLE_READ : Connection.TRANSACTION_SERIALIZABLE,
        new String[] {"SET DATABASE TRANSACTION CONTROL " + mode.split("-")[0].toUpperCase(), TABLE[0], TABLE[1]});
  }
}
