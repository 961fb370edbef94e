// The statements are found one by one with regular expressions, one for each form that a statement
// takes. Every verb that speaks of an operation must belong to a statement that was found: a
// sentence of a new form fails the test until it is understood here.
#include "statements.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <regex>
#include <set>
#include <unordered_map>

#include "history/predicates.h"

namespace assay::internal {
namespace {

using Match = std::smatch;

const std::string kTxn = R"((s?\d+-\d+))";
const std::string kKey = R"((?:key )?([a-z]+\d*|\d+))";
const std::string kValue = R"((null|-?\d+|\[[^\]]*\]))";
const std::string kValues = R"((-?\d+(?:, -?\d+)*(?: and -?\d+)?))";

// The integers of a text.
std::vector<int64_t> numbers_in(const std::string& text) {
  static const std::regex number(R"(-?\d+)");
  std::vector<int64_t> out;
  for (std::sregex_iterator i(text.begin(), text.end(), number), end; i != end; ++i)
    out.push_back(std::stoll(i->str()));
  return out;
}

// What transactions did, by their names, looked up in the plainest way.
class Facts {
 public:
  explicit Facts(const History& h) : h_(h) {
    for (TxnId t = 0; t < h.txn_count(); ++t) by_name_[h.name(t)] = t;
  }

  bool read(const std::string& txn, const std::string& key, const std::string& value) const {
    return any(txn, [&](OpId i) { return saw(i, key, value); });
  }
  bool wrote(const std::string& txn, const std::string& key, const std::string& value) const {
    return any(txn, [&](OpId i) {
      const Operation op = h_.op(i);
      const bool writes = op.kind == OpKind::write ||
                          ((op.kind == OpKind::cas || op.kind == OpKind::insert) && op.effect);
      return writes && is_key(op.key, key) && text(op.version) == value;
    });
  }
  bool changed(const std::string& txn, const std::string& key) const {
    return any(txn,
               [&](OpId i) { return installs_version(h_.op(i)) && is_key(h_.op(i).key, key); });
  }
  bool appended(const std::string& txn, const std::string& values, const std::string& key) const {
    const std::vector<int64_t> elements = numbers_in(values);
    return std::all_of(elements.begin(), elements.end(), [&](int64_t element) {
      return any(txn, [&](OpId i) {
        const Operation op = h_.op(i);
        return op.kind == OpKind::append && is_key(op.key, key) &&
               text(op.version) == std::to_string(element);
      });
    });
  }
  bool deleted(const std::string& txn, const std::string& key) const {
    return any(
        txn, [&](OpId i) { return h_.op(i).kind == OpKind::remove && is_key(h_.op(i).key, key); });
  }
  bool found_absent(const std::string& txn, const std::string& key) const {
    return read(txn, key, "null") || any(txn, [&](OpId i) {
             const Operation op = h_.op(i);
             return (op.kind == OpKind::insert && op.effect && is_key(op.key, key)) ||
                    (op.kind == OpKind::range && h_.selected(i).predicate == kNone &&
                     !row(i, key) && within(i, key));
           });
  }
  bool found_none(const std::string& txn, const std::string& key, const std::string& where) const {
    return any(txn, [&](OpId i) {
      return selects(i, where) && h_.selected(i).complete && within(i, key) && !row(i, key) &&
             !matched(i, key);
    });
  }
  bool found_match(const std::string& txn, const std::string& key, const std::string& where) const {
    return any(txn, [&](OpId i) { return selects(i, where) && matched(i, key); });
  }
  bool passed_over(const std::string& txn, const std::string& key, const std::string& value,
                   const std::string& where) const {
    return any(txn, [&](OpId i) {
      if (!selects(i, where)) return false;
      for (const VersionId v : h_.selected(i).passed)
        if (is_key(h_.version_key(v), key) && text(v) == value) return true;
      return false;
    });
  }
  bool insert_failed(const std::string& txn, const std::string& key) const {
    return any(txn, [&](OpId i) {
      const Operation op = h_.op(i);
      return op.kind == OpKind::insert && !op.effect && is_key(op.key, key);
    });
  }
  bool cas_failed(const std::string& txn, const std::string& key, const std::string& value) const {
    return any(txn, [&](OpId i) {
      const Operation op = h_.op(i);
      return op.kind == OpKind::cas && !op.effect && is_key(op.key, key) &&
             text(h_.operands(i)[0]) == value;
    });
  }
  // A compare-and-set from a value that names a deletion, as random histories have it: it saw the
  // deletion.
  bool expected_tombstone(const std::string& txn, const std::string& key) const {
    return any(txn, [&](OpId i) {
      if (h_.op(i).kind != OpKind::cas || !h_.op(i).effect || !is_key(h_.op(i).key, key))
        return false;
      for (OpId w = 0; w < h_.op_count(); ++w)
        if (h_.op(w).kind == OpKind::remove && h_.op(w).version == h_.operands(i)[0]) return true;
      return false;
    });
  }
  bool is_initial(const std::string& value) const {
    return value == h_.initial().to_string() || value == "[]";
  }
  bool follows(const std::string& later, const std::string& earlier) const {
    const TxnId a = find(earlier), b = find(later);
    return a != kNone && b != kNone && h_.session(a) == h_.session(b) &&
           h_.position(a) < h_.position(b);
  }
  bool aborted(const std::string& txn) const {
    return find(txn) != kNone && h_.status(find(txn)) == TxnStatus::aborted;
  }

