#include "rows.hpp"

LOPSIDED_ISA_BEGIN

template <class Row>
void look_at_all_as(const Rows& rows, double* squares) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Scratch scratch;
  for (Count i = 0; i < rows.size(); ++i) {
    const Row row = rows.row<Row>(i, scratch);
    const bool copied = row.values == scratch.values.data() && row.size > 0;
    squares[i] = rows.plain() && !copied ? row.square : unknown;
  }
}

void look_at_all(const Rows& rows, double* squares) {
  rows.sparse() ? look_at_all_as<SparseRow>(rows, squares) : look_at_all_as<DenseRow>(rows, squares);
}

LOPSIDED_ISA_END
