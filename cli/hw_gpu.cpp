// How a GPU, or a host processor, is shown by hw list and hw show.
#include "analysis/step/pruning.hpp"
#include "base/units.hpp"
#include "cli/hw_parts.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

using model::DataType;
using model::Gpu;
using Json = nlohmann::ordered_json;

namespace {

std::string rate_text(const Gpu& gpu, DataType type) {
    const model::Rate& rate = gpu.rate(type);
    return rate.pipe == model::Pipe::none ? "-" : format_si(rate.flops_per_s, "FLOP/s");
}

// A published number, or "not published".
std::string known(double value, std::string_view unit, bool binary = false) {
    if (value <= 0.0) {
        return "not published";
    }
    return binary ? format_iec(value, unit) : format_si(value, unit, 4);
}

Json known_json(double value) {
    return value > 0.0 ? Json(value) : Json(nullptr);
}

const char* pipe_name(model::Pipe pipe) {
    return pipe == model::Pipe::tensor ? "tensor" : "vector";
}

std::string rates_text(const Gpu& gpu) {
    std::string text = "\n  peak rates, dense (a MAC is two operations):\n";
    for (const std::string_view name : model::data_type_names()) {
        const DataType type = *model::data_type_from_name(name);
        if (gpu.rate(type).pipe != model::Pipe::none) {
            text += fmt::format("    {:<6} {:>13}  {} units, ridge at {:.4g} FLOP per DRAM byte\n",
                                name, rate_text(gpu, type), pipe_name(gpu.rate(type).pipe),
                                model::ridge_flop_per_byte(gpu, type));
        }
    }
    return text;
}

} // namespace

std::string gpu_heading() {
    return fmt::format("{:>13}  {:>13}  {:>9}", "fp32", "fp16", "DRAM");
}

std::string gpu_columns(const Gpu& gpu) {
    return fmt::format("{:>13}  {:>13}  {:>9}", rate_text(gpu, DataType::fp32),
                       rate_text(gpu, DataType::fp16), format_si(gpu.dram_bytes_per_s, "B/s"));
}

std::string gpu_text(const Gpu& gpu) {
    const auto line = [](const char* name, const std::string& value) {
        return fmt::format("  {:<22} {}\n", name, value);
    };
    const bool nvidia = gpu.vendor == "NVIDIA";
    std::string text = line(nvidia ? "SMs" : "compute units",
                            fmt::format("{} with {} fp32 lanes each", gpu.sms, gpu.fp32_lanes));
    text += line("clocks", fmt::format("{} base, {} boost{}", known(gpu.base_hz, "Hz"),
                                       known(gpu.boost_hz, "Hz"),
                                       gpu.tensor_hz > 0.0
                                           ? ", " + known(gpu.tensor_hz, "Hz") + " for tensor peaks"
                                           : std::string{}));
    text += line("DRAM", fmt::format("{} at {}", known(gpu.dram_bytes, "B"),
                                     known(gpu.dram_bytes_per_s, "B/s")));
    text += line("L2", known(gpu.l2_bytes, "B", true));
    text += line(nvidia ? "shared memory per SM" : "shared memory per CU",
                 known(gpu.shared_bytes_per_sm, "B", true));
    text += line(nvidia ? "registers per SM" : "registers per CU",
                 known(gpu.registers_bytes_per_sm, "B", true));
    text += line("board power", known(gpu.tdp_w, "W"));
    return text + rates_text(gpu);
}

Json gpu_json(const Gpu& gpu) {
    Json json = {{"vendor", gpu.vendor},
                 {"architecture", std::string(model::gpu_arch_name(gpu.arch))},
                 {"launch_year", gpu.launch_year},
                 {"units", gpu.sms},
                 {"fp32_lanes_per_unit", gpu.fp32_lanes},
                 {"base_clock_hz", known_json(gpu.base_hz)},
                 {"boost_clock_hz", known_json(gpu.boost_hz)},
                 {"tensor_clock_hz", known_json(gpu.tensor_hz)},
                 {"dram_bytes", known_json(gpu.dram_bytes)},
                 {"dram_bytes_per_s", known_json(gpu.dram_bytes_per_s)},
                 {"l2_bytes", known_json(gpu.l2_bytes)},
                 {"l2_bytes_per_s", known_json(gpu.l2_bytes_per_s)},
                 {"near_l2_bytes_per_s", known_json(gpu.near_l2_bytes_per_s)},
                 {"shared_bytes_per_unit", known_json(gpu.shared_bytes_per_sm)},
                 {"registers_bytes_per_unit", known_json(gpu.registers_bytes_per_sm)},
                 {"tdp_w", known_json(gpu.tdp_w)},
                 {"peaks", Json::array()}};
    for (const std::string_view name : model::data_type_names()) {
        const DataType type = *model::data_type_from_name(name);
        const model::Rate& rate = gpu.rate(type);
        if (rate.pipe != model::Pipe::none) {
            const double ridge = rate.flops_per_s / gpu.dram_bytes_per_s;
            const bool halves = analysis::step::serves_two_of_four(gpu, type);
            json["peaks"].push_back(
                {{"data_type", std::string(name)},
                 {"flops_per_s", rate.flops_per_s},
                 {"units", pipe_name(rate.pipe)},
                 {"flops_per_byte", known_json(ridge)},
                 {"flops_per_byte_2_of_4", known_json(halves ? 2.0 * ridge : 0.0)}});
        }
    }
    return json;
}

} // namespace eyeroof::cli
