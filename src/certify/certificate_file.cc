// The certificate file: the fields of each object, which are read and written by one description.
// Format: docs/formats/certificate.md. Strict: an undocumented field is an error with its line and
// column.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <unordered_map>

#include "assay/verify.h"
#include "certify/certificate_list.h"
#include "certify/json_cursor.h"
#include "formats/level_definition.h"
#include "history/level_words.h"

namespace assay {
namespace {

using internal::certify::Field;
using internal::certify::JsonCursor;
using internal::certify::JsonWriter;
using internal::certify::kOneKind;

// A check writes one certificate per level; no check writes a larger file.
constexpr size_t kMaxCertificates = 256;

std::optional<LevelId> find_named_level(std::string_view name) {
  const auto found = std::ranges::find(named_levels(), name, &LevelInfo::name);
  return found == named_levels().end() ? std::nullopt : std::optional(found->id);
}

std::optional<EdgeKind> find_edge_kind(std::string_view name) {
  using enum EdgeKind;
  // The name that earlier versions wrote.
  if (name == "read-from") return read_dependency;
  if (name == "write-order") return write_dependency;
  if (name == "anti") return anti_dependency;
  for (const EdgeKind kind :
       {read_dependency, session, real_time, write_dependency, anti_dependency, forced})
    if (edge_kind_name(kind) == name) return kind;
  return std::nullopt;
}

template <class Json>
class Fields {
  static constexpr bool kReads = Json::kReads;

  // Functions that read or write the value of a field.
  auto index(auto& i) {
    return [this, &i] { json_.index(i); };
  }
  auto index_or_null(auto& i) {
    return [this, &i] { json_.index_or_null(i); };
  }
  auto flag(auto& value) {
    return [this, &value] { json_.flag(value); };
  }
  auto indices(auto& all) {
    return [this, &all] { json_.array(all, [&](auto& i) { json_.index(i); }); };
  }
  auto literals(auto& all) {
    return [this, &all] { json_.array(all, [&](auto& l) { literal(l); }); };
  }
  auto key(auto& k) {
    return [this, &k] { key_of(json_, k); };
  }
  // A field whose name gives the kind of the object.
  auto of_kind(auto& is, auto kind, auto value) {
    return [this, &is, kind, value] {
      json_.set(is, kind);
      value();
    };
  }

 public:
  Fields(Json& json, const History& history) : json_(json), history_(history) {}

  void file(auto& f) {
    uint32_t version = 1;
    const auto this_version = [&] {
      json_.index(version);
      if (version != 1) json_.fail("expected version 1 of the certificate format");
    };
    const auto this_history = [&] {
      json_.string(f.history_hash);
      if (kReads && f.history_hash != history_.content_hash())
        json_.fail("the certificate is about another history: it names " + f.history_hash +
                   ", this one is " + history_.content_hash());
    };
    const auto drift = [&] {
      json_.integer(f.clock_drift);
      if (f.clock_drift < 0) json_.fail("expected a drift of clocks in nanoseconds, 0 or more");
    };
    const auto definition = [&] { definition_of(f.defined_level); };
    json_.object(kOneKind, "a certificate file needs assay_certificate, history and certificates",
                 Field("assay_certificate", this_version), Field("history", this_history),
                 Field("clock_drift", drift).allowed_in(f.clock_drift > 0),
                 Field("aborted_reads", flag(f.aborted_reads)).allowed_in(f.aborted_reads),
                 Field("defined", definition).allowed_in(f.defined_level != nullptr),
                 Field("certificates", [&] { list(f.certificates); }));
  }

  void list(auto& certificates) {
    const auto one = [&](auto& c) {
      if (kReads && certificates.size() > kMaxCertificates)
        return json_.fail("too many certificates");
      certificate(c);
    };
    json_.array(certificates, one, "\n", "\n");
  }

 private:
  // A level, as a TOML definition.
  void definition_of(auto& row) {
    std::string text = row ? internal::level_definition(*row) : "";
    json_.string(text);
    if constexpr (kReads) {
      auto read = internal::formats::parse_level_definition(text, "defined");
      if (!read.ok()) return json_.fail(read.error().to_string());
      row = std::move(*read);
    }
  }

  void certificate(auto& c) {
    using Kind = Certificate::Kind;
    std::string outcome(outcome_name(c.outcome()));
    const auto no_longer = [&] {
      json_.fail(
          "a refutation by cases, which only earlier versions of assay wrote; check the history "
          "again");
    };
    const auto one_kind = [&](std::string_view name, Kind kind, auto value) {
      return Field(name, of_kind(c.kind, kind, value)).allowed_in(c.kind == kind);
    };
    const uint32_t there = json_.object(
        kOneKind, "a certificate needs levels and outcome",
        Field("levels", [&] { json_.array(c.levels, [&](auto& l) { level(c.levels, l); }); }),
        Field("outcome", [&] { json_.string(outcome); }),
        one_kind("order", Kind::order, [&] { order(c.order); }),
        one_kind("bad_read", Kind::bad_read, [&] { bad_read(c.bad_read); }),
        one_kind("proof", Kind::proof, [&] { proof(c.proof); }),
        one_kind("exhausted", Kind::exhausted, [&] { exhausted(c.exhausted); }),
        Field("cases", no_longer).allowed_in(false));
    if (!std::has_single_bit(there >> 2))
      json_.fail("a certificate needs exactly one of order, bad_read, proof and exhausted");
    if (outcome != outcome_name(c.outcome()))
      json_.fail("the outcome does not fit the kind of certificate");
  }

