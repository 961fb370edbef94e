// Checking, and queries of the outcome. The texts of verdicts are made once, since C keeps pointers
// to them.
#include "assay/audit.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/verify.h"
#include "audit/in_place.h"
#include "c_api/boundary.h"
#include "c_api/held_audit.h"
#include "c_api/held_history.h"
#include "c_api/options.h"
#include "explain/explain.h"
#include "history/aborted_reads.h"
#include "report/report.h"

using assay::Ok;
using assay::Result;
using assay::Status;
using assay::internal::c_api::BorrowedHistory;
using assay::internal::c_api::guarded;
using assay::internal::c_api::HeldHistory;
using assay::internal::c_api::VerdictText;

namespace assay::internal::c_api {
namespace {

VerdictText text_of(const Audit& audit, const Verdict& v) {
  VerdictText text;
  text.level = level_info(v.level).name;
  if (v.outcome == Outcome::unknown) {
    text.cause = unknown_cause_name(v.cause);
    text.reason = v.reason;
  }
  if (v.outcome != Outcome::violated) return text;
  const Explanation* e = find_explanation(audit.explanations, v.level);
  if (e == nullptr) return text;
  text.anomaly = anomaly_info(e->anomaly).name;
  for (const std::string& s : e->sentences)
    text.explanation += (text.explanation.empty() ? "" : " ") + s;
  text.hint = e->hint;
  return text;
}

// A history that also counts the observations of transactions that did not commit: a new one, which
// only the audit holds.
Result<std::shared_ptr<HeldHistory>> with_aborted_reads(HeldHistory& held, uint64_t& companions) {
  auto own = std::make_shared<HeldHistory>();
  const std::lock_guard lock(held.mutex);
  auto counted = count_aborted_reads(held.history);
  if (!counted.ok()) return std::move(counted.error());
  companions = counted->companions;
  own->history = std::move(counted->history);
  own->name = held.name;
  own->format = held.format;
  own->notes = held.notes;
  return own;
}

Result<std::unique_ptr<assay_audit>> checked(const std::shared_ptr<HeldHistory>& history,
                                             const assay_options& options) {
  auto made = std::make_unique<assay_audit>();
  made->held = history;
  made->clock_drift = options.clock_drift;
  Audit& result = made->audit;
  if (options.aborted_reads) {
    auto own = with_aborted_reads(*history, result.aborted_reads.emplace());
    if (!own.ok()) return own.error();
    made->held = std::move(*own);
  }
  result.file = history->name;
  result.format = history->format;
  result.notes = history->notes;
  {
    const BorrowedHistory borrowed(*made->held, result.history, options.clock_drift);
    audit_in_place(result, audit_options(options));
  }
  made->tell();
  return made;
}

Result<std::string> report_of(const assay_audit& a, const std::string& kind) {
  const ReportInfo* info = find_report(kind);
  if (info == nullptr) {
    std::string names;
    for (const ReportInfo& r : all_reports())
      names += (names.empty() ? "" : ", ") + std::string(r.name);
    return usage_error(fmt::format("unknown report '{}'; expected one of {}", kind, names));
  }
  const BorrowedHistory borrowed(*a.held, a.audit.history, a.clock_drift);
  return whole_report(info->start({}), {&a.audit, 1});
}

Result<std::string> certificates_text(const assay_audit& a) {
  const BorrowedHistory borrowed(*a.held, a.audit.history, a.clock_drift);
  return write_certificates(certificates_of(a.audit), a.audit.history);
}

// Gives the text that `make` returns to the caller.
template <class Make>
assay_status hand_over(assay_bytes** out, assay_error** error, Make make) {
  *out = nullptr;
  return guarded(error, [&]() -> Status {
    Result<std::string> text = make();
    if (!text.ok()) return std::move(text.error());
    *out = new assay_bytes{std::move(*text)};
    return Ok{};
  });
}

const char* verdict_text(const assay_audit* audit, size_t i, std::string VerdictText::*member) {
  return i < audit->texts.size() ? (audit->texts[i].*member).c_str() : nullptr;
}

Result<Outcome> outcome_of(const Audit& audit, const std::string& level) {
  const auto id = find_level(level);
  const Verdict* verdict = id ? audit.result.find(*id) : nullptr;
  if (verdict == nullptr)
    return usage_error(
        fmt::format("no verdict on '{}'; expected a level that was asked for", level));
  return verdict->outcome;
}

Status verify_all(const CertificateFile& file, const History& history) {
  Verifier verifier(history);
  for (const Certificate& c : file.certificates)
    if (Status s = verifier.verify(c); !s.ok()) return s;
  return Ok{};
}

}  // namespace
}  // namespace assay::internal::c_api

