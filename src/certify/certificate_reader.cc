// The certificate file, read. Format: docs/formats/certificate.md. Strict: what is not described
// there is an error with its line and column.
#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>

#include "assay/verify.h"
#include "certify/json_cursor.h"

namespace assay {
namespace {

using internal::certify::Field;
using internal::certify::JsonCursor;

// One certificate a level is what a check writes; more than this is not what it claims to be.
constexpr size_t kMaxCertificates = 256;

class Reader {
  // What reads a value of a field.
  auto index(uint32_t& to) {
    return [this, &to] { to = in_.index(); };
  }
  auto index_or_null(uint32_t& to) {
    return [this, &to] { to = in_.take_null() ? kNone : in_.index(); };
  }
  auto key(KeyId& to) {
    return [this, &to] { to = known_key(); };
  }
  auto flag(bool& to) {
    return [this, &to] { to = in_.boolean(); };
  }
  auto literals(std::vector<Literal>& to) {
    return [this, &to] { in_.array([&] { literal(to.emplace_back()); }); };
  }
  auto indices(std::vector<uint32_t>& to) {
    return [this, &to] { in_.array([&] { to.push_back(in_.index()); }); };
  }

 public:
  Reader(std::string_view json, const History& history) : in_(json), history_(history) {}

  Result<CertificateFile> read() {
    CertificateFile file;
    need(in_.object(Field{"assay_certificate", [&] { version(); }},
                    Field{"history", [&] { history_hash(file.history_hash); }},
                    Field{"certificates", [&] { in_.array([&] { certificate(file); }); }},
                    Field{"clock_drift", [&] { clock_drift(file.clock_drift); }},
                    Field{"aborted_reads", flag(file.aborted_reads)}),
         0b111, "a certificate file needs assay_certificate, history and certificates");
    in_.end();
    if (!in_.ok()) return in_.error();
    return file;
  }

 private:
  void need(uint32_t seen, uint32_t needed, const char* message) {
    if ((seen & needed) != needed) in_.fail(message);
  }

  void version() {
    if (in_.index() != 1) in_.fail("expected version 1 of the certificate format");
  }
  void history_hash(std::string& hash) {
    hash = in_.string();
    if (hash != history_.content_hash())
      in_.fail("the certificate is about another history: it names " + hash + ", this one is " +
               history_.content_hash());
  }
  void clock_drift(int64_t& drift) {
    drift = in_.integer();
    if (drift < 0) in_.fail("expected a drift of clocks in nanoseconds, 0 or more");
  }

  void certificate(CertificateFile& file) {
    if (file.certificates.size() >= kMaxCertificates) return in_.fail("too many certificates");
    Certificate c;
    std::string outcome;
    using Kind = Certificate::Kind;
    const uint32_t seen = in_.object(
        Field{"levels", [&] { in_.array([&] { level(c.levels); }); }},
        Field{"outcome", [&] { outcome = in_.string(); }},
        Field{"order", [&] { c.kind = Kind::order, order(c.order); }},
        Field{"bad_read", [&] { c.kind = Kind::bad_read, bad_read(c.bad_read); }},
        Field{"proof", [&] { c.kind = Kind::proof, proof(c.proof); }},
        Field{"exhausted", [&] { c.kind = Kind::exhausted, exhausted(c.exhausted); }},
        Field{"cases", [&] {
                in_.fail(
                    "a refutation by cases, which assay wrote before it had sources as statements "
                    "of a proof; check the history again");
              }});
    need(seen, 0b11, "a certificate needs levels and outcome");
    if (!std::has_single_bit(seen >> 2))
      in_.fail("a certificate needs exactly one of order, bad_read, proof and exhausted");
    if (outcome != outcome_name(c.outcome()))
      in_.fail("the outcome does not fit the kind of certificate");
    file.certificates.push_back(std::move(c));
  }

  void level(std::vector<LevelId>& levels) {
    const std::string name = in_.string();
    const auto found = std::ranges::find(named_levels(), name, &LevelInfo::name);
    if (found == named_levels().end()) return in_.fail("unknown level \"" + name + "\"");
    if (std::ranges::count(levels, found->id) != 0)
      return in_.fail("level \"" + name + "\" appears twice");
    levels.push_back(found->id);
  }

  void order(Order& o) {
    need(
        in_.object(Field{"split", flag(o.split)}, Field{"events", indices(o.events)},
                   Field{"sources", [&] { in_.array([&] { source(o.sources.emplace_back()); }); }}),
        0b11, "an order needs split and events");
  }

