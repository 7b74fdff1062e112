#include "capacity.hpp"

#include "../validate.hpp"

namespace lopsided {

namespace {

constexpr double memory = 4096;  // events
constexpr double slack = 1.0 / 8;  // of the capacity: how far spending may be ahead or behind
constexpr double rescale = 0x1p-32;

}  // namespace

bool Capacity::allows(bool wanted, double gain, double day) {
  arrive(day);
  const std::size_t bin = Calibration::bin(wanted ? gain : -1);
  count(bin);
  const double past = elapsed(day), spent = static_cast<double>(spent_), events = coming(past);
  const bool room = spent + 1 <= alarms_ && spent < alarms_ * (past + slack);
  const bool all_fit = share_from(bin) * events <= left();
  const bool some_fit = spent < alarms_ * past && share_from(bin + 1) * events <= left();
  const bool behind = spent < alarms_ * (past - slack);
  const bool raised = wanted && room && (all_fit || some_fit || behind);
  spent_ += raised;
  ++met_, ++events_;
  return raised;
}

// An event of an earlier day counts for the present one.
void Capacity::arrive(double day) {
  const double today = std::floor(day);
  if (met_ == 0) day_ = today;
  const bool next = daily_ ? today > day_ : static_cast<double>(events_) >= per_;
  if (!next) return;
  usual_ = static_cast<double>(events_);
  events_ = spent_ = 0;
  day_ = today;
}

// The share of the period that has passed: of its events, or, as long as nobody knows how many there are in a day, of
// the hours.
double Capacity::elapsed(double day) const {
  const double events = static_cast<double>(events_);
  if (!daily_) return events / per_;
  if (usual_ > 0) return std::min(1.0, events / usual_);
  return std::clamp(day - day_, 0.0, 1.0);
}

// How many events are still to come in the period, this one included.
double Capacity::coming(double elapsed) const {
  const double events = static_cast<double>(events_);
  if (!daily_) return per_ - events;
  if (usual_ > 0) return std::max(1.0, usual_ - events);
  return std::max(1.0, events * (1 - elapsed) / std::max(elapsed, 0x1p-10));
}

// The share of recent events whose gain is in this bin or a higher one. Gains of at least 0 are the first bins.
double Capacity::share_from(std::size_t bin) const {
  double above = 0, all = 0;
  for (std::size_t k = 0; k < gains_.size(); ++k) {
    all += gains_[k];
    above += k >= bin && k < gains_.size() / 2 ? gains_[k] : 0;
  }
  return above / all;
}

void Capacity::count(std::size_t bin) {
  gains_[bin] += unit_;
  unit_ *= 1 + 1 / memory;
  if (unit_ <= 1 / rescale) return;
  unit_ *= rescale;
  for (double& entry : gains_) entry *= rescale;
}

void Capacity::resume(const std::vector<double>& gains) {
  validate(events_ <= met_ && spent_ <= events_, "capacity.events");
  validate(std::isfinite(day_), "capacity.day");
  validate(usual_ >= 0 && usual_ < 0x1p53, "capacity.usual");
  validate(unit_ >= 0x1p-64 && unit_ <= 1 / rescale, "capacity.unit");
  validate(gains.size() == gains_.size(), "capacity.gains");
  for (const double entry : gains) validate(entry >= 0 && entry < 0x1p100, "capacity.gains");
  std::copy(gains.begin(), gains.end(), gains_.begin());
}

}  // namespace lopsided
