// How many alarms may be raised in a period: those of the highest gain, spread over the period, and never too many.
//
// An alarm is raised if there is room for all coming events of its gain or a higher one, as far as recent events tell.
// Where there is room for a part of those of its gain, it is raised if less is spent than the share of the period that
// has passed. Gains are kept as a histogram of the bins of Calibration. Spending is at most an eighth of the capacity
// ahead of the period; where it is more than that behind, as gains were higher lately than they are now, any alarm that
// is wanted is raised.
#pragma once

#include <array>

#include "../base.hpp"
#include "calibration.hpp"

namespace lopsided {

class Capacity {
 public:
  bool on() const { return std::isfinite(alarms_); }
  double left() const { return std::max(0.0, alarms_ - static_cast<double>(spent_)); }

  // Whether an alarm is raised about an event that has arrived. `wanted`: if there were no limit. `day`: when, with the
  // time of day as its fraction.
  bool allows(bool wanted, double gain, double day);

  void options(auto&& visit) {
    visit("capacity", alarms_);
    visit("capacity_per", per_);
    visit("capacity_daily", daily_);
  }
  void state(auto&& visit) {
    if (!on()) return;
    visit("capacity.met", met_);
    visit("capacity.events", events_);
    visit("capacity.spent", spent_);
    visit("capacity.day", day_);
    visit("capacity.usual", usual_);
    visit("capacity.unit", unit_);
    std::vector<double> gains(gains_.begin(), gains_.end());
    visit("capacity.gains", gains);
    resume(gains);
  }

 private:
  void arrive(double day);
  double elapsed(double day) const;
  double coming(double elapsed) const;
  double share_from(std::size_t bin) const;
  void count(std::size_t bin);
  void resume(const std::vector<double>& gains);

  double alarms_ = std::numeric_limits<double>::infinity();  // in a period
  double per_ = 0;  // events in a period, unless it is a day
  bool daily_ = false;
  Count met_ = 0, events_ = 0, spent_ = 0;  // events in all, and in this period
  double day_ = 0;  // with which the period began
  double usual_ = 0;  // events of the period before; 0: there was none
  std::array<double, Calibration::bins> gains_{};  // recent events count more
  double unit_ = 1;
};

}  // namespace lopsided
