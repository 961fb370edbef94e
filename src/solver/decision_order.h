// Which choice a search decides next. See decision_order.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::internal {

class DecisionOrder {
 public:
  static constexpr uint32_t kNothing = 0xFFFFFFFF;

  // A new choice; they are numbered from 0.
  void add();
  size_t choices() const { return at_.size(); }

  // By place from now on: the choices with lower `place` (one each) first.
  void line_up(std::span<const uint32_t> place);
  // New choices come last.
  void line_up_more();
  // By activity from now on. All choices must be open or be reported by undone() later.
  void by_activity();
  bool in_line() const { return in_line_; }
  std::span<const uint32_t> line() const { return line_; }

  // The choice took part in a conflict.
  void bump(uint32_t choice);
  // Earlier conflicts count a little less from now on.
  void decay();

  // `choice` is open again.
  void undone(uint32_t choice);
  // The first choice for which is_open(choice); kNothing if there is none.
  template <class IsOpen>
  uint32_t next(IsOpen is_open) {
    if (in_line_) {
      while (next_ < line_.size() && !is_open(line_[next_])) ++next_;
      return next_ < line_.size() ? line_[next_] : kNothing;
    }
    while (!heap_.empty()) {
      const uint32_t choice = pop();
      if (is_open(choice)) return choice;
    }
    return kNothing;
  }

 private:
  void up(uint32_t at);
  void down(uint32_t at);
  void insert(uint32_t choice);
  uint32_t pop();

  bool in_line_ = false;
  std::vector<uint32_t> line_, line_at_;  // choices by place, and the index of each
  size_t next_ = 0;                       // in line_; all before it are taken
  std::vector<double> activity_;
  double bump_ = 1.0;
  std::vector<uint32_t> heap_, at_;  // choices by activity, and the index of each
};

}  // namespace assay::internal