void assay_audit::tell() {
  for (const assay::Verdict& v : audit.result.verdicts)
    texts.push_back(assay::internal::c_api::text_of(audit, v));
}

namespace c_api = assay::internal::c_api;

extern "C" {

assay_status assay_check(assay_history* history, const assay_options* options, assay_audit** audit,
                         assay_error** error) {
  *audit = nullptr;
  return guarded(error, [&]() -> Status {
    auto checked = c_api::checked(history->held, c_api::given(options));
    if (!checked.ok()) return std::move(checked.error());
    *audit = checked->release();
    return Ok{};
  });
}

void assay_audit_free(assay_audit* audit) { delete audit; }

size_t assay_verdict_count(const assay_audit* audit) { return audit->texts.size(); }
const char* assay_verdict_level(const assay_audit* audit, size_t i) {
  return c_api::verdict_text(audit, i, &VerdictText::level);
}
assay_outcome assay_verdict_outcome(const assay_audit* audit, size_t i) {
  const auto& verdicts = audit->audit.result.verdicts;
  return i < verdicts.size() ? static_cast<assay_outcome>(verdicts[i].outcome) : ASSAY_UNKNOWN;
}
const char* assay_verdict_cause(const assay_audit* audit, size_t i) {
  return c_api::verdict_text(audit, i, &VerdictText::cause);
}
const char* assay_verdict_reason(const assay_audit* audit, size_t i) {
  return c_api::verdict_text(audit, i, &VerdictText::reason);
}
const char* assay_verdict_anomaly(const assay_audit* audit, size_t i) {
  return c_api::verdict_text(audit, i, &VerdictText::anomaly);
}
const char* assay_verdict_explanation(const assay_audit* audit, size_t i) {
  return c_api::verdict_text(audit, i, &VerdictText::explanation);
}
const char* assay_verdict_hint(const assay_audit* audit, size_t i) {
  return c_api::verdict_text(audit, i, &VerdictText::hint);
}

assay_status assay_outcome_of(const assay_audit* audit, const char* level, assay_outcome* outcome,
                              assay_error** error) {
  *outcome = ASSAY_UNKNOWN;
  return guarded(error, [&]() -> Status {
    const auto found = c_api::outcome_of(audit->audit, level);
    if (!found.ok()) return found.error();
    *outcome = static_cast<assay_outcome>(*found);
    return Ok{};
  });
}

assay_status assay_report(const assay_audit* audit, const char* kind, assay_bytes** report,
                          assay_error** error) {
  return c_api::hand_over(report, error, [&] { return c_api::report_of(*audit, kind); });
}

assay_status assay_certificates(const assay_audit* audit, assay_bytes** certificates,
                                assay_error** error) {
  return c_api::hand_over(certificates, error, [&] { return c_api::certificates_text(*audit); });
}

assay_status assay_verify(assay_history* history, const char* certificates, size_t size,
                          assay_error** error) {
  assay::CertificateFile file;
  HeldHistory& held = *history->held;
  // The copy that also counts the observations of transactions that did not commit, if the
  // certificates are about that; otherwise they are about the recorded history.
  std::optional<assay::History> counted;
  const assay_status read = guarded(error, [&]() -> Status {
    const std::lock_guard lock(held.mutex);
    const std::string_view text(certificates, size);
    if (assay::counts_aborted_reads(text)) {
      auto reads = assay::internal::count_aborted_reads(held.history);
      if (!reads.ok()) return std::move(reads.error());
      counted = std::move(reads->history);
    }
    auto parsed = assay::read_certificates(text, counted ? *counted : held.history, "certificates");
    if (!parsed.ok()) return std::move(parsed.error());
    if (parsed->certificates.empty())
      return assay::bad_input("the file holds no certificate; expected one or more");
    file = std::move(*parsed);
    return Ok{};
  });
  if (read != ASSAY_OK) return read;
  return guarded(
      error,
      [&] {
        if (counted) {
          counted->set_clock_drift(file.clock_drift);
          counted->define_level(file.defined_level);
          return c_api::verify_all(file, *counted);
        }
        assay::History taken;
        const BorrowedHistory borrowed(held, taken, file.clock_drift);
        taken.define_level(file.defined_level);
        return c_api::verify_all(file, taken);
      },
      ASSAY_REFUSED);
}

}  // extern "C"