  // A name that `find` knows.
  void word(auto& value, std::string_view written, auto find, const char* otherwise) {
    std::string name(written);
    json_.string(name);
    if constexpr (kReads) {
      if (const auto found = find(name))
        value = *found;
      else
        json_.fail(std::string(otherwise) + " \"" + name + "\"");
    }
  }

  void level(const std::vector<LevelId>& all, auto& level) {
    word(level, level_info(level).name, find_named_level, "unknown level");
    if (kReads && std::ranges::count(all, level) > 1)
      json_.fail("level \"" + std::string(level_info(level).name) + "\" appears twice");
  }

  void order(auto& o) {
    const auto sources = [&] { json_.array(o.sources, [&](auto& s) { source(s); }); };
    json_.object(kOneKind, "an order needs split and events", Field("split", flag(o.split)),
                 Field("events", indices(o.events)),
                 Field("sources", sources).allowed_in(!o.sources.empty()));
  }

  void source(auto& s) {
    json_.object(kOneKind, "what an operation saw needs op, key and source",
                 Field("op", index(s.op)), Field("key", key(s.key)),
                 Field("source", index_or_null(s.source)));
  }

  void bad_read(auto& b) {
    const auto anomaly = [&] {
      word(b.anomaly, anomaly_info(b.anomaly).name, find_anomaly, "unknown anomaly");
    };
    json_.object(kOneKind, "a bad_read needs anomaly, read and other", Field("anomaly", anomaly),
                 Field("read", index(b.read)), Field("other", index_or_null(b.other)));
  }

  void exhausted(auto& e) {
    json_.object(kOneKind, "an exhausted search needs until and key",
                 Field("until", index(e.until)), Field("key", key(e.key)));
  }

  void proof(auto& p) {
    json_.array(
        p.steps, [&](auto& s) { step(s); }, "\n");
  }

  // Each kind of step has a field of its name, and further fields.
  void step(auto& s) {
    constexpr const char* kExpected =
        "a step needs cycle, or fact and known_order, or fact and list_read, or sources, "
        "operation and key, or aggregate and operation, or effect, or blocks, or derived and hints";
    using Kind = ProofStep::Kind;
    const auto clause = [&](std::string_view name, Kind kind) {
      return Field(name, of_kind(s.kind, kind, literals(s.clause))).needed_by(kind);
    };
    const bool of_list = s.source_is_op || s.kind == Kind::blocks;
    const auto cycle = [&] { json_.array(s.cycle, [&](auto& e) { edge(e, false); }); };
    bool known = false, listed = false;
    json_.object(s.kind, kExpected,
                 Field("cycle", of_kind(s.kind, Kind::cycle, cycle)).needed_by(Kind::cycle),
                 Field("given", literals(s.given)).allowed_in(!s.given.empty(), Kind::cycle),
                 clause("fact", Kind::fact), clause("sources", Kind::sources),
                 clause("effect", Kind::effect), clause("blocks", Kind::blocks),
                 clause("aggregate", Kind::aggregate), clause("derived", Kind::derived),
                 Field("known_order", of_kind(known, true, index(s.source)))
                     .allowed_in(!of_list, Kind::fact),
                 Field("list_read", of_kind(listed, true, index(s.source)))
                     .allowed_in(of_list && s.source != kNone, Kind::fact, Kind::blocks),
                 Field("operation", index(s.source)).needed_by(Kind::sources, Kind::aggregate),
                 Field("key", key(s.key)).needed_by(Kind::sources),
                 Field("element", index(s.element)).allowed_in(s.element != kNone, Kind::blocks),
                 Field("hints", indices(s.hints)).needed_by(Kind::derived));
    if ((s.kind == Kind::fact && known == listed) || (s.element != kNone && !listed))
      json_.fail(kExpected);
    json_.set(s.source_is_op, s.kind == Kind::sources || (listed && s.kind == Kind::fact));
  }

