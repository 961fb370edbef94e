// The certificate file, written. Format: docs/formats/certificate.md. Orders can have millions of
// events, so the text is built directly.
#include <fmt/format.h>

#include <string>
#include <string_view>

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
        order(c.order);
        break;
      case Certificate::Kind::bad_read:
        put(R"("bad_read":{{"anomaly":"{}","read":{},"other":{}}})",
            anomaly_info(c.bad_read.anomaly).name, c.bad_read.read, or_null(c.bad_read.other));
        break;
      case Certificate::Kind::proof:
        out_ += R"("proof":[)";
        list(c.proof.steps, [&](const ProofStep& s) {
          out_ += "\n{";
          step(s);
          out_ += '}';
        });
        out_ += ']';
        break;
      case Certificate::Kind::exhausted:
        put(R"("exhausted":{{"until":{},"key":{}}})", c.exhausted.until, key(c.exhausted.key));
        break;
    }
    out_ += '}';
  }

  void order(const Order& o) {
    put(R"("order":{{"split":{},"events":)", o.split);
    numbers(o.events);
    if (!o.sources.empty()) {
      out_ += R"(,"sources":[)";
      list(o.sources, [&](const Seen& s) {
        put(R"({{"op":{},"key":{},"source":{}}})", s.op, key(s.key), or_null(s.source));
      });
      out_ += ']';
    }
    out_ += '}';
  }

  void step(const ProofStep& s) {
    switch (s.kind) {
      case ProofStep::Kind::cycle:
        out_ += R"("cycle":[)";
        list(s.cycle, [&](const Edge& e) { edge(e); });
        out_ += ']';
        if (s.given.empty()) return;
        out_ += ',';
        return literals("given", s.given);
      case ProofStep::Kind::fact:
        literals("fact", s.clause);
        return put(R"(,"{}":{})", s.source_is_op ? "list_read" : "known_order", s.source);
      case ProofStep::Kind::sources:
        literals("sources", s.clause);
        return put(R"(,"operation":{},"key":{})", s.source, key(s.key));
      case ProofStep::Kind::effect:
        return literals("effect", s.clause);
      case ProofStep::Kind::blocks:
        literals("blocks", s.clause);
        if (s.source != kNone) put(R"(,"list_read":{})", s.source);
        if (s.element != kNone) put(R"(,"element":{})", s.element);
        return;
      case ProofStep::Kind::derived:
        literals("derived", s.clause);
        out_ += R"(,"hints":)";
        return numbers(s.hints);
    }
  }

  void literals(std::string_view name, const std::vector<Literal>& all) {
    put(R"("{}":[)", name);
    list(all, [&](const Literal& l) { literal(l); });
    out_ += ']';
  }

  void literal(const Literal& l) {
    switch (l.kind) {
      case Literal::Kind::order:
        return put("[{},{}]", l.from, l.to);
      case Literal::Kind::effect:
        put(R"({{"effect":{})", l.to);
        break;
      case Literal::Kind::block:
        put(R"({{"block":{},"key":{},"list_read":{},"element":{})", l.from, key(l.key), l.op,
            l.element);
        break;
      case Literal::Kind::seen:
        put(R"({{"reader":{},"key":{},"source":{})", l.to, key(l.key), or_null(l.from));
        if (l.op != kNone) put(R"(,"op":{})", l.op);
        break;
    }
    out_ += l.negated ? R"(,"holds":false})" : "}";
  }

  void edge(const Edge& e) {
    put(R"({{"kind":"{}","from":{},"to":{})", edge_kind_name(e.kind), e.from, e.to);
    const bool reads = e.kind == EdgeKind::read_dependency;
    const bool anti = e.kind == EdgeKind::anti_dependency, forced = e.kind == EdgeKind::forced;
    if (e.kind == EdgeKind::real_time)
      put(R"(,"leaves":"{}","enters":"{}")", e.from_write ? "commit" : "begin",
          e.to_write ? "commit" : "begin");
    else if (e.kind != EdgeKind::session)
      put(R"(,"key":{})", key(e.key));
    if (anti || (reads && e.via != kNone)) put(R"(,"via":{})", or_null(e.via));
    if (forced) put(R"(,"reader":{})", e.via);
    if ((reads || anti || forced) && e.op != kNone) put(R"(,"op":{})", e.op);
    if (forced) {
      out_ += R"(,"path":[)";
      list(e.path, [&](const Edge& part) { edge(part); });
      out_ += ']';
    }
    out_ += '}';
  }

  // As JSON.
  std::string key(KeyId k) const {
    const ValueView view = k < history_.key_count() ? history_.key(k) : ValueView::null();
    std::string text;
    if (view.type == ValueView::Type::string)
      internal::certify::append_json_string(view.text, text);
    else
      text = view.type == ValueView::Type::integer ? std::to_string(view.integer) : "null";
    return text;
  }
  static std::string or_null(uint32_t i) { return i == kNone ? "null" : std::to_string(i); }

  const History& history_;
  std::string out_;
};

}  // namespace

std::string write_certificates(const CertificateFile& file, const History& history) {
  return Writer(history).write(file);
}

}  // namespace assay
