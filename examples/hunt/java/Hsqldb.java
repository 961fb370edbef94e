import java.sql.Connection;

/** HSQLDB in memory. Modes: locks, mvlocks, mvcc (its transaction models), at SERIALIZABLE; mvcc-rr at REPEATABLE READ. */
public final class Hsqldb extends Jdbc {
  public Hsqldb(String directory, String mode) throws Exception {
    super(Hunt.DURABLE ? "jdbc:hsqldb:file:" + directory + "/hunt;hsqldb.write_delay=false" : "jdbc:hsqldb:mem:hunt", "SA", mode.endsWith("-rr") ? Connection.TRANSACTION_REPEATABLE_READ : Connection.TRANSACTION_SERIALIZABLE,
        new String[] {"SET DATABASE TRANSACTION CONTROL " + mode.split("-")[0].toUpperCase(), TABLE[0], TABLE[1]});
  }
}
