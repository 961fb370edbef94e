// A text of SQL without its constants: texts that differ in these alone are analysed once.
//
//   SELECT v FROM t WHERE id = 17 AND who = 'ann'        SELECT v FROM t WHERE id = $60000 AND who
//                                                        = $60001        17, 'ann'
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::internal::record {

struct Shape {
  static constexpr size_t kFirst =
      60'000;  // constants are values of the client from here on, which has no such itself

  std::string text;
  std::vector<std::string> constants;  // as in the SQL
  // Behind each constant: the place in the shape, and in the SQL.
  std::vector<std::pair<size_t, size_t>> ends;

  // The place in the SQL of one in the shape; nothing within a constant.
  std::optional<size_t> place(size_t in_shape) const;
};

// Nothing if it is not certain which parts are constants.
std::optional<Shape> shape_of(std::string_view sql);

}  // namespace assay::internal::record
