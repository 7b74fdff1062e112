// Events as JSON in the form that most have. Everything else, and everything that is wrong, is left to a decoder that
// knows all forms and has words for errors: nothing is read here that it would refuse or read otherwise.
#include <cmath>
#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>

#include "../core/input/number.hpp"
#include "module.hpp"
#include "numbers.hpp"

namespace lopsided {

namespace {

// A place in a text that ends with a character which is no part of JSON.
class Cursor {
 public:
  Cursor(std::string_view text, bool lines) : at(text.data()), end(text.data() + text.size()), lines_(lines) {}

  // A line of its own ends at its end.
  void skip_blanks() {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || (*at == '\n' && !lines_))) ++at;
  }
  bool take(char c) {
    skip_blanks();
    if (at == end || *at != c) return false;
    ++at;
    return true;
  }
  // The text of a string without escapes, behind its first quotation mark.
  bool string(std::string_view& out) {
    const char* const first = at;
    while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
    out = {first, static_cast<std::size_t>(at - first)};
    return at < end && *at++ == '"';
  }
  // A number as JSON has them.
  bool number(double& out) {
    const char* const first = at;
    const char* const digit = at + (at < end && *at == '-');
    if (digit == end || !is_digit(*digit) || (*digit == '0' && digit + 1 < end && is_digit(digit[1]))) return false;
    const char* point = digit;
    while (point < end && is_digit(*point)) ++point;
    const bool fraction = point < end && *point == '.';
    if (fraction && (point + 1 == end || !is_digit(point[1]))) return false;
    at = read_number(first, end, out);
    if (out == 0) return fraction ? at - first < 5 : at - first == 1;  // 0, 0.0, -0.0: the others are rare
    return std::isfinite(out) && (at > point || point - digit <= 15);  // long integers are read otherwise
  }
  // What stands up to a character, and that character if it is to be `kept`.
  bool upto(std::string_view ends, bool kept, std::string_view& out) {
    const char* const first = at;
    while (at < end && ends.find(*at) == std::string_view::npos && *at != '\n') ++at;
    if (at == end || *at == '\n') return false;
    at += kept;
    out = {first, static_cast<std::size_t>(at - first)};
    return true;
  }

  const char* at;
  const char* const end;

 private:
  bool lines_;
};

nb::object text_of(std::string_view utf8) {
  nb::object out = nb::steal(PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "strict"));
  if (!out.is_valid()) PyErr_Clear();
  return out;
}

std::string_view text_of(const nb::bytes& body) { return {body.c_str(), body.size()}; }

class JsonEvents {
 public:
  JsonEvents(nb::object event, nb::object time, nb::object costs, nb::object show)
      : event_(std::move(event)), others_{std::move(time), std::move(costs), std::move(show)} {}

  // One event; None if it needs a closer look.
  nb::object one(const nb::bytes& body, bool keyed) {
    Cursor text(text_of(body), false);
    nb::object found = event(text, keyed);
    text.skip_blanks();
    return found.is_valid() && text.at == text.end ? found : nb::none();
  }

  // {"events": [...]}; None if it needs a closer look.
  nb::object several(const nb::bytes& body, bool keyed, std::size_t most) {
    Cursor text(text_of(body), false);
    std::string_view name;
    if (!text.take('{') || !text.take('"') || !text.string(name) || name != "events") return nb::none();
    if (!text.take(':') || !text.take('[')) return nb::none();
    nb::list out;
    do {
      nb::object found = event(text, keyed);
      if (!found.is_valid() || out.size() == most) return nb::none();
      out.append(std::move(found));
    } while (text.take(','));
    if (!text.take(']') || !text.take('}')) return nb::none();
    text.skip_blanks();
    return text.at == text.end ? nb::object(out) : nb::none();
  }