 private:
  TxnId find(const std::string& txn) const {
    const auto found = by_name_.find(txn);
    return found == by_name_.end() ? kNone : found->second;
  }
  bool any(const std::string& txn, const std::function<bool(OpId)>& is) const {
    const TxnId t = find(txn);
    if (t == kNone) return false;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (is(i)) return true;
    return false;
  }
  bool is_key(KeyId k, const std::string& key) const {
    return k != kNone && h_.key(k).to_string() == key;
  }
  std::string text(VersionId v) const { return h_.version_value(v).to_string(); }

  bool saw(OpId i, const std::string& key, const std::string& value) const {
    const Operation op = h_.op(i);
    if (op.kind == OpKind::range) {
      const auto found = row(i, key);
      const bool any = h_.selected(i).predicate == kNone;
      return found ? text(*found) == value : any && value == "null" && within(i, key);
    }
    if (!is_key(op.key, key)) return false;
    switch (op.kind) {
      case OpKind::read:
        return text(op.version) == value;
      case OpKind::cas:
        return op.effect && text(h_.operands(i)[0]) == value;
      case OpKind::read_list: {
        std::string list;
        for (const VersionId v : h_.operands(i)) list += (list.empty() ? "" : ",") + text(v);
        return "[" + list + "]" == value;
      }
      default:
        return false;
    }
  }
  std::optional<VersionId> row(OpId range, const std::string& key) const {
    for (const VersionId v : h_.selected(range).rows)
      if (is_key(h_.version_key(v), key)) return v;
    return std::nullopt;
  }
  bool matched(OpId range, const std::string& key) const {
    for (const KeyId k : h_.selected(range).matched)
      if (is_key(k, key)) return true;
    return false;
  }
  // A range with the condition that `text` begins with.
  bool selects(OpId i, const std::string& text) const {
    return h_.op(i).kind == OpKind::range && h_.selected(i).predicate != kNone &&
           text.starts_with(h_.predicates().text(h_.selected(i).predicate));
  }
  bool within(OpId range, const std::string& key) const {
    const uint32_t lo = h_.operands(range)[0], hi = h_.operands(range)[1];
    const ValueView k = ValueView::of(std::string_view(key));
    return (lo == kNone || !key_less(k, h_.key(lo))) && (hi == kNone || !key_less(h_.key(hi), k));
  }

  const History& h_;
  std::unordered_map<std::string, TxnId> by_name_;
};

class Reader {
 public:
  Reader(const History& h, const std::vector<std::string>& sentences, StatementCheck& check)
      : facts_(h), check_(check) {
    for (const std::string& s : sentences) read(s);
  }

 private:
  // One form of a statement: `holds` is given the text before it, for what the words "it" and
  // "which" mean.
  struct Form {
    std::string pattern;
    std::function<bool(const Match&)> holds;
  };

  void read(const std::string& sentence) {
    text_ = resolve(sentence);
    understood_.clear();
    static const std::vector<std::regex> patterns = compiled(forms());
    const std::vector<Form> all = forms();
    for (size_t i = 0; i < all.size(); ++i) look_for(patterns[i], all[i]);
    every_verb_is_understood();
    nothing_is_its_own_reason();
  }

