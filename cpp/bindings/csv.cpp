// CSV text to columns, and columns to sparse rows.
#include "../core/input/csv.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "bytes.hpp"
#include "module.hpp"

namespace lopsided {

namespace {

template <class Value>
auto moved(std::vector<Value>&& values) {
  const std::size_t size = values.size();
  return to_numpy<Value>(std::move(values), {size});
}

nb::tuple rows_of(nb::object text, const std::string& delimiter, std::int64_t line, bool ended) {
  const Bytes bytes(text);
  CsvRows rows;
  {
    nb::gil_scoped_release free;
    rows = csv_rows(bytes.text(), delimiter[0], line, ended);
  }
  return nb::make_tuple(moved(std::move(rows.starts)), moved(std::move(rows.ends)), moved(std::move(rows.lines)),
                        rows.taken, rows.lines_taken);
}

void append(nb::list& out, std::string_view text) { out.append(nb::str(text.data(), text.size())); }

nb::list as_list(const CsvTexts& texts) {
  nb::list out;
  std::size_t start = 0;
  for (const std::size_t end : texts.ends) {
    append(out, std::string_view(texts.bytes).substr(start, end - start));
    start = end;
  }
  return out;
}

// A parser with the texts of its columns as lists, which grow as texts are met.
class HeldParser {
 public:
  HeldParser(const std::string& delimiter, std::size_t width, const std::vector<std::size_t>& numbers,
             const std::vector<std::tuple<std::size_t, CsvWords>>& texts, const std::vector<std::size_t>& times,
             const std::vector<std::size_t>& kept, const CsvWords& missing)
      : parser_(delimiter[0], columns(width, numbers, texts, times, kept, missing)), lists_(texts.size()) {}

  nb::tuple parse(nb::object text, Line<std::int64_t> starts, Line<std::int64_t> ends) {
    const Bytes bytes(text);
    const std::size_t rows = starts.size();
    for (std::size_t k = 0; k < rows; ++k)
      if (starts.data()[k] < 0 || starts.data()[k] > ends.data()[k] ||
          ends.data()[k] > static_cast<std::int64_t>(bytes.text().size()))
        throw nb::value_error("rows beyond the text");
    auto& values = parser_.values();
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k].size() <= most_values) continue;
      values[k].clear();
      lists_[k] = nb::list();
    }
    CsvCells cells;
    {
      nb::gil_scoped_release free;
      cells = parser_.parse(bytes.text(), starts.data(), ends.data(), rows);
    }
    nb::list texts, times, kept;
    for (std::size_t k = 0; k < values.size(); ++k) {
      for (std::size_t code = lists_[k].size(); code < values[k].size(); ++code) append(lists_[k], values[k][code]);
      texts.append(nb::make_tuple(moved(std::move(cells.codes[k])), lists_[k]));
    }
    for (auto& column : cells.times) times.append(moved(std::move(column)));
    for (const CsvTexts& column : cells.kept) kept.append(as_list(column));
    const std::size_t width = rows ? cells.numbers.size() / rows : 0;
    nb::list strange;
    for (const auto& [which, row] : cells.strange) strange.append(nb::make_tuple(which, row));
    return nb::make_tuple(to_numpy<double>(std::move(cells.numbers), {rows, width}), texts, times, kept,
                          moved(std::move(cells.unsure)), strange);
  }

 private:
  static constexpr std::size_t most_values = 1 << 16;  // then a list is begun anew

  static std::vector<CsvColumn> columns(std::size_t width, const std::vector<std::size_t>& numbers,
                                        const std::vector<std::tuple<std::size_t, CsvWords>>& texts,
                                        const std::vector<std::size_t>& times, const std::vector<std::size_t>& kept,
                                        const CsvWords& missing) {
    std::vector<CsvColumn> out(width);
    for (CsvColumn& column : out) column.missing = missing;
    for (const std::size_t at : numbers) out.at(at).number = true;
    for (const auto& [at, words] : texts) out.at(at).text = true, out.at(at).missing_text = words;
    for (const std::size_t at : times) out.at(at).time = true;
    for (const std::size_t at : kept) out.at(at).kept = true;
    return out;
  }

  CsvParser parser_;
  std::vector<nb::list> lists_;
};

using Codes = std::tuple<Line<std::int32_t>, Line<std::int32_t>, std::optional<Line<double>>>;

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple find_gaps(Table numbers) {
  const Gaps gaps = gaps_of(numbers.data(), numbers.shape(0), numbers.shape(1));
  return nb::make_tuple(gaps.first, gaps.infinite);
}

nb::tuple one_hot_rows(Table numbers, Line<std::int32_t> places, Line<std::int32_t> indicators,
                       const std::vector<Codes>& texts, const std::vector<std::int32_t>& order, bool indicate) {
  const std::size_t rows = numbers.shape(0), columns = numbers.shape(1);
  if (places.size() != columns || indicators.size() != columns) throw nb::value_error("a place for each column");
  std::vector<OneHotTexts> columns_of_texts;
  for (const auto& [codes, of_codes, amounts] : texts) {
    const std::size_t values = of_codes.size() - 1;
    if (of_codes.size() == 0 || codes.size() != rows || (amounts && amounts->size() != of_codes.size()))
      throw nb::value_error("a code for each row");
    for (std::size_t i = 0; i < rows; ++i)
      if (codes.data()[i] >= static_cast<std::int64_t>(values)) throw nb::value_error("a place for each code");
    columns_of_texts.push_back({codes.data(), of_codes.data(), values, amounts ? amounts->data() : nullptr});
  }
  for (const std::int32_t k : order)
    if (k >= static_cast<std::int64_t>(columns) || -1 - k >= static_cast<std::int64_t>(texts.size()))
      throw nb::value_error("no such column");
  CsrArrays out;
  {
    nb::gil_scoped_release free;
    out = one_hot(rows, {numbers.data(), columns, places.data(), indicators.data()}, columns_of_texts, order, indicate);
  }
  return nb::make_tuple(moved(std::move(out.starts)), moved(std::move(out.indices)), moved(std::move(out.values)));
}

}  // namespace

void bind_csv(nb::module_& m) {
  m.def("csv_rows", &rows_of, nb::arg("text"), nb::arg("delimiter"), nb::arg("first_line"), nb::arg("ended"),
        "The complete rows of a text: their starts, ends and lines, and how many bytes and lines they take.");
  nb::class_<HeldParser>(m, "CsvParser", "Reads the plain cells of CSV text.")
      .def(nb::init<const std::string&, std::size_t, const std::vector<std::size_t>&,
                    const std::vector<std::tuple<std::size_t, CsvWords>>&, const std::vector<std::size_t>&,
                    const std::vector<std::size_t>&, const CsvWords&>(),
           nb::arg("delimiter"), nb::arg("width"), nb::arg("numbers"), nb::arg("texts"), nb::arg("times"),
           nb::arg("kept"), nb::arg("missing"))
      .def("parse", &HeldParser::parse, nb::arg("text"), nb::arg("starts"), nb::arg("ends"),
           "Numbers, texts as codes and values, times, kept texts, rows that are not plain, times that are not.");
  m.def("find_gaps", &find_gaps, nb::arg("numbers"),
        "The first row of each column where a number is missing, or -1; whether any number is infinite.");
  m.def("one_hot", &one_hot_rows, nb::arg("numbers"), nb::arg("places"), nb::arg("indicators"), nb::arg("texts"),
        nb::arg("order"), nb::arg("indicate"), "The three arrays of a CSR matrix.");
}

}  // namespace lopsided