  // An event a line; None if one of them needs a closer look.
  nb::object lines(const nb::bytes& body) {
    Cursor text(text_of(body), true);
    nb::list out;
    for (;; ++text.at) {
      text.skip_blanks();
      if (text.at == text.end) return out;
      if (*text.at == '\n') continue;
      nb::object found = event(text, true);
      if (!found.is_valid()) return nb::none();
      out.append(std::move(found));
      text.skip_blanks();
      if (text.at == text.end) return out;
      if (*text.at != '\n') return nb::none();
    }
  }

 private:
  // No object if it needs a closer look.
  nb::object event(Cursor& text, bool keyed) {
    PyObject* parts[5] = {};  // as the event has them: key, features, and the others
    nb::object held[5];
    if (!text.take('{')) return {};
    do {
      std::string_view name;
      if (!text.take('"') || !text.string(name) || !text.take(':')) return {};
      const std::size_t k = place_of(name);
      if (k == 5 || held[k].is_valid()) return {};
      text.skip_blanks();
      held[k] = k == 0 ? key(text) : k == 1 ? features(text) : other(text, others_[k - 2]);
      if (!held[k].is_valid()) return {};
    } while (text.take(','));
    if (!text.take('}') || !held[1].is_valid() || (keyed && !held[0].is_valid())) return {};
    for (std::size_t k = 0; k < 5; ++k) parts[k] = held[k].is_valid() ? held[k].ptr() : Py_None;
    nb::object out = nb::steal(PyObject_Vectorcall(event_.ptr(), parts, 5, nullptr));
    if (!out.is_valid()) throw nb::python_error();
    return out;
  }

  static std::size_t place_of(std::string_view name) {
    static constexpr std::string_view names[] = {"key", "features", "time", "costs", "show"};
    std::size_t k = 0;
    while (k < 5 && names[k] != name) ++k;
    return k;
  }

  static nb::object key(Cursor& text) {
    std::string_view found;
    if (!text.take('"') || !text.string(found)) return {};
    nb::object out = text_of(found);
    if (!out.is_valid() || python::length_of(out.ptr()) < 1 || python::length_of(out.ptr()) > longest_key) return {};
    return out;
  }

  // A member that is small and rare enough to be decoded by its own decoder.
  static nb::object other(Cursor& text, const nb::object& decode) {
    std::string_view found;
    const bool braces = text.at < text.end && *text.at == '{';
    if (!text.upto(braces ? "}" : ",}", braces, found)) return {};
    try {
      return decode(nb::bytes(found.data(), found.size()));
    } catch (const nb::python_error&) {
      return {};
    }
  }

  // Numbers, or a dict where some are texts or true or false.
  nb::object features(Cursor& text) {
    if (!text.take('{')) return {};
    auto names = std::exchange(names_, {});  // another thread may come while objects are made
    const auto give_back = [&] { names_ = std::move(names); };
    std::shared_ptr<const Shape> shape = shape_;
    std::vector<double> values;
    std::vector<nb::object> others;  // by place, where it is no number
    names.clear();
    if (shape) values.reserve(shape->texts.size());
    bool known = true, good = true;
    if (!text.take('}')) {
      do {
        const std::size_t k = names.size();
        const std::string_view usual = known && shape && k < shape->texts.size() ? shape->texts[k] : std::string_view{};
        good = text.take('"');
        if (good && usual.data() && static_cast<std::size_t>(text.end - text.at) > usual.size() &&
            text.at[usual.size()] == '"' && std::memcmp(text.at, usual.data(), usual.size()) == 0) {
          names.push_back(usual);
          text.at += usual.size() + 1;
        } else {
          known = false;
          names.emplace_back();
          good = good && text.string(names.back());
        }
        good = good && text.take(':') && value(text, values, others) && names.size() <= most_names;
      } while (good && text.take(','));
      good = good && text.take('}');
    }
    nb::object out;
    if (good && (!known || !shape || names.size() != shape->texts.size())) shape = shape_of(names);
    if (good && shape) {
      shape_ = shape;
      Numbers found{shape, std::move(values)};
      out = others.empty() ? nb::cast(std::move(found)) : mixed(found, others);
    }
    give_back();
    return out;
  }

