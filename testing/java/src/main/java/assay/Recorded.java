package assay;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.opentest4j.AssertionFailedError;

/**
 * Judges the transactions that an application does on PostgreSQL during a test:
 *
 * <pre>
 *   &#64;RegisterExtension Recorded recorded = new Recorded(System.getenv("DATABASE_URL"), "serializable");
 *   &#64;Test void withdrawals() { … the application connects to recorded.jdbcUrl() … }
 * </pre>
 *
 * A test fails unless what was recorded satisfies the level, and where nothing was recorded. A field that is not static records each test by itself.
 */
public final class Recorded implements BeforeEachCallback, AfterEachCallback {
  private static final Pattern LISTENING = Pattern.compile("listening: .*?postgresql://([^/, ]+)");

  private final URI database;
  private final String level;
  private Path folder;
  private Process recorder;
  private BufferedReader notes;
  private String address;

  /** @param database its URL, such as postgresql://me:secret@localhost/shop */
  public Recorded(String database, String level) {
    this.database = URI.create(database);
    this.level = level;
  }

  @Override
  public void beforeEach(ExtensionContext test) throws IOException, InterruptedException {
    folder = Files.createTempDirectory("assay-");
    ProcessBuilder starts = new ProcessBuilder(program(), "record", "--history", folder.resolve("history.jsonl").toString(), "--listen", "127.0.0.1:0",
        "--level", level, "--until-input-ends", "--test", "src/test/java/" + test.getRequiredTestClass().getName().replace('.', '/') + ".java");
    starts.environment().put("ASSAY_DATABASE_URL", database.toString());  // who lists processes does not see a password there
    recorder = starts.redirectOutput(folder.resolve("verdict").toFile()).start();
    notes = recorder.errorReader(StandardCharsets.UTF_8);
    StringBuilder said = new StringBuilder();
    for (String line = notes.readLine(); line != null; line = notes.readLine()) {
      Matcher found = LISTENING.matcher(line);
      if (found.find()) {
        address = found.group(1);
        return;
      }
      said.append(line).append('\n');
    }
    recorder.waitFor();
    throw new IllegalStateException("cannot record\n" + said);
  }

  @Override
  public void afterEach(ExtensionContext test) throws IOException, InterruptedException {
    if (address == null) return;
    address = null;
    recorder.getOutputStream().close();  // ends it
    String rest = notes.lines().collect(Collectors.joining("\n"));
    int code = recorder.waitFor();
    String verdict = Files.readString(folder.resolve("verdict"));
    if (code != 0) throw new AssertionFailedError(level + " is not confirmed (exit code " + code + ")\n" + verdict + rest);
    test.publishReportEntry("assay", verdict);
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
  }

  /** Where a driver of JDBC reaches the database while it is recorded. */
  public String jdbcUrl() {
    String[] user = database.getUserInfo() == null ? new String[0] : database.getUserInfo().split(":", 2);
    StringBuilder url = new StringBuilder("jdbc:postgresql://" + address() + database.getRawPath() + "?sslmode=disable");
    if (user.length > 0) url.append("&user=").append(URLEncoder.encode(user[0], StandardCharsets.UTF_8));
    if (user.length > 1) url.append("&password=").append(URLEncoder.encode(user[1], StandardCharsets.UTF_8));
    return url.toString();
  }

  /** HOST:PORT of the recorder, for what takes no URL of JDBC. It speaks no TLS. */
  public String address() {
    if (address == null) throw new IllegalStateException("nothing is recorded outside of a test");
    return address;
  }

  private static String program() {
    String named = System.getenv("ASSAY_PROGRAM");
    return named == null || named.isEmpty() ? "assay" : named;
  }
}