  void source(Seen& s) {
    need(in_.object(Field{"op", index(s.op)}, Field{"key", key(s.key)},
                    Field{"source", index_or_null(s.source)}),
         0b111, "what an operation saw needs op, key and source");
  }

  void bad_read(BadRead& b) {
    const auto anomaly = [&] {
      const std::string name = in_.string();
      const std::optional<Anomaly> found = find_anomaly(name);
      if (!found) return in_.fail("unknown anomaly \"" + name + "\"");
      b.anomaly = *found;
    };
    need(in_.object(Field{"anomaly", anomaly}, Field{"read", index(b.read)},
                    Field{"other", index_or_null(b.other)}),
         0b111, "a bad_read needs anomaly, read and other");
  }

  void exhausted(Exhausted& e) {
    need(in_.object(Field{"until", index(e.until)}, Field{"key", key(e.key)}), 0b11,
         "an exhausted search needs until and key");
  }

  void proof(Proof& p) {
    in_.array([&] { step(p.steps.emplace_back()); });
  }

  // Each kind of step has a field of its name, and others besides.
  void step(ProofStep& s) {
    enum : uint32_t {
      cycle = 1 << 0,
      given = 1 << 1,
      fact = 1 << 2,
      known_order = 1 << 3,
      list_read = 1 << 4,
      sources = 1 << 5,
      operation = 1 << 6,
      key_field = 1 << 7,
      effect = 1 << 8,
      blocks = 1 << 9,
      element = 1 << 10,
      derived = 1 << 11,
      hints = 1 << 12,
    };
    const uint32_t seen =
        in_.object(Field{"cycle", [&] { in_.array([&] { edge(s.cycle.emplace_back(), false); }); }},
                   Field{"given", literals(s.given)}, Field{"fact", literals(s.clause)},
                   Field{"known_order", index(s.source)}, Field{"list_read", index(s.source)},
                   Field{"sources", literals(s.clause)}, Field{"operation", index(s.source)},
                   Field{"key", key(s.key)}, Field{"effect", literals(s.clause)},
                   Field{"blocks", literals(s.clause)}, Field{"element", index(s.element)},
                   Field{"derived", literals(s.clause)}, Field{"hints", indices(s.hints)});
    struct Kind {
      ProofStep::Kind kind;
      uint32_t needed, allowed;
    };
    constexpr Kind kKinds[] = {
        {ProofStep::Kind::cycle, cycle, cycle | given},
        {ProofStep::Kind::fact, fact | known_order, fact | known_order},
        {ProofStep::Kind::fact, fact | list_read, fact | list_read},
        {ProofStep::Kind::sources, sources | operation | key_field,
         sources | operation | key_field},
        {ProofStep::Kind::effect, effect, effect},
        {ProofStep::Kind::blocks, blocks, blocks | list_read},
        {ProofStep::Kind::blocks, blocks | list_read | element, blocks | list_read | element},
        {ProofStep::Kind::derived, derived | hints, derived | hints},
    };
    const auto found = std::ranges::find_if(kKinds, [&](const Kind& kind) {
      return (seen & kind.needed) == kind.needed && (seen & ~kind.allowed) == 0;
    });
    if (found == std::end(kKinds))
      return in_.fail(
          "a step needs cycle, or fact and known_order, or fact and list_read, or sources, "
          "operation and key, or effect, or blocks, or derived and hints");
    s.kind = found->kind;
    s.source_is_op = (seen & (list_read | operation)) != 0 && s.kind != ProofStep::Kind::blocks;
  }

  // A pair of transactions, [before, after], or an object.
  void literal(Literal& l) {
    if (in_.peek() == '[') {
      size_t count = 0;
      in_.array([&] {
        (count == 0 ? l.from : l.to) = in_.index();
        if (++count > 2) in_.fail("expected a pair of transactions");
      });
      if (count != 2) in_.fail("expected a pair of transactions");
      return;
    }
    using Kind = Literal::Kind;
    const uint32_t seen =
        in_.object(Field{"reader", [&] { l.kind = Kind::seen, l.to = in_.index(); }},
                   Field{"key", key(l.key)}, Field{"source", index_or_null(l.from)},
                   Field{"effect", [&] { l.kind = Kind::effect, l.to = in_.index(); }},
                   Field{"op", index(l.op)}, Field{"holds", [&] { l.negated = !in_.boolean(); }},
                   Field{"block", [&] { l.kind = Kind::block, l.from = in_.index(); }},
                   Field{"list_read", index(l.op)}, Field{"element", index(l.element)});
    const bool block = (seen & ~0b100000u) == 0b111000010u;
    if ((seen & 0b111001111) != 0b00111 && (seen & 0b111011111) != 0b01000 && !block)
      in_.fail(
          "expected a pair of transactions, or reader, key and source, or effect, or block, key, "
          "list_read and element");
    // The reader of the list is known by its operation.
    if (l.kind == Kind::block && l.op < history_.op_count()) l.to = history_.txn_of(l.op);
  }