  static bool value(Cursor& text, std::vector<double>& values, std::vector<nb::object>& others) {
    text.skip_blanks();
    values.push_back(0);
    if (text.at == text.end) return false;
    if (*text.at == '-' || is_digit(*text.at)) return text.number(values.back());
    nb::object found;
    std::string_view string;
    if (*text.at == '"') {
      ++text.at;
      if (text.string(string)) found = text_of(string);
    } else if (text.end - text.at >= 4 && std::memcmp(text.at, "true", 4) == 0) {
      text.at += 4;
      found = nb::bool_(true);
    } else if (text.end - text.at >= 5 && std::memcmp(text.at, "false", 5) == 0) {
      text.at += 5;
      found = nb::bool_(false);
    }
    others.resize(values.size());
    others.back() = std::move(found);
    return others.back().is_valid();
  }

  static nb::object mixed(const Numbers& numbers, const std::vector<nb::object>& others) {
    nb::dict out = numbers.dict();
    for (std::size_t k = 0; k < others.size(); ++k)
      if (others[k].is_valid()) out[numbers.shape->names[k]] = others[k];
    return out;
  }

  // Null if a name comes twice or is no text.
  std::shared_ptr<const Shape> shape_of(std::span<const std::string_view> names) {
    std::string all;
    for (const std::string_view name : names) all.append(name).push_back('"');
    if (all.size() > longest_names) return nullptr;
    if (const auto found = shapes_.find(all); found != shapes_.end()) return found->second;
    auto made = std::make_shared<Shape>();
    for (const std::string_view name : names) {
      PyObject* text = text_of(name).release().ptr();
      if (!text) return nullptr;
      PyUnicode_InternInPlace(&text);
      const nb::object held = nb::steal(text);
      made->texts.emplace_back(name);
      made->names.append(held);
      made->blank[held] = nb::none();
    }
    if (nb::len(made->blank) != names.size()) return nullptr;
    if (shapes_.size() >= most_shapes) shapes_.clear();
    return shapes_[all] = made;
  }

  static constexpr Py_ssize_t longest_key = 200;
  static constexpr std::size_t most_names = 1024, longest_names = 1 << 16, most_shapes = 64;

  nb::object event_;
  nb::object others_[3];  // decoders of time, costs and what is shown
  std::shared_ptr<const Shape> shape_;  // of the event before
  std::unordered_map<std::string, std::shared_ptr<const Shape>> shapes_;
  std::vector<std::string_view> names_;  // kept for its capacity
};

}  // namespace

void bind_json(nb::module_& m) {
  nb::class_<Numbers>(m, "Numbers", "The features of an event, all of them numbers.")
      .def("__len__", [](const Numbers& n) { return n.values.size(); })
      .def_prop_ro(
          "names", [](const Numbers& n) { return n.shape->names; }, "The same list for all that have these names.")
      .def("dict", &Numbers::dict, "The features as a dict.")
      .def("packed", &Numbers::packed, "The values as an array of MessagePack.");
  nb::class_<JsonEvents>(m, "JsonEvents", "Reads events as JSON in the form that most have.")
      .def(nb::init<nb::object, nb::object, nb::object, nb::object>(), nb::arg("event"), nb::arg("time"),
           nb::arg("costs"), nb::arg("show"),
           "The type of events, and decoders of those members that are not read here.")
      .def("one", &JsonEvents::one, nb::arg("body"), nb::arg("keyed"), "One event; None if it needs a closer look.")
      .def("several", &JsonEvents::several, nb::arg("body"), nb::arg("keyed"), nb::arg("most"),
           "The events of {\"events\": [...]}; None if that needs a closer look.")
      .def("lines", &JsonEvents::lines, nb::arg("body"),
           "The events of lines; None if one of them needs a closer look.");
}

}  // namespace lopsided
