// The certificate file, read. Format: docs/formats/certificate.md. Strict: what is not described
// there is an error with its line and column.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "assay/verify.h"
#include "certify/json_cursor.h"

namespace assay {
namespace {

// One certificate a level is what a check writes; more than this is not what it claims to be.
constexpr size_t kMaxCertificates = 256;

class Reader {
 public:
  Reader(std::string_view json, const History& history) : in_(json), history_(history) {}

  Result<CertificateFile> read() {
    CertificateFile file;
    bool right_version = true, right_history = true;
    const uint32_t seen =
        in_.object({"assay_certificate", "history", "certificates", "clock_drift", "aborted_reads"},
                   [&](size_t field) {
                     if (field == 0) {
                       right_version = in_.index() == 1;
                       if (!right_version) in_.fail("expected version 1 of the certificate format");
                     } else if (field == 1) {
                       file.history_hash = in_.string();
                       right_history = file.history_hash == history_.content_hash();
                       if (!right_history)
                         in_.fail("the certificate is about another history: it names " +
                                  file.history_hash + ", this one is " + history_.content_hash());
                     } else if (field == 2) {
                       in_.array([&] { certificate(file); });
                     } else if (field == 3) {
                       file.clock_drift = in_.integer();
                       if (file.clock_drift < 0)
                         in_.fail("expected a drift of clocks in nanoseconds, 0 or more");
                     } else {
                       file.aborted_reads = in_.boolean();
                     }
                   });
    require(seen, 0b111, "a certificate file needs assay_certificate, history and certificates");
    in_.end();
    if (!in_.ok()) return in_.error();
    return file;
  }

 private:
  void require(uint32_t seen, uint32_t needed, const char* message) {
    if ((seen & needed) != needed) in_.fail(message);
  }

  void certificate(CertificateFile& file) {
    if (file.certificates.size() >= kMaxCertificates) return in_.fail("too many certificates");
    Certificate c;
    std::string outcome;
    const uint32_t seen =
        in_.object({"levels", "outcome", "order", "bad_read", "proof", "cases", "exhausted"},
                   [&](size_t field) {
                     switch (field) {
                       case 0:
                         return in_.array([&] { level(c.levels); });
                       case 1:
                         outcome = in_.string();
                         return;
                       case 2:
                         c.kind = Certificate::Kind::order;
                         return order(c.order);
                       case 3:
                         c.kind = Certificate::Kind::bad_read;
                         return bad_read(c.bad_read);
                       case 4:
                         c.kind = Certificate::Kind::proof;
                         return in_.array([&] { step(c.proof.steps.emplace_back()); });
                       case 5:
                         return in_.fail(
                             "a refutation by cases, which assay wrote before it had sources as "
                             "statements of a proof; check the history again");
                       default:
                         c.kind = Certificate::Kind::exhausted;
                         return exhausted(c.exhausted);
                     }
                   });
    require(seen, 0b11, "a certificate needs levels and outcome");
    const uint32_t kinds = seen >> 2;
    if (kinds != 1 && kinds != 2 && kinds != 4 && kinds != 16)
      in_.fail("a certificate needs exactly one of order, bad_read, proof and exhausted");
    if (outcome != outcome_name(c.outcome()))
      in_.fail("the outcome does not fit the kind of certificate");
    file.certificates.push_back(std::move(c));
  }

  void level(std::vector<LevelId>& levels) {
    const std::string name = in_.string();
    const auto all = named_levels();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const LevelInfo& l) { return l.name == name; });
    if (found == all.end()) return in_.fail("unknown level \"" + name + "\"");
    if (std::count(levels.begin(), levels.end(), found->id) != 0)
      return in_.fail("level \"" + name + "\" appears twice");
    levels.push_back(found->id);
  }

  void order(Order& o) {
    const uint32_t seen = in_.object({"split", "events", "sources"}, [&](size_t field) {
      if (field == 0) {
        o.split = in_.boolean();
      } else if (field == 1) {
        in_.array([&] { o.events.push_back(in_.index()); });
      } else {
        in_.array([&] { source(o.sources.emplace_back()); });
      }
    });
    require(seen, 0b11, "an order needs split and events");
  }

  void source(Seen& s) {
    const uint32_t seen = in_.object({"op", "key", "source"}, [&](size_t field) {
      if (field == 0) {
        s.op = in_.index();
      } else if (field == 1) {
        s.key = key();
      } else {
        s.source = index_or_null();
      }
    });
    require(seen, 0b111, "what an operation saw needs op, key and source");
  }

  void bad_read(BadRead& b) {
    const uint32_t seen = in_.object({"anomaly", "read", "other"}, [&](size_t field) {
      if (field == 0) {
        const std::string name = in_.string();
        const std::optional<Anomaly> found = find_anomaly(name);
        if (!found) return in_.fail("unknown anomaly \"" + name + "\"");
        b.anomaly = *found;
      } else if (field == 1) {
        b.read = in_.index();
      } else {
        b.other = index_or_null();
      }
    });
    require(seen, 0b111, "a bad_read needs anomaly, read and other");
  }

  void exhausted(Exhausted& e) {
    const uint32_t seen = in_.object({"until", "key"}, [&](size_t field) {
      if (field == 0) {
        e.until = in_.index();
      } else {
        e.key = key();
      }
    });
    require(seen, 0b11, "an exhausted search needs until and key");
  }