  // Puts the name of the transaction that "it" means in its place.
  std::string resolve(const std::string& sentence) {
    static const std::regex subject("^(?:Yet )?" + kTxn + R"(\b)");
    static const std::regex pronoun(
        R"((^|[ (])(?:Instead it|Afterwards it|First it|It|it) (read|found|failed)\b)");
    std::smatch found;
    if (std::regex_search(sentence, found, subject)) subject_ = found[1];
    // In "3-0 saw 2-0 (it read y = 2 of it)" and "A saw …: it read …" it is who saw.
    static const std::regex witness(kTxn + " saw ");
    std::string out;
    auto from = sentence.cbegin();
    for (std::sregex_iterator i(sentence.begin(), sentence.end(), pronoun), end; i != end; ++i) {
      const auto here = sentence.cbegin() + i->position();
      out.append(from, here);
      std::string who = subject_;
      for (std::sregex_iterator w(sentence.cbegin(), here, witness), none; w != none; ++w)
        who = (*w)[1];
      out += (*i)[1].str() + who + " " + (*i)[2].str();
      from = here + i->length();
    }
    return out.append(from, sentence.cend());
  }

  static std::vector<std::regex> compiled(const std::vector<Form>& forms) {
    std::vector<std::regex> out;
    for (const Form& form : forms) out.emplace_back(form.pattern);
    return out;
  }

  void look_for(const std::regex& pattern, const Form& form) {
    for (std::sregex_iterator i(text_.begin(), text_.end(), pattern), end; i != end; ++i) {
      if (form.holds(*i)) {
        ++check_.statements;
      } else {
        check_.wrong.push_back("false: '" + i->str() + "' in '" + text_ + "'");
      }
      for (size_t at = 0; at < static_cast<size_t>(i->length()); ++at)
        understood_.insert(static_cast<size_t>(i->position()) + at);
    }
  }

  void every_verb_is_understood() {
    static const std::regex verb(
        R"(\b(read|reads|wrote|overwrote|appended|deleted|replaced|failed|found|changed)\b)");
    // What is said of all transactions, not of one.
    static const std::regex general(
        "No order explains the reads|"
        R"(Several writers could explain the reads \(\d+ reads? used by the proof\))"
        R"(|No choice of what \d+ reads? returned|what was read was written)"
        R"(|what \S+ appended to (?:key )?\S+ (?:begins|does not begin) at element \d+ of what \S+ read)"
        R"(|that contradicts what \S+ saw: [a-z]+\(.*\))"
        "|what was read: each|appended cannot form|the state read went back in time|,found\\)|the "
        "first of "
        "the two reads|the other reads of|"
        "Whichever (?:wrote|changed)|through reads and sessions|"
        "a list that was read shows this order|other reads would|both overwrote "
        "it|no transaction wrote that|"
        "with what it had appended|before it wrote that value itself|"
        "of unknown outcome changed the same keys meanwhile|"
        "So (?:[^ ]+) did not read the state of the moment at which it began");
    std::set<size_t> allowed = understood_;
    for (std::sregex_iterator i(text_.begin(), text_.end(), general), end; i != end; ++i)
      for (size_t at = 0; at < static_cast<size_t>(i->length()); ++at)
        allowed.insert(static_cast<size_t>(i->position()) + at);
    for (std::sregex_iterator i(text_.begin(), text_.end(), verb), end; i != end; ++i)
      if (!allowed.contains(static_cast<size_t>(i->position())))
        check_.wrong.push_back("not understood: '" + i->str() + "' in '" + text_ + "'");
  }

  // "A is before B: A → B" says the same twice.
  void nothing_is_its_own_reason() {
    static const std::regex circle(kTxn + " is before " + kTxn + R"(: \1 → \2(?![^)]*→))");
    static const std::regex twice(R"((\S+ (?:read|wrote|appended|deleted) [^()]*) \([^()]*: \1\))");
    if (std::regex_search(text_, circle) || std::regex_search(text_, twice))
      check_.wrong.push_back("circular: '" + text_ + "'");
  }

  // The key that was spoken of last before the match.
  std::string key_before(const Match& m) const {
    static const std::regex keys("(?:" + kKey +
                                 " = |(?:appended [-0-9, and]* to|append of [-0-9, and]* to) " +
                                 kKey + "\\b|(?:deleted|found) " + kKey + ")");
    std::string last;
    for (std::sregex_iterator i(text_.cbegin(), m[0].first, keys), end; i != end; ++i)
      for (size_t g = 1; g < i->size(); ++g)
        if ((*i)[g].matched) last = (*i)[g];
    return last;
  }

  // Its value.
  std::string value_before(const Match& m) const {
    static const std::regex version(kKey + " = " + kValue);
    std::string last;
    for (std::sregex_iterator i(text_.cbegin(), m[0].first, version), end; i != end; ++i)
      last = (*i)[2];
    return last;
  }

