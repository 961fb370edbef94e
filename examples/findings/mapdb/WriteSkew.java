import java.util.Map;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.TxMaker;
import org.mapdb.TxRollbackException;

/** MapDB 1.0: two transactions of a TxMaker each read what the other writes. */
public class WriteSkew {
  public static void main(String[] args) {
    for (String kind : new String[] {"tree", "hash"}) {
      TxMaker maker = DBMaker.newMemoryDB().makeTxMaker();
      DB first = maker.makeTx();
      map(first, kind).put("alice", "on call");
      map(first, kind).put("bob", "on call");
      first.commit();
      DB one = maker.makeTx(), other = maker.makeTx();
      if (map(one, kind).get("bob").equals("on call")) map(one, kind).put("alice", "off");
      if (map(other, kind).get("alice").equals("on call")) map(other, kind).put("bob", "off");
      String outcome = "both committed";
      try {
        one.commit();
        other.commit();
      } catch (TxRollbackException refused) {
        outcome = "one was refused";
      }
      DB last = maker.makeTx();
      System.out.println(kind + ": " + outcome + "; alice is " + map(last, kind).get("alice") + ", bob is " + map(last, kind).get("bob"));
    }
  }

  private static Map<String, String> map(DB db, String kind) {
    return kind.equals("tree") ? db.getTreeMap("doctors") : db.getHashMap("doctors");
  }
}
