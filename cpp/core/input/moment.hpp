// Times as text: dates and times of day in the forms of ISO 8601 that people use, and seconds since 1970.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "number.hpp"

namespace lopsided {

inline constexpr double far_moment = 1e11;  // seconds, the year 5138; as milliseconds it is 1973

// Days since 1970 of a date of the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
inline std::int64_t days_since_1970(std::int64_t year, int month, int day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// Reads that many digits at p, -1 if there are others.
inline int read_few(const char* p, int count) {
  int value = 0;
  for (int k = 0; k < count; ++k) {
    if (!is_digit(p[k])) return -1;
    value = 10 * value + (p[k] - '0');
  }
  return value;
}

// Reads a text as a whole: false if it is none of 2026-01-31, 2026-01-31T08:15, 2026-01-31 08:15:30,
// 2026-01-31T08:15:30.25, each of the latter with Z, +01:00 or +0100, and a number of seconds. One that is far off is
// NaN.
inline bool read_moment(const char* p, const char* end, double& out) {
  if (end - p < 10 || p[4] != '-') {
    if (p == end || *p == '+' || read_number(p, end, out) != end) return false;
    if (!(std::fabs(out) <= far_moment)) out = std::nan("");
    return true;
  }
  const int year = read_few(p, 4), month = read_few(p + 5, 2), day = read_few(p + 8, 2);
  if (year < 1 || month < 1 || month > 12 || p[7] != '-' || day < 1) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const int longest = month == 2 ? 28 + leap : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
  if (day > longest) return false;
  std::int64_t seconds = 86400 * days_since_1970(year, month, day), micro = 0;
  p += 10;
  if (p < end) {
    if ((*p != 'T' && *p != ' ') || end - p < 6 || p[3] != ':') return false;
    const int hour = read_few(p + 1, 2), minute = read_few(p + 4, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
    seconds += 3600 * hour + 60 * minute;
    p += 6;
    if (end - p >= 3 && *p == ':') {
      const int second = read_few(p + 1, 2);
      if (second < 0 || second > 59) return false;
      seconds += second;
      p += 3;
      if (p < end && *p == '.') {
        int scale = 1'000'000;
        for (++p; p < end && is_digit(*p); ++p) {
          if (scale == 1) return false;  // finer than microseconds
          micro = 10 * micro + (*p - '0');
          scale /= 10;
        }
        if (scale == 1'000'000) return false;
        micro *= scale;
      }
    }
    if (end - p == 1 && *p == 'Z') {
      ++p;
    } else if (p < end && (*p == '+' || *p == '-')) {
      const bool colon = end - p == 6 && p[3] == ':';
      if (!colon && end - p != 5) return false;
      const int hours = read_few(p + 1, 2), minutes = read_few(p + (colon ? 4 : 3), 2);
      if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
      seconds += (*p == '+' ? -1 : 1) * (3600 * hours + 60 * minutes);
      p = end;
    }
  }
  out = static_cast<double>(1'000'000 * seconds + micro) / 1e6;
  return p == end;
}

}  // namespace lopsided
