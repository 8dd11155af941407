// Amounts as users type them: money, prices of a unit, shares, times, rates. Read by the options
// of `upgrade` and by fleet files, so that both take the same spellings.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace eyeroof::analysis {

// Each error is "bad-amount": the text, what it should be, and spellings that are read.
Result<double> parse_usd(std::string_view text); // "30000", "30k", "$30,000"; >= 0
// A price of one `unit` ("h", "kWh", "month"), with the unit or without: "0.12", "$0.12/kWh"; >= 0
Result<double> parse_usd_per(std::string_view text, std::string_view unit);
Result<double> parse_share(std::string_view text);  // "70 %", "0.7"; above 0, at most 1
Result<double> parse_years(std::string_view text);  // "3", "3 years", "36 months"; to 100
Result<double> parse_days(std::string_view text);   // "14d", "2 weeks", "36 h"; above 0
Result<double> parse_rate(std::string_view text);   // "820/s", "50k/min"; above 0, a second
Result<double> parse_watts(std::string_view text);  // "20 kW", "700W"; above 0
Result<double> parse_number(std::string_view text); // "1.3e9", "50M", "1.4"; above 0
// "$95,169", and with two decimals "$2.53".
std::string in_dollars(double amount, int decimals = 0);
std::string price_text(double usd); // with cents below $10
// CO2 of a kWh of electricity, kg; >= 0: "0.4", "56 g/kWh", or a country: "France".
Result<double> parse_co2(std::string_view text);

} // namespace eyeroof::analysis
