// The certificate file, written. Format: docs/formats/certificate.md. Orders can have millions of
// events, so the text is built directly.
#include <fmt/format.h>

#include <iterator>

#include "assay/verify.h"
#include "certify/json_cursor.h"

namespace assay {
namespace {

class Writer {
 public:
  explicit Writer(const History& history) : history_(history) {}

  std::string write(const CertificateFile& file) {
    put(R"({{"assay_certificate":1,"history":"{}",)", file.history_hash);
    if (file.clock_drift > 0) put(R"("clock_drift":{},)", file.clock_drift);
    if (file.aborted_reads) out_ += R"("aborted_reads":true,)";
    out_ += R"("certificates":[)";
    list(file.certificates, [&](const Certificate& c) {
      out_ += '\n';
      certificate(c);
    });
    out_ += "\n]}\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    // Unlike that of format_to, its work is compiled already, in the library of fmt.
    out_ += fmt::format(text, std::forward<Args>(args)...);
  }

  template <class Items, class WriteItem>
  void list(const Items& items, WriteItem write_item) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      write_item(item);
    }
  }

  void numbers(const std::vector<uint32_t>& values) {
    out_ += '[';
    list(values, [&](uint32_t v) {
      const fmt::format_int text(v);
      out_.append(text.data(), text.size());
    });
    out_ += ']';
  }

  void certificate(const Certificate& c) {
    out_ += R"({"levels":[)";
    list(c.levels, [&](LevelId level) { put("\"{}\"", level_info(level).name); });
    put(R"(],"outcome":"{}",)", outcome_name(c.outcome()));
    switch (c.kind) {
      case Certificate::Kind::order:
        put(R"("order":{{"split":{},"events":)", c.order.split);
        numbers(c.order.events);
        if (!c.order.sources.empty()) {
          out_ += R"(,"sources":)";
          seen(c.order.sources);
        }
        out_ += '}';
        break;
      case Certificate::Kind::bad_read:
        bad_read(c.bad_read);
        break;
      case Certificate::Kind::proof:
        proof(c.proof);
        break;
      case Certificate::Kind::exhausted:
        out_ += R"("exhausted":{"until":)";
        put("{}", c.exhausted.until);
        key(c.exhausted.key);
        out_ += '}';
        break;
    }
    out_ += '}';
  }

  void bad_read(const BadRead& b) {
    put(R"("bad_read":{{"anomaly":"{}","read":{},"other":)", anomaly_info(b.anomaly).name, b.read);
    index_or_null(b.other);
    out_ += '}';
  }

  void proof(const Proof& p) {
    out_ += R"("proof":[)";
    list(p.steps, [&](const ProofStep& s) {
      out_ += '\n';
      step(s);
    });
    out_ += ']';
  }

  void seen(const std::vector<Seen>& all) {
    out_ += '[';
    list(all, [&](const Seen& s) {
      put(R"({{"op":{})", s.op);
      key(s.key);
      out_ += R"(,"source":)";
      index_or_null(s.source);
      out_ += '}';
    });
    out_ += ']';
  }

  void step(const ProofStep& s) {
    switch (s.kind) {
      case ProofStep::Kind::cycle:
        out_ += R"({"cycle":[)";
        list(s.cycle, [&](const Edge& e) { edge(e); });
        if (!s.given.empty()) {
          out_ += R"(],"given":[)";
          literals(s.given);
        }
        out_ += "]}";
        break;
      case ProofStep::Kind::fact:
        out_ += R"({"fact":[)";
        literals(s.clause);
        put(R"(],"{}":{}}})", s.source_is_op ? "list_read" : "known_order", s.source);
        break;
      case ProofStep::Kind::sources:
        out_ += R"({"sources":[)";
        literals(s.clause);
        put(R"(],"operation":{})", s.source);
        key(s.key);
        out_ += '}';
        break;
      case ProofStep::Kind::effect:
        out_ += R"({"effect":[)";
        literals(s.clause);
        out_ += "]}";
        break;
      case ProofStep::Kind::blocks:
        out_ += R"({"blocks":[)";
        literals(s.clause);
        out_ += ']';
        if (s.source != kNone) put(R"(,"list_read":{})", s.source);
        if (s.element != kNone) put(R"(,"element":{})", s.element);
        out_ += '}';
        break;
      case ProofStep::Kind::derived:
        out_ += R"({"derived":[)";
        literals(s.clause);
        out_ += R"(],"hints":)";
        numbers(s.hints);
        out_ += '}';
        break;
    }
  }

  void literals(const std::vector<Literal>& all) {
    list(all, [&](const Literal& l) { literal(l); });
  }

  void literal(const Literal& l) {
    if (l.kind == Literal::Kind::order) return put("[{},{}]", l.from, l.to);
    if (l.kind == Literal::Kind::effect) {
      put(R"({{"effect":{})", l.to);
    } else if (l.kind == Literal::Kind::block) {
      put(R"({{"block":{})", l.from);
      key(l.key);
      put(R"(,"list_read":{},"element":{})", l.op, l.element);
    } else {
      put(R"({{"reader":{})", l.to);
      key(l.key);
      out_ += R"(,"source":)";
      index_or_null(l.from);
      if (l.op != kNone) put(R"(,"op":{})", l.op);
    }
    out_ += l.negated ? R"(,"holds":false})" : "}";
  }

  // An edge without its path.
  void open_edge(const Edge& e) {
    put(R"({{"kind":"{}","from":{},"to":{})", edge_kind_name(e.kind), e.from, e.to);
    switch (e.kind) {
      case EdgeKind::session:
        break;
      case EdgeKind::real_time:
        put(R"(,"leaves":"{}","enters":"{}")", e.from_write ? "commit" : "begin",
            e.to_write ? "commit" : "begin");
        break;
      case EdgeKind::anti_dependency:
        key(e.key);
        out_ += R"(,"via":)";
        index_or_null(e.via);
        break;
      case EdgeKind::forced:
        key(e.key);
        put(R"(,"reader":{})", e.via);
        break;
      case EdgeKind::read_dependency:
        key(e.key);
        if (e.via != kNone) put(R"(,"via":{})", e.via);
        break;
      case EdgeKind::write_dependency:
        key(e.key);
        break;
    }
    const bool reads = e.kind == EdgeKind::read_dependency || e.kind == EdgeKind::anti_dependency ||
                       e.kind == EdgeKind::forced;
    if (reads && e.op != kNone) put(R"(,"op":{})", e.op);
  }

  void edge(const Edge& e) {
    open_edge(e);
    if (e.kind == EdgeKind::forced) {
      out_ += R"(,"path":[)";
      list(e.path, [&](const Edge& part) {
        open_edge(part);
        out_ += '}';
      });
      out_ += ']';
    }
    out_ += '}';
  }

  void key(KeyId k) {
    out_ += R"(,"key":)";
    const ValueView view = k < history_.key_count() ? history_.key(k) : ValueView::null();
    if (view.type == ValueView::Type::string) {
      internal::certify::append_json_string(view.text, out_);
    } else if (view.type == ValueView::Type::integer) {
      put("{}", view.integer);
    } else {
      out_ += "null";
    }
  }

  void index_or_null(uint32_t i) {
    if (i == kNone) {
      out_ += "null";
    } else {
      put("{}", i);
    }
  }

  const History& history_;
  std::string out_;
};

}  // namespace

std::string write_certificates(const CertificateFile& file, const History& history) {
  return Writer(history).write(file);
}

}  // namespace assay
