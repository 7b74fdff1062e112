#include "module.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of lopsided.";
  lopsided::bind_rows(m);
  lopsided::bind_model(m);
  lopsided::bind_text(m);
}
