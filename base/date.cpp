#include "base/date.hpp"

#include <array>

namespace eyeroof {

namespace {

namespace chr = std::chrono;

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

bool digit_at(std::string_view text, std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// A number of exactly `digits` digits at a place.
std::optional<int> number_at(std::string_view text, std::size_t at, std::size_t digits) {
    int value = 0;
    for (std::size_t i = at; i < at + digits; ++i) {
        if (!digit_at(text, i)) {
            return std::nullopt;
        }
        value = 10 * value + (text[i] - '0');
    }
    return digit_at(text, at + digits) || (at > 0 && digit_at(text, at - 1)) ? std::nullopt
                                                                             : std::optional(value);
}

// "-09" at a place.
std::optional<int> part_at(std::string_view text, std::size_t at, int most) {
    const auto part =
        at < text.size() && text[at] == '-' ? number_at(text, at + 1, 2) : std::nullopt;
    return part && *part >= 1 && *part <= most ? part : std::nullopt;
}

// The month whose name ends right before the year, such as "May 2026".
std::optional<int> month_before(std::string_view text, std::size_t year_at) {
    for (std::size_t m = 0; year_at > 0 && text[year_at - 1] == ' ' && m < kMonths.size(); ++m) {
        if (text.substr(0, year_at - 1).ends_with(kMonths[m])) {
            return static_cast<int>(m) + 1;
        }
    }
    return std::nullopt;
}

chr::sys_days last_day(int year, int month) {
    return chr::sys_days(chr::year(year) / chr::month(static_cast<unsigned>(month)) / chr::last);
}

std::optional<chr::sys_days> date_at(std::string_view text, std::size_t at) {
    const auto year = number_at(text, at, 4);
    if (!year || *year < 1990 || *year > 2099) {
        return std::nullopt;
    }
    const auto month = part_at(text, at + 4, 12);
    if (!month) {
        return last_day(*year, month_before(text, at).value_or(12));
    }
    const auto day = part_at(text, at + 7, 31);
    const chr::year_month_day whole = chr::year(*year) / chr::month(static_cast<unsigned>(*month)) /
                                      chr::day(static_cast<unsigned>(day.value_or(0)));
    return whole.ok() ? chr::sys_days(whole) : last_day(*year, *month);
}

} // namespace

std::optional<chr::sys_days> date_in(std::string_view text) {
    std::optional<chr::sys_days> last;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (const auto found = date_at(text, at); found && (!last || *found > *last)) {
            last = found;
        }
    }
    return last;
}

chr::sys_days today() {
    return chr::floor<chr::days>(chr::system_clock::now());
}

} // namespace eyeroof
