// Times of whole networks, predicted beside measured, as text, JSON and CSV.
#include "report/calibrate/networks_write.hpp"

#include "analysis/calibrate/networks.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
constexpr double kInPercent = 100.0;

std::string figures_line(const analysis::NetworkFigures& f) {
    return fmt::format("{:<18} {:<10} {:<8} {:>5} {:>7.1f} {:>7.1f} {:>+7.1f} {:>7.0f}\n", f.gpu,
                       f.phase, f.dtype, f.rows, kInPercent * f.mape, kInPercent * f.naive_mape,
                       kInPercent * f.bias, kInPercent * f.inside);
}

Json figures_json(const analysis::NetworkFigures& f) {
    return {{"gpu", f.gpu},   {"phase", f.phase},  {"dtype", f.dtype},
            {"rows", f.rows}, {"mape", f.mape},    {"naive_mape", f.naive_mape},
            {"bias", f.bias}, {"inside", f.inside}};
}

} // namespace

std::string networks_text(const analysis::NetworksValidation& v) {
    std::string text =
        fmt::format("{:<36} {:<16} {:<9} {:>10} {:>10} {:>7} {:>10} {:>10}\n", "network", "gpu",
                    "phase", "measured", "predicted", "error", "host", "kernels");
    for (const analysis::NetworkResult& r : v.rows) {
        text += fmt::format("{:<36} {:<16} {:<9} {:>10} {:>10} {:>+6.1f}% {:>10} {:>10}\n",
                            r.row.network.substr(0, 36), r.row.gpu, r.row.phase,
                            format_si(r.row.measured_s, "s"), format_si(r.predicted_s, "s"),
                            kInPercent * (r.predicted_s / r.row.measured_s - 1.0),
                            format_si(r.host_s, "s"), format_si(r.device_s, "s"));
    }
    text += fmt::format("\n{:<18} {:<10} {:<8} {:>5} {:>7} {:>7} {:>7} {:>7}\n", "gpu", "phase",
                        "dtype", "rows", "error", "naive", "bias", "inside");
    for (const analysis::NetworkFigures& f : v.groups) {
        text += figures_line(f);
    }
    return text + figures_line(v.all);
}

std::string networks_json(const analysis::NetworksValidation& v) {
    Json json = {{"schema", "eyeroof/networks/1"},
                 {"all", figures_json(v.all)},
                 {"groups", Json::array()},
                 {"networks", Json::array()}};
    for (const analysis::NetworkFigures& f : v.groups) {
        json["groups"].push_back(figures_json(f));
    }
    for (const analysis::NetworkResult& r : v.rows) {
        json["networks"].push_back({{"line", r.row.line},
                                    {"network", r.row.network},
                                    {"family", r.row.family},
                                    {"gpu", r.row.gpu},
                                    {"phase", r.row.phase},
                                    {"measured_s", r.row.measured_s},
                                    {"predicted_s", r.predicted_s},
                                    {"low_s", r.low_s},
                                    {"high_s", r.high_s},
                                    {"host_s", r.host_s},
                                    {"device_s", r.device_s},
                                    {"naive_s", r.naive_s}});
    }
    return json_document(json);
}

std::string networks_csv(const analysis::NetworksValidation& v) {
    std::string text = "network,family,gpu,phase,dtype,measured_s,predicted_s,low_s,high_s,host_s,"
                       "device_s,naive_s\n";
    for (const analysis::NetworkResult& r : v.rows) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_quoted(r.row.network),
                            csv_quoted(r.row.family), r.row.gpu, r.row.phase, r.row.dtype,
                            r.row.measured_s, r.predicted_s, r.low_s, r.high_s, r.host_s,
                            r.device_s, r.naive_s);
    }
    return text;
}

} // namespace eyeroof::report