  void edge(Edge& e, bool on_path) {
    const auto path = [&] {
      if (on_path) return in_.fail("an edge of a path has no path");
      in_.array([&] { edge(e.path.emplace_back(), true); });
    };
    const uint32_t seen = in_.object(
        Field{"kind", [&] { e.kind = edge_kind(); }}, Field{"from", index(e.from)},
        Field{"to", index(e.to)}, Field{"key", key(e.key)}, Field{"via", index_or_null(e.via)},
        Field{"leaves", [&] { e.from_write = is_commit(); }},
        Field{"enters", [&] { e.to_write = is_commit(); }}, Field{"reader", index(e.via)},
        Field{"op", index(e.op)}, Field{"path", path});
    struct Needs {
      EdgeKind kind;
      uint32_t needed, allowed;
    };
    constexpr Needs kNeeds[] = {
        {EdgeKind::read_dependency, 0b0000001111, 0b0100011111},
        {EdgeKind::session, 0b0000000111, 0b0000000111},
        {EdgeKind::real_time, 0b0001100111, 0b0001100111},
        {EdgeKind::write_dependency, 0b0000001111, 0b0000001111},
        {EdgeKind::anti_dependency, 0b0000011111, 0b0100011111},
        {EdgeKind::forced, 0b1010001111, 0b1110001111},
    };
    const Needs& needs = kNeeds[static_cast<size_t>(e.kind)];
    if ((seen & needs.needed) != needs.needed || (seen & ~needs.allowed) != 0)
      in_.fail("the fields are not those of an edge of this kind");
  }

  EdgeKind edge_kind() {
    const std::string name = in_.string();
    if (name == "read-from") return EdgeKind::read_dependency;  // what earlier versions wrote
    if (name == "write-order") return EdgeKind::write_dependency;
    if (name == "anti") return EdgeKind::anti_dependency;
    for (EdgeKind kind : {EdgeKind::read_dependency, EdgeKind::session, EdgeKind::real_time,
                          EdgeKind::write_dependency, EdgeKind::anti_dependency, EdgeKind::forced})
      if (edge_kind_name(kind) == name) return kind;
    in_.fail("unknown kind of edge \"" + name + "\"");
    return EdgeKind::session;
  }

  bool is_commit() {
    const std::string side = in_.string();
    if (side != "commit" && side != "begin") in_.fail("expected \"begin\" or \"commit\"");
    return side == "commit";
  }

  KeyId known_key() {
    std::string name;
    if (in_.peek() == '"') {
      name = 's' + in_.string();
    } else {
      name = 'i' + std::to_string(in_.integer());
    }
    if (!in_.ok()) return kNone;
    if (keys_.empty()) {
      for (KeyId k = 0; k < history_.key_count(); ++k) {
        const ValueView view = history_.key(k);
        keys_.emplace((view.type == ValueView::Type::string ? 's' : 'i') + view.to_string(), k);
      }
    }
    const auto found = keys_.find(name);
    if (found == keys_.end()) {
      in_.fail("the history has no key " + name.substr(1));
      return kNone;
    }
    return found->second;
  }

  JsonCursor in_;
  const History& history_;
  std::unordered_map<std::string, KeyId> keys_;  // by type and text
};

}  // namespace

bool counts_aborted_reads(std::string_view certificates) {
  JsonCursor in(certificates);
  bool counts = false;
  in.object(Field{"assay_certificate", [&] { in.index(); }}, Field{"history", [&] { in.string(); }},
            Field{"clock_drift", [&] { in.integer(); }},
            Field{"aborted_reads", [&] { counts = in.boolean(); }},
            Field{"certificates", [&] { in.fail("the long part, which says nothing of this"); }});
  return counts;
}

Result<CertificateFile> read_certificates(std::string_view json, const History& history,
                                          const std::string& name) {
  Result<CertificateFile> file = Reader(json, history).read();
  if (!file.ok()) file.error().file = name;
  return file;
}

}  // namespace assay
