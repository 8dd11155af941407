#include "base/units.hpp"
#include "hwdb/gpu_reader.hpp"
#include "hwdb/yaml_write.hpp"

#include <fmt/format.h>

#include <map>

namespace eyeroof::hwdb {

using model::Gpu;

namespace {

constexpr int kExactDigits = 15;

std::string si(double value, std::string_view unit) {
    const std::string text = format_si(value, unit, kExactDigits);
    const auto back = parse_quantity(text, unit, "a number");
    return back && *back == value ? text : fmt::format("{} {}", value, unit);
}

// Lines under one key, each number with its own source where it has one.
class Lines {
  public:
    explicit Lines(const ProvenanceMap& provenance) : provenance_(provenance) {
        for (const auto& [field, entry] : provenance) {
            names_.emplace(entry.source, fmt::format("s{}", names_.size() + 1));
        }
    }

    void plain(const std::string& key, const std::string& text) {
        out_ += std::string(path_.empty() ? 0 : 2, ' ') + key + ":" +
                (text.empty() ? "" : " " + text) + "\n";
    }
    void under(const std::string& key) {
        path_.clear();
        plain(key, "");
        path_ = key;
        source_of(key);
    }
    void top() { path_.clear(); }
    // Zero stands for "not published" and is left out.
    void number(const std::string& key, double value, const std::string& text,
                const std::string& more = {}) {
        if (value == 0.0) {
            return;
        }
        const auto own = provenance_.find(path_.empty() ? key : path_ + "." + key);
        const bool sourced = own != provenance_.end();
        if (!sourced && more.empty()) {
            return plain(key, text);
        }
        plain(key, fmt::format("{{value: {}{}{}}}", text, more,
                               sourced ? fmt::format(", source: {}, confidence: {}",
                                                     names_.at(own->second.source),
                                                     confidence_name(own->second.confidence))
                                       : std::string{}));
    }
    // Whether the number has a source of its own.
    bool has_own(const std::string& key) const { return provenance_.contains(path_ + "." + key); }
    void sources() {
        if (!names_.empty()) {
            under("sources");
            for (const auto& [text, name] : names_) {
                plain(name, yaml_quoted(text));
            }
            top();
        }
        source_of("");
    }
    std::string text() && { return std::move(out_); }

  private:
    void source_of(const std::string& field) {
        if (const auto own = provenance_.find(field); own != provenance_.end()) {
            plain("source", names_.at(own->second.source));
            plain("confidence", confidence_name(own->second.confidence));
        }
    }

