// Adds to each of Hibernate's statements the place in the code that sent it, as a comment:
// select … /*file='Orders.java:42'*/
//
// `assay record` reads it, and names the place in what it explains. A place always adds the same
// comment, so that prepared statements work as before: there is one for each place. Copy this file.
//
//   hibernate.session_factory.statement_inspector=Places
import java.util.List;
import org.hibernate.resource.jdbc.spi.StatementInspector;

public class Places implements StatementInspector {
  private static final List<String> LIBRARIES =
      List.of("java.", "javax.", "jdk.", "jakarta.", "org.hibernate.", "org.springframework.", "com.zaxxer.");

  @Override
  public String inspect(String sql) {
    return StackWalker.getInstance()
        .walk(frames -> frames.filter(f -> !isLibrary(f.getClassName())).findFirst())
        .map(f -> sql + " /*file='" + f.getFileName() + ":" + f.getLineNumber() + "'*/")
        .orElse(sql);
  }

  private static boolean isLibrary(String name) {
    return name.equals(Places.class.getName()) || LIBRARIES.stream().anyMatch(name::startsWith);
  }
}
