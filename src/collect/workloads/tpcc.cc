// Modelled on TPC-C: one warehouse, ten districts, as many customers and stock items as keys, and
// its five transactions in its mix (new order 45 %, payment 43, order status 4, delivery 4, stock
// level 4). Every cell that a transaction would read or write is an operation; a written value is a
// unique stamp instead of an amount, but the numbers of orders are real, since rows are named by
// them. Nearly every write follows a read of its cell.
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

constexpr uint64_t kDistricts = 10;
constexpr uint64_t kMaxLines = 15;

class TpccSession : public AnsweredSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write, OpKind::remove};
  static std::vector<Table> tables() {
    return {{"warehouse", {"tax", "ytd"}},
            {"district", {"tax", "ytd", "next_order", "next_delivery"}},
            {"customer", {"balance", "payments", "last_order"}},
            {"stock", {"quantity", "orders"}},
            {"orders", {"customer", "carrier", "line_count"}},
            {"new_order", {"waiting"}},
            {"order_line", {"item", "delivered"}}};
  }
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit, Rng&) {
    std::vector<Request> reads;
    const auto add = [&](Value key) {
      if (reads.size() < limit) reads.push_back({.kind = OpKind::read, .key = std::move(key)});
    };
    add(cell("warehouse", 1, "ytd"));
    for (uint64_t d = 1; d <= kDistricts; ++d)
      for (const char* column : {"ytd", "next_order", "next_delivery"})
        add(cell("district", d, column));
    for (uint64_t i = 1; i <= options.keys && reads.size() < limit; ++i) {
      add(cell("stock", i, "quantity"));
      add(cell("customer", i, "balance"));
    }
    return reads;
  }

  TpccSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : AnsweredSession(random, values), rows_(options.distribution, options.keys) {}

 protected:
  void plan() override {
    district_ = 1 + rng().below(kDistricts);
    customer_ = 1 + rows_.draw(rng());
    const uint64_t dice = rng().below(100);
    type_ = dice < 45   ? Type::new_order
            : dice < 88 ? Type::payment
            : dice < 92 ? Type::order_status
            : dice < 96 ? Type::delivery
                        : Type::stock_level;
    switch (type_) {
      case Type::new_order:
        read(cell("warehouse", 1, "tax"));
        read(cell("district", district_, "tax"));
        lines_ = 5 + rng().below(kMaxLines - 4);
        return read(cell("district", district_, "next_order"));
      case Type::payment:
        update(cell("warehouse", 1, "ytd"));
        update(cell("district", district_, "ytd"));
        update(cell("customer", customer_, "balance"));
        return update(cell("customer", customer_, "payments"));
      case Type::order_status:
        read(cell("customer", customer_, "balance"));
        return read(cell("customer", customer_, "last_order"));
      case Type::delivery:
        read(cell("district", district_, "next_order"));
        return read(cell("district", district_, "next_delivery"));
      case Type::stock_level:
        read(cell("district", district_, "next_order"));
        for (int i = 0; i < 10; ++i) read(cell("stock", 1 + rows_.draw(rng()), "quantity"));
        return;
    }
  }

  void answered(const Request& request, const Reply& reply) override {
    if (request.kind != OpKind::read) return;
    const std::string& key = request.key.text;
    if (key.ends_with("next_order")) {
      newest_ = number_of(reply.value, 1);
      if (type_ == Type::new_order) enter_order();
    } else if (key.ends_with("next_delivery")) {
      const int64_t oldest = number_of(reply.value, 1);
      if (oldest < newest_) deliver(oldest);
    } else if (key.ends_with("last_order") && type_ == Type::order_status &&
               !reply.value.is_null()) {
      read(cell("orders", order(number_of(reply.value, 0)), "carrier"));
    }
  }

 private:
  enum class Type : uint8_t { new_order, payment, order_status, delivery, stock_level };

  std::string order(int64_t number) const {
    return std::to_string(district_) + '.' + std::to_string(number);
  }

  void enter_order() {
    const std::string row = order(newest_);
    write(cell("district", district_, "next_order"), stamped(newest_ + 1));
    write(cell("orders", row, "customer"));
    write(cell("orders", row, "line_count"));
    write(cell("new_order", row, "waiting"));
    write(cell("customer", customer_, "last_order"), stamped(newest_));
    for (uint64_t line = 1; line <= lines_; ++line) {
      const uint64_t item = 1 + rows_.draw(rng());
      update(cell("stock", item, "quantity"));
      update(cell("stock", item, "orders"));
      write(cell("order_line", row + '.' + std::to_string(line), "item"));
    }
  }

  void deliver(int64_t oldest) {
    const std::string row = order(oldest);
    write(cell("district", district_, "next_delivery"), stamped(oldest + 1));
    put({.kind = OpKind::remove,
         .key = cell("new_order", row, "waiting"),
         .value = take_tombstone()});
    read(cell("orders", row, "customer"));
    write(cell("orders", row, "carrier"));
    write(cell("order_line", row + ".1", "delivered"));
    update(cell("customer", customer_, "balance"));
  }

  Ranks rows_;
  Type type_ = Type::new_order;
  uint64_t district_ = 1, customer_ = 1, lines_ = 0;
  int64_t newest_ = 1;
};

class Tpcc : public SessionWorkload<TpccSession> {
 public:
  using SessionWorkload::SessionWorkload;
  std::vector<Table> tables() const override { return TpccSession::tables(); }
};

constexpr Anomaly kTpccShows[] = {
    Anomaly::aborted_read,   Anomaly::session_guarantee_violation,
    Anomaly::fractured_read, Anomaly::causality_violation,
    Anomaly::lost_update,    Anomaly::real_time_violation,
};

Result<std::unique_ptr<Workload>> make_tpcc(const WorkloadOptions& options) {
  if (options.keys == 0) return usage_error("tpcc needs at least one key");
  return std::unique_ptr<Workload>(std::make_unique<Tpcc>(options));
}

}  // namespace

const WorkloadInfo kTpcc = {
    "tpcc", "shaped as TPC-C, on SQL tables; keys is the number of customers and items", kTpccShows,
    make_tpcc};

}  // namespace assay::internal::collect
