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

  // Adds a choice; choices are numbered from 0.
  void add();
  size_t choices() const { return at_.size(); }

  // Orders the choices by place from now on: those with a lower `place` (one per choice) come
  // first.
  void line_up(std::span<const uint32_t> place);
  // Puts new choices last.
  void line_up_more();
  // Orders the choices by activity from now on. All choices must be open or be reported to undone()
  // later.
  void by_activity();
  bool in_line() const { return in_line_; }
  std::span<const uint32_t> line() const { return line_; }

  // To be called for each choice that took part in a conflict.
  void bump(uint32_t choice);
  // Makes earlier conflicts count a little less from now on.
  void decay();

  // To be called when `choice` is open again.
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
  size_t next_ = 0;                       // index into line_; all before it are taken
  std::vector<double> activity_;
  double bump_ = 1.0;
  std::vector<uint32_t> heap_, at_;  // choices by activity, and the index of each
};

}  // namespace assay::internal
