// Text to blocks of rows, without the interpreter lock.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "../core/input/row_cache.hpp"
#include "arrays.hpp"
#include "bytes.hpp"
#include "module.hpp"

namespace lopsided {

namespace {

LibsvmBlock parse(nb::object text, std::int64_t first_line, Index base, Index max_features, bool labels_required,
                  std::size_t bad_allowed, bool bytewise) {
  const Bytes bytes(text);
  nb::gil_scoped_release free;
  return parse_libsvm(bytes.text(), first_line, {base, max_features, labels_required, bad_allowed, bytewise});
}

// A packed block with the bytes it stands in.
struct HeldBlock {
  HeldBlock(nb::object buffer, std::size_t at) : bytes(buffer), block(at_place(at)) {}

  PackedBlock at_place(std::size_t at) const {
    nb::gil_scoped_release free;
    const std::string_view rest = bytes.text().substr(std::min(at, bytes.text().size()));
    return {rest.data(), rest.size()};
  }

  Bytes bytes;
  PackedBlock block;
};

nb::bytes packed(const LibsvmBlock& block, std::int64_t before) {
  const std::string out = pack(block, before);
  return nb::bytes(out.data(), out.size());
}

template <class Value>
auto copy(const Value* values, std::size_t size) {
  return to_numpy<Value>(std::vector<Value>(values, values + size), {size});
}
template <class Value>
auto copy(const std::vector<Value>& values) {
  return to_numpy<Value>(std::vector<Value>(values), {values.size()});
}

}  // namespace

void bind_text(nb::module_& m) {
  nb::class_<LibsvmBlock>(m, "LibsvmBlock", "The rows of a piece of LIBSVM text.")
      .def_prop_ro(
          "labels", [](const LibsvmBlock& b) { return copy(b.labels); }, nb::rv_policy::move)
      .def_prop_ro(
          "lines", [](const LibsvmBlock& b) { return copy(b.lines); }, nb::rv_policy::move)
      .def_ro("lines_read", &LibsvmBlock::lines_read)
      .def_ro("columns", &LibsvmBlock::columns)
      .def_prop_ro("stored", [](const LibsvmBlock& b) { return b.starts.back(); })
      .def_ro("has_zero", &LibsvmBlock::has_zero)
      .def_ro("labelled", &LibsvmBlock::labelled)
      .def_prop_ro("faults",
                   [](const LibsvmBlock& b) {
                     std::vector<std::tuple<std::int64_t, std::int64_t, nb::bytes, std::string>> out;
                     for (const Fault& f : b.faults)
                       out.emplace_back(f.line, f.column, nb::bytes(f.found.data(), f.found.size()), f.expected);
                     return out;
                   })
      .def(
          "csr",
          [](const LibsvmBlock& b) {
            const auto size = static_cast<std::size_t>(b.starts.back());
            std::vector<Index> indices(b.indices.get(), b.indices.get() + size);
            std::vector<double> values(b.values.get(), b.values.get() + size);
            return nb::make_tuple(copy(b.starts), to_numpy<Index>(std::move(indices), {size}),
                                  to_numpy<double>(std::move(values), {size}));
          },
          "Copies of row starts, indices and values.")
      .def(
          "rows", [](const LibsvmBlock& b, Index columns) { return HeldRows{{}, b.rows(columns)}; }, nb::arg("columns"),
          nb::keep_alive<0, 1>(), "The rows, at least this many columns wide.");
  nb::class_<HeldBlock>(m, "PackedBlock", "Rows where they stand in a file.")
      .def(nb::init<nb::object, std::size_t>(), nb::arg("buffer"), nb::arg("at"))
      .def_prop_ro(
          "labels", [](const HeldBlock& b) { return copy(b.block.labels(), static_cast<std::size_t>(b.block.rows())); },
          nb::rv_policy::move)
      .def_prop_ro(
          "lines", [](const HeldBlock& b) { return copy(b.block.lines()); }, nb::rv_policy::move)
      .def_prop_ro("columns", [](const HeldBlock& b) { return b.block.columns(); })
      .def_prop_ro("labelled", [](const HeldBlock& b) { return b.block.labelled(); })
      .def_prop_ro(
          "size", [](const HeldBlock& b) { return b.block.size(); }, "In bytes.")
      .def(
          "csr",
          [](const HeldBlock& b) {
            const auto stored = static_cast<std::size_t>(b.block.stored());
            const std::vector<std::int64_t> starts(b.block.starts(), b.block.starts() + b.block.rows() + 1);
            return nb::make_tuple(copy(starts), copy(b.block.indices(), stored), copy(b.block.values(), stored));
          },
          "Copies of row starts, indices and values.")
      .def(
          "rows", [](const HeldBlock& b, Index columns) { return HeldRows{{}, b.block.as_rows(columns)}; },
          nb::arg("columns"), nb::keep_alive<0, 1>(), "The rows, at least this many columns wide.");
  m.def("pack", &packed, nb::arg("block"), nb::arg("before"));
  m.def(
      "checksum",
      [](nb::object data) {
        const Bytes bytes(data);
        return checksum(bytes.text().data(), bytes.text().size());
      },
      nb::arg("data"));
  m.def("parse_libsvm", &parse, nb::arg("text"), nb::arg("first_line"), nb::arg("base"), nb::arg("max_features"),
        nb::arg("labels_required"), nb::arg("bad_allowed"), nb::arg("bytewise") = false);
}

}  // namespace lopsided
