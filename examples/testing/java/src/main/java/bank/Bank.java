package bank;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.function.IntPredicate;

/** Accounts in PostgreSQL. Withdrawals must not take more than there is. */
public final class Bank {
  /**
   * At read committed the balance may have changed between SELECT and UPDATE. At repeatable read PostgreSQL refuses such an UPDATE, and the withdrawal
   * is tried again.
   */
  private static final int ISOLATION = Connection.TRANSACTION_READ_COMMITTED;

  private Bank() {}

  public static void withdraw(Connection bank, int account, int amount, IntPredicate approve) throws SQLException {
    bank.setTransactionIsolation(ISOLATION);
    bank.setAutoCommit(false);
    while (true) {
      try {
        once(bank, account, amount, approve);
        return;
      } catch (SQLException refused) {
        bank.rollback();
        if (!"40001".equals(refused.getSQLState())) throw refused;
      }
    }
  }

  private static void once(Connection bank, int account, int amount, IntPredicate approve) throws SQLException {
    try (PreparedStatement read = bank.prepareStatement("SELECT balance FROM accounts WHERE id = ?");
        PreparedStatement write = bank.prepareStatement("UPDATE accounts SET balance = ? WHERE id = ?")) {
      read.setInt(1, account);
      ResultSet rows = read.executeQuery();
      rows.next();
      int balance = rows.getInt(1);
      if (approve.test(balance)) {
        write.setInt(1, balance - amount);
        write.setInt(2, account);
        write.executeUpdate();
      }
    }
    bank.commit();
  }
}