  // Whether it holds of every transaction that is named.
  template <class Holds>
  static bool every(const std::string& names, Holds holds) {
    static const std::regex txn(kTxn);
    for (std::sregex_iterator i(names.begin(), names.end(), txn), end; i != end; ++i)
      if (!holds((*i)[1])) return false;
    return true;
  }

  std::vector<Form> forms() const {
    const Facts& f = facts_;
    const std::string version = kKey + " = " + kValue;
    return {
        {kTxn + " (?:and then |then |had |first )?read " + version,
         [&](const Match& m) { return f.read(m[1], m[2], m[3]); }},
        {kTxn + " and " + kTxn + " overlapped and both changed " + kKey,
         [&](const Match& m) { return f.changed(m[1], m[3]) && f.changed(m[2], m[3]); }},
        {kTxn + " and " + kTxn + " both found " + kKey + " absent",
         [&](const Match& m) { return f.found_absent(m[1], m[3]) && f.found_absent(m[2], m[3]); }},
        {kTxn + " and " + kTxn + " both read " + version,
         [&](const Match& m) { return f.read(m[1], m[3], m[4]) && f.read(m[2], m[3], m[4]); }},
        {"((?:" + kTxn + "(?:, | and ))+(?:" + kTxn + "|\\d+ more)) all read " + version +
             " and overwrote it",
         [&](const Match& m) {
           return every(m[1], [&](const std::string& txn) {
             return f.read(txn, m[4], m[5]) && f.changed(txn, m[4]);
           });
         }},
        {"as ((?:" + kTxn + "(?:, | and ))*(?:" + kTxn + "|\\d+ more)) wrote it",
         [&](const Match& m) {
           return every(m[1], [&](const std::string& txn) {
             return f.wrote(txn, key_before(m), value_before(m));
           });
         }},
        {kTxn + " (?:first )?(?:read " + version +
             "(?: \\([^)]*\\)|, nothing but its own,)?|found " + kKey +
             " absent|failed to [^,;]*) and (?:then )?(?:wrote " + version + "|appended " +
             kValues + " to " + kKey + "|deleted " + kKey + ")",
         [&](const Match& m) {
           if (m[5].matched) return f.wrote(m[1], m[5], m[6]);
           if (m[7].matched) return f.appended(m[1], m[7], m[8]);
           return f.deleted(m[1], m[9]);
         }},
        {"read " + version + "(?:, the initial value| \\(the initial value)",
         [&](const Match& m) { return f.is_initial(m[2]); }},
        {"read " + version + "(?:, which " + kTxn + " wrote(?! before it aborted)| \\(written by " +
             kTxn + ")",
         [&](const Match& m) { return f.wrote(m[3].matched ? m[3] : m[4], m[1], m[2]); }},
        {"read " + kKey + " = \\[([^\\]]*)\\](?:, of which| \\(of which) " + kTxn + " appended " +
             kValues,
         [&](const Match& m) {
           const std::vector<int64_t> list = numbers_in(m[2]);
           const std::vector<int64_t> own = numbers_in(m[4]);
           return f.appended(m[3], m[4], m[1]) &&
                  std::all_of(own.begin(), own.end(), [&](int64_t v) {
                    return std::find(list.begin(), list.end(), v) != list.end();
                  });
         }},
        {kTxn + " (?:had |also )?(?:wrote|written) " + version,
         [&](const Match& m) { return f.wrote(m[1], m[2], m[3]); }},
        {kTxn + "(?:, which)? (?:had |also )?(?:wrote) (-?\\d+)",
         [&](const Match& m) { return f.wrote(m[1], key_before(m), m[2]); }},
        {kTxn + ", which (?:also )?wrote " + version,
         [&](const Match& m) { return f.wrote(m[1], m[2], m[3]); }},
        {kTxn + "'s " + version, [&](const Match& m) { return f.wrote(m[1], m[2], m[3]); }},
        {kTxn + "'s append of " + kValues + " to " + kKey,
         [&](const Match& m) { return f.appended(m[1], m[2], m[3]); }},
        {kTxn + "'s deletion of " + kKey, [&](const Match& m) { return f.deleted(m[1], m[2]); }},
        {"which " + kTxn + " overwrote with (-?\\d+)",
         [&](const Match& m) { return f.wrote(m[1], key_before(m), m[2]); }},
        {"which " + kTxn + "(?: then)? deleted",
         [&](const Match& m) { return f.deleted(m[1], key_before(m)); }},
        {"to which " + kTxn + " appended " + kValues,
         [&](const Match& m) { return f.appended(m[1], m[2], key_before(m)); }},
        {kTxn + "(?:, which)? (?:had |also )?appended " + kValues + " to " + kKey,
         [&](const Match& m) { return f.appended(m[1], m[2], m[3]); }},
        {kTxn + "(?:, which)? (?:had |also )?deleted " + kKey,
         [&](const Match& m) { return f.deleted(m[1], m[2]); }},
        {kTxn + " (?:first )?found " + kKey + " absent",
         [&](const Match& m) { return f.found_absent(m[1], m[2]); }},
        {kTxn + " (?:first )?found no " + kKey + " with (.*)",
         [&](const Match& m) { return f.found_none(m[1], m[2], m[3]); }},
        {kTxn + " (?:first )?found that " + kKey + " satisfied (.*)",
         [&](const Match& m) { return f.found_match(m[1], m[2], m[3]); }},
        {kTxn + " saw " + version + " and skipped it, looking for (.*)",
         [&](const Match& m) { return f.passed_over(m[1], m[2], m[3], m[4]); }},
        {kTxn + " (?:first )?failed to insert " + kKey + " because it was there",
         [&](const Match& m) { return f.insert_failed(m[1], m[2]); }},
        {kTxn + " (?:first )?failed to compare-and-set " + kKey + " because it was not " + kValue,
         [&](const Match& m) { return f.cas_failed(m[1], m[2], m[3]); }},
        {kTxn + " had read that version itself",
         [&](const Match& m) {
           return f.read(m[1], key_before(m), value_before(m)) ||
                  (value_before(m) == "null" && f.expected_tombstone(m[1], key_before(m)));
         }},
        {kTxn + " saw " + kTxn + " \\(.*\\), which (?:wrote " + version + "|appended " + kValues +
             " to " + kKey + "|deleted " + kKey + "), and yet (?:read " + version + "|found " +
             kKey + " absent)? ?",
         [&](const Match& m) {
           const bool did = m[3].matched   ? f.wrote(m[2], m[3], m[4])
                            : m[5].matched ? f.appended(m[2], m[5], m[6])
                                           : f.deleted(m[2], m[7]);
           const bool saw = m[8].matched    ? f.read(m[1], m[8], m[9])
                            : m[10].matched ? f.found_absent(m[1], m[10])
                                            : true;
           return did && saw;
         }},
        {kTxn + " wrote " + version + ", and then read " + version,
         [&](const Match& m) { return f.wrote(m[1], m[2], m[3]) && f.read(m[1], m[4], m[5]); }},
        {kTxn + " deleted " + kKey + ", and then read " + version,
         [&](const Match& m) { return f.deleted(m[1], m[2]) && f.read(m[1], m[3], m[4]); }},
        {kTxn + " appended " + kValues + " to " + kKey + ", and then read " + version,
         [&](const Match& m) { return f.appended(m[1], m[2], m[3]) && f.read(m[1], m[4], m[5]); }},
        {kTxn + " read " + kKey + " twice without writing it in between: once " + version +
             ", once " + version,
         [&](const Match& m) { return f.read(m[1], m[3], m[4]) && f.read(m[1], m[5], m[6]); }},
        {kTxn + " overwrote it without having seen it",
         [&](const Match& m) { return f.changed(m[1], key_before(m)); }},
        {"which " + kTxn + " itself deleted",
         [&](const Match& m) { return f.deleted(m[1], key_before(m)); }},
        {"which " + kTxn + " itself replaced by " + kValue,
         [&](const Match& m) { return f.wrote(m[1], key_before(m), m[2]); }},
        {kTxn + " read " + version + " before it appended (-?\\d+) itself",
         [&](const Match& m) { return f.appended(m[1], m[4], m[2]); }},
        {"but " + kTxn + " appended " + kValues,
         [&](const Match& m) { return f.appended(m[1], m[2], key_before(m)); }},
        {"with (-?\\d+), which " + kTxn + " appended",
         [&](const Match& m) { return f.appended(m[2], m[1], key_before(m)); }},
        {kTxn + " follows " + kTxn + " in session",
         [&](const Match& m) { return f.follows(m[1], m[2]); }},
        {"which " + kTxn + " (?:wrote|appended) before it aborted",
         [&](const Match& m) { return f.aborted(m[1]); }},
    };
  }

  Facts facts_;
  StatementCheck& check_;
  std::string text_, subject_;
  std::set<size_t> understood_;
};

}  // namespace

void check_statements(const History& history, const std::vector<std::string>& sentences,
                      StatementCheck& check) {
  Reader(history, sentences, check);
}

}  // namespace assay::internal
