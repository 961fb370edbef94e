package bank;

import assay.Recorded;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class BankTest {
  private static final String DATABASE = System.getenv("DATABASE_URL");

  @RegisterExtension Recorded recorded = new Recorded(DATABASE, "serializable");

  @BeforeAll
  static void prepare() throws Exception {
    URI there = URI.create(DATABASE);
    try (Connection bank = DriverManager.getConnection("jdbc:postgresql://" + there.getAuthority().replaceFirst(".*@", "") + there.getPath(),
            there.getUserInfo(), "");
        Statement tables = bank.createStatement()) {
      tables.execute("DROP TABLE IF EXISTS accounts; CREATE TABLE accounts (id int PRIMARY KEY, balance int); INSERT INTO accounts VALUES (1, 100)");
    }
  }

  @Test
  void withdrawals() throws Exception {
    CyclicBarrier bothHaveRead = new CyclicBarrier(2);
    Callable<Void> client = () -> {
      boolean[] first = {true};
      try (Connection bank = DriverManager.getConnection(recorded.jdbcUrl())) {
        Bank.withdraw(bank, 1, 80, balance -> {
          if (first[0]) meet(bothHaveRead);
          first[0] = false;
          return balance >= 80;
        });
      }
      return null;
    };
    ExecutorService clients = Executors.newFixedThreadPool(2);
    for (Future<Void> ended : clients.invokeAll(List.of(client, client))) ended.get();
    clients.shutdown();
  }

  private static void meet(CyclicBarrier all) {
    try {
      all.await();
    } catch (Exception broken) {
      throw new IllegalStateException(broken);
    }
  }
}