  // A pair of transactions, [before, after], or an object.
  void literal(auto& l) {
    using Kind = Literal::Kind;
    if (json_.begins_array(l.kind == Kind::order))
      return json_.pair(index(l.from), index(l.to), "expected a pair of transactions");
    constexpr const char* kExpected =
        "expected a pair of transactions, or reader, key and source, or effect, or block, key, "
        "list_read and element";
    bool holds = !l.negated;
    json_.object(
        l.kind, kExpected,
        Field("reader", of_kind(l.kind, Kind::seen, index(l.to))).needed_by(Kind::seen),
        Field("effect", of_kind(l.kind, Kind::effect, index(l.to))).needed_by(Kind::effect),
        Field("block", of_kind(l.kind, Kind::block, index(l.from))).needed_by(Kind::block),
        Field("key", key(l.key)).needed_by(Kind::seen, Kind::block),
        Field("source", index_or_null(l.from)).needed_by(Kind::seen),
        Field("list_read", index(l.op)).needed_by(Kind::block),
        Field("element", index(l.element)).needed_by(Kind::block),
        Field("op", index(l.op)).allowed_in(l.op != kNone, Kind::seen),
        Field("holds", flag(holds)).allowed_in(!holds));
    if (l.kind == Kind::order) json_.fail(kExpected);
    json_.set(l.negated, !holds);
    // The reader of the list is known by its operation.
    if (l.kind == Kind::block && l.op < history_.op_count()) json_.set(l.to, history_.txn_of(l.op));
  }

  void edge(auto& e, bool on_path) {
    using enum EdgeKind;
    const auto kind = [&] {
      word(e.kind, edge_kind_name(e.kind), find_edge_kind, "unknown kind of edge");
    };
    const auto path = [&] {
      if (kReads && on_path) return json_.fail("an edge of a path has no path");
      json_.array(e.path, [&](auto& part) { edge(part, true); });
    };
    json_.object(e.kind, "the fields are not those of an edge of this kind", Field("kind", kind),
                 Field("from", index(e.from)), Field("to", index(e.to)),
                 Field("leaves", [&] { side(e.from_write); }).needed_by(real_time),
                 Field("enters", [&] { side(e.to_write); }).needed_by(real_time),
                 Field("key", key(e.key))
                     .needed_by(read_dependency, write_dependency, anti_dependency, forced),
                 Field("via", index_or_null(e.via))
                     .needed_by(anti_dependency)
                     .allowed_in(e.via != kNone, read_dependency),
                 Field("reader", index(e.via)).needed_by(forced),
                 Field("op", index(e.op))
                     .allowed_in(e.op != kNone, read_dependency, anti_dependency, forced),
                 Field("path", path).needed_by(forced));
  }

  void side(auto& is_commit) {
    std::string name = is_commit ? "commit" : "begin";
    json_.string(name);
    if (name != "commit" && name != "begin") json_.fail("expected \"begin\" or \"commit\"");
    json_.set(is_commit, name == "commit");
  }

  void key_of(JsonWriter& out, KeyId k) const {
    const ValueView view = k < history_.key_count() ? history_.key(k) : ValueView::null();
    if (view.type == ValueView::Type::string)
      out.string(view.text);
    else if (view.type == ValueView::Type::integer)
      out.integer(view.integer);
    else
      out.index_or_null(kNone);
  }

  void key_of(JsonCursor& in, KeyId& key) {
    std::string name;
    int64_t integer = 0;
    const bool is_string = in.peek() == '"';
    if (is_string)
      in.string(name);
    else
      in.integer(integer);
    if (!in.ok()) return;
    if (!is_string) name = std::to_string(integer);
    if (keys_.empty()) {
      for (KeyId k = 0; k < history_.key_count(); ++k) {
        const ValueView view = history_.key(k);
        keys_.emplace((view.type == ValueView::Type::string ? 's' : 'i') + view.to_string(), k);
      }
    }
    const auto found = keys_.find((is_string ? 's' : 'i') + name);
    if (found == keys_.end()) return in.fail("the history has no key " + name);
    key = found->second;
  }

  Json& json_;
  const History& history_;
  std::unordered_map<std::string, KeyId> keys_;  // by type and text
};

}  // namespace

}  // namespace assay

namespace assay::internal::certify {

void read_list(JsonCursor& in, std::vector<Certificate>& certificates, const History& history) {
  Fields(in, history).list(certificates);
}
void write_list(JsonWriter& out, const std::vector<Certificate>& certificates,
                const History& history) {
  Fields(out, history).list(certificates);
}

}  // namespace assay::internal::certify

namespace assay {

bool counts_aborted_reads(std::string_view certificates) {
  JsonCursor in(certificates);
  CertificateFile head;
  uint32_t version = 0;
  in.object(kOneKind, "the long part", Field("assay_certificate", [&] { in.index(version); }),
            Field("history", [&] { in.string(head.history_hash); }),
            Field("clock_drift", [&] { in.integer(head.clock_drift); }),
            Field("aborted_reads", [&] { in.flag(head.aborted_reads); }),
            Field("defined", [&] { in.string(head.history_hash); }),
            Field("certificates", [&] { in.fail("the long part, which does not contain this"); }));
  return head.aborted_reads;
}

Result<CertificateFile> read_certificates(std::string_view json, const History& history,
                                          const std::string& name) {
  JsonCursor in(json);
  CertificateFile file;
  Fields(in, history).file(file);
  in.end();
  if (in.ok()) return file;
  Error error = in.error();
  error.file = name;
  return error;
}

std::string write_certificates(const CertificateFile& file, const History& history) {
  JsonWriter out;
  Fields(out, history).file(file);
  return out.take() + '\n';
}

}  // namespace assay