  void step(ProofStep& s) {
    const uint32_t seen =
        in_.object({"cycle", "fact", "known_order", "list_read", "derived", "hints", "given",
                    "sources", "operation", "effect", "key", "blocks", "element"},
                   [&](size_t field) {
                     switch (field) {
                       case 0:
                         return in_.array([&] { edge(s.cycle.emplace_back(), false); });
                       case 1:
                       case 4:
                       case 7:
                       case 9:
                       case 11:
                         return in_.array([&] { literal(s.clause.emplace_back()); });
                       case 2:
                       case 3:
                       case 8:
                         s.source = in_.index();
                         s.source_is_op = field != 2;
                         return;
                       case 10:
                         s.key = key();
                         return;
                       case 12:
                         s.element = in_.index();
                         return;
                       case 5:
                         return in_.array([&] { s.hints.push_back(in_.index()); });
                       default:
                         return in_.array([&] { literal(s.given.emplace_back()); });
                     }
                   });
    constexpr uint32_t kBlocks = 1 << 11, kListRead = 1 << 3, kElement = 1 << 12;
    switch (seen) {
      case kBlocks:
      case kBlocks | kListRead:
      case kBlocks | kListRead | kElement:
        s.kind = ProofStep::Kind::blocks;
        s.source_is_op = false;
        return;
      case 0b0000000001:
      case 0b0001000001:
        s.kind = ProofStep::Kind::cycle;
        return;
      case 0b0000000110:
      case 0b0000001010:
        s.kind = ProofStep::Kind::fact;
        return;
      case 0b10110000000:
        s.kind = ProofStep::Kind::sources;
        return;
      case 0b1000000000:
        s.kind = ProofStep::Kind::effect;
        return;
      case 0b0000110000:
        s.kind = ProofStep::Kind::derived;
        return;
      default:
        in_.fail(
            "a step needs cycle, or fact and known_order, or fact and list_read, or sources, "
            "operation and key, or effect, or blocks, or derived and hints");
    }
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
    const uint32_t seen = in_.object(
        {"reader", "key", "source", "effect", "op", "holds", "block", "list_read", "element"},
        [&](size_t field) {
          switch (field) {
            case 0:
              l.kind = Literal::Kind::seen;
              l.to = in_.index();
              return;
            case 1:
              l.key = key();
              return;
            case 2:
              l.from = index_or_null();
              return;
            case 3:
              l.kind = Literal::Kind::effect;
              l.to = in_.index();
              return;
            case 4:
            case 7:
              l.op = in_.index();
              return;
            case 5:
              l.negated = !in_.boolean();
              return;
            case 6:
              l.kind = Literal::Kind::block;
              l.from = in_.index();
              return;
            default:
              l.element = in_.index();
          }
        });
    const bool block = (seen & ~0b100000u) == 0b111000010u;
    if ((seen & 0b111001111) != 0b00111 && (seen & 0b111011111) != 0b01000 && !block)
      in_.fail(
          "expected a pair of transactions, or reader, key and source, or effect, or block, key, "
          "list_read and element");
    // The reader of the list is known by its operation.
    if (l.kind == Literal::Kind::block && l.op < history_.op_count()) l.to = history_.txn_of(l.op);
  }

  void edge(Edge& e, bool on_path) {
    const uint32_t seen =
        in_.object({"kind", "from", "to", "key", "via", "leaves", "enters", "reader", "op", "path"},
                   [&](size_t field) { edge_field(e, field, on_path); });
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

  void edge_field(Edge& e, size_t field, bool on_path) {
    switch (field) {
      case 0:
        e.kind = edge_kind();
        return;
      case 1:
        e.from = in_.index();
        return;
      case 2:
        e.to = in_.index();
        return;
      case 3:
        e.key = key();
        return;
      case 4:
        e.via = index_or_null();
        return;
      case 5:
        e.from_write = is_commit();
        return;
      case 6:
        e.to_write = is_commit();
        return;
      case 7:
        e.via = in_.index();
        return;
      case 8:
        e.op = in_.index();
        return;
      default:
        if (on_path) return in_.fail("an edge of a path has no path");
        in_.array([&] { edge(e.path.emplace_back(), true); });
    }
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

  uint32_t index_or_null() { return in_.take_null() ? kNone : in_.index(); }

  KeyId key() {
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

  internal::certify::JsonCursor in_;
  const History& history_;
  std::unordered_map<std::string, KeyId> keys_;  // by type and text
};

}  // namespace

bool counts_aborted_reads(std::string_view certificates) {
  internal::certify::JsonCursor in(certificates);
  bool counts = false;
  in.object({"assay_certificate", "history", "clock_drift", "aborted_reads", "certificates"},
            [&](size_t field) {
              if (field == 0) in.index();
              if (field == 1) in.string();
              if (field == 2) in.integer();
              if (field == 3) counts = in.boolean();
              if (field == 4) in.fail("the long part, which says nothing of this");
            });
  return counts;
}

Result<CertificateFile> read_certificates(std::string_view json, const History& history,
                                          const std::string& name) {
  Result<CertificateFile> file = Reader(json, history).read();
  if (!file.ok()) file.error().file = name;
  return file;
}

}  // namespace assay