    const ProvenanceMap& provenance_;
    std::map<std::string, std::string> names_;
    std::string out_, path_;
};

void write_processor(Lines& lines, const Gpu& gpu) {
    lines.number("sms", gpu.sms, std::to_string(gpu.sms));
    lines.number("fp32_lanes", gpu.fp32_lanes, std::to_string(gpu.fp32_lanes));
    lines.under("clocks");
    lines.number("base", gpu.base_hz, si(gpu.base_hz, "Hz"));
    lines.number("boost", gpu.boost_hz, si(gpu.boost_hz, "Hz"));
    lines.number("tensor", gpu.tensor_hz, si(gpu.tensor_hz, "Hz"));
    lines.under("peaks");
    for (const std::string_view name : model::data_type_names()) {
        const auto type = *model::data_type_from_name(name);
        const model::Rate& rate = gpu.rate(type);
        std::string more = rate.pipe == model::Pipe::tensor ? ", pipe: tensor" : ", pipe: vector";
        const bool explained = lines.has_own(std::string(name));
        more += explained || peak_fits(gpu, type) ? "" : ", note: not SMs x FLOP a cycle x clock";
        lines.number(std::string(name), rate.flops_per_s, si(rate.flops_per_s, "FLOP/s"), more);
    }
}

void write_memory(Lines& lines, const Gpu& gpu) {
    lines.under("dram");
    if (gpu.memory_type != model::MemoryType::unknown) {
        lines.plain("type", std::string(model::memory_type_name(gpu.memory_type)));
    }
    lines.number("capacity", gpu.dram_bytes, si(gpu.dram_bytes, "B"));
    lines.number("bandwidth", gpu.dram_bytes_per_s, si(gpu.dram_bytes_per_s, "B/s"));
    if (gpu.l2_bytes > 0.0 || gpu.l2_bytes_per_s > 0.0) {
        lines.under("l2");
        lines.number("capacity", gpu.l2_bytes, si(gpu.l2_bytes, "B"));
        lines.number("bandwidth", gpu.l2_bytes_per_s, si(gpu.l2_bytes_per_s, "B/s"));
        lines.number("near_bandwidth", gpu.near_l2_bytes_per_s, si(gpu.near_l2_bytes_per_s, "B/s"));
    }
    lines.under("sm");
    lines.number("shared_memory", gpu.shared_bytes_per_sm, si(gpu.shared_bytes_per_sm, "B"));
    lines.number("registers", gpu.registers_bytes_per_sm, si(gpu.registers_bytes_per_sm, "B"));
    lines.number("max_threads", gpu.max_threads_per_sm, std::to_string(gpu.max_threads_per_sm));
    if (gpu.pcie_bytes_per_s > 0.0 || gpu.link_bytes_per_s > 0.0) {
        lines.under("links");
        lines.number("pcie", gpu.pcie_bytes_per_s, si(gpu.pcie_bytes_per_s, "B/s"));
        lines.number("peer", gpu.link_bytes_per_s, si(gpu.link_bytes_per_s, "B/s"));
    }
    lines.top();
    lines.number("tdp", gpu.tdp_w, si(gpu.tdp_w, "W"));
}

void write_issue(Lines& lines, const model::HostIssue& issue) {
    if (!issue.known()) {
        return;
    }
    lines.under("issue");
    lines.number("call", issue.call_s, si(issue.call_s, "s"));
    lines.number("gradient", issue.gradient_s, si(issue.gradient_s, "s"));
    lines.number("launch", issue.launch_s, si(issue.launch_s, "s"));
    lines.number("graph", issue.node_s, si(issue.node_s, "s"));
    const auto seconds = [&](const char* key, double value) {
        if (value > 0.0) {
            lines.number(key, value, si(value, "s"));
        }
    };
    seconds("latency", issue.latency_s);
    seconds("compiled", issue.compiled_s);
    seconds("replay", issue.replay_s);
    if (const model::CallWeights& w = issue.weights; w != model::CallWeights{}) {
        lines.number("conv", w.conv, fmt::format("{}", w.conv));
        lines.number("gemm", w.gemm, fmt::format("{}", w.gemm));
        lines.number("norm", w.norm, fmt::format("{}", w.norm));
        lines.number("reduction", w.reduction, fmt::format("{}", w.reduction));
        lines.number("pool", w.pool, fmt::format("{}", w.pool));
    }
    lines.top();
}

void write_prices(Lines& lines, const model::GpuPrice& price) {
    if (!price.buy_usd && !price.usd_per_hour_low && !price.usd_per_hour_high) {
        return;
    }
    lines.under("prices");
    const auto usd = [&](const char* key, const std::optional<double>& value) {
        if (value) {
            lines.number(key, *value, fmt::format("{}", *value));
        }
    };
    usd("buy_usd", price.buy_usd);
    usd("usd_per_hour_low", price.usd_per_hour_low);
    usd("usd_per_hour_high", price.usd_per_hour_high);
}

} // namespace

std::string write_gpu(const model::Machine& machine, const std::string& id,
                      const std::string& calibrated_as) {
    const auto& gpu = std::get<Gpu>(machine.kind);
    Lines lines(machine.provenance);
    const bool host = gpu.arch == model::GpuArch::host;
    lines.plain("eyeroof", "machine/1");
    lines.plain("kind", host ? "host" : "gpu");
    lines.plain("id", yaml_quoted(id));
    lines.plain("name", yaml_quoted(machine.name));
    lines.plain("summary", yaml_quoted(machine.summary));
    if (calibrated_as != id) {
        lines.plain("calibration", yaml_quoted(calibrated_as));
    }
    lines.plain("vendor", yaml_quoted(gpu.vendor));
    if (!host) {
        lines.plain("architecture", std::string(gpu_arch_name(gpu.arch)));
    }
    if (!gpu.compute_capability.empty()) {
        lines.plain("compute_capability", yaml_quoted(gpu.compute_capability));
    }
    if (gpu.launch_year > 0) {
        lines.plain("launch_year", std::to_string(gpu.launch_year));
    }
    lines.sources();
    write_processor(lines, gpu);
    write_memory(lines, gpu);
    write_issue(lines, gpu.issue);
    write_prices(lines, gpu.price);
    return std::move(lines).text();
}

} // namespace eyeroof::hwdb
