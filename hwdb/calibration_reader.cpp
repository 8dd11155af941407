#include "hwdb/calibration_reader.hpp"

#include "base/pattern.hpp"
#include "base/text_file.hpp"
#include "hwdb/yaml_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>

namespace eyeroof::hwdb {

using model::KernelClass;

namespace {

constexpr std::pair<std::string_view, int> kCalibrationFormats[] = {{"gpu-calibration/1", 1}};
constexpr std::pair<std::string_view, Confidence> kFittedFrom[] = {
    {"fitted", Confidence::fitted},
    {"measured", Confidence::measured},
    {"recalled", Confidence::recalled},
    {"user", Confidence::user}};
constexpr double kMost = 1e18;
// Classes that a GPU's own file need not have: those of carried-over.yaml stand for them.
constexpr KernelClass kFusedClasses[] = {KernelClass::attention, KernelClass::grouped};

bool is_fused(KernelClass c) {
    return std::find(std::begin(kFusedClasses), std::end(kFusedClasses), c) !=
           std::end(kFusedClasses);
}

// Whether a file may lack a term: where its standard value means *none* (0), so that files written
// before the term keep their meaning, and for two terms whose standard value stands for them.
bool is_optional(std::string_view name, double standard) {
    constexpr std::array<std::string_view, 2> kLater = {"cast_cycles", "fused_cast_s"};
    return standard == 0.0 || std::ranges::find(kLater, name) != kLater.end();
}

void read_terms(const Node& node, KernelClass c, const std::map<std::string, double*>& terms) {
    for (const std::string& name : model::unused_terms(c)) {
        static_cast<void>(node[name]); // known, and without effect
    }
    static_cast<void>(node["transpose_share"]); // of files written before layout passes had tiles
    for (const auto& [name, target] : terms) {
        if (const Node value = is_optional(name, *target) ? node[name] : node.need(name)) {
            *target = value.number(0.0, 1e6).value_or(*target);
            if (const model::TermBound bound = model::term_bound(name);
                !model::within(bound, *target)) {
                value.error("bad-term",
                            fmt::format("{} is {:g}, which its name does not allow", name, *target),
                            fmt::format("{:g} to {:g}: {}", bound.low, bound.high, bound.meaning));
            }
        }
    }
}

void read_launch(const Node& node, model::LaunchSeconds& launch) {
    for (std::size_t i = 0; i < launch.size(); ++i) {
        const Node value = node.need(model::timing_name(static_cast<model::Timing>(i)));
        launch[i] = value.quantity<Seconds>(Zero::allowed).value_or(Seconds{}).value;
    }
}

void read_error(const Node& node, model::ErrorBand& band) {
    band.low = node.need("low").number(1e-3, 1.0).value_or(band.low);
    band.high = node.need("high").number(1.0, 1e3).value_or(band.high);
    band.mape = node.need("mape").number(0.0, 10.0).value_or(band.mape);
    band.median = node.need("median").number(0.0, 10.0).value_or(band.median);
    band.rows = static_cast<int>(node.need("rows").integer({0, 1 << 30}).value_or(0));
    band.basis = node.need("basis").text().value_or("");
}

void read_domain(const Node& node, model::Domain& domain) {
    domain.flops_low = node.need("flops_low").number(0.0, kMost).value_or(0.0);
    domain.flops_high = node.need("flops_high").number(0.0, kMost).value_or(kMost);
    domain.bytes_low = node.need("bytes_low").number(0.0, kMost).value_or(0.0);
    domain.bytes_high = node.need("bytes_high").number(0.0, kMost).value_or(kMost);
}

// Year, month, day; empty where there is none.
std::string read_date(const Node& node) {
    static const Pattern date = *Pattern::compile("^[0-9]{4}-[0-9]{2}-[0-9]{2}$");
    const std::string text = node.text().value_or("");
    if (!text.empty() && !date.found_in(text)) {
        node.error("bad-date", fmt::format("\"{}\" is not a date", text), "such as 2026-11-22");
    }
    return text;
}

void read_class(const Node& node, KernelClass c, CalibrationFile& file) {
    model::ClassRecord& record = file.calibration.record(c);
    record.provenance.source = node.need("source").text().value_or("");
    record.provenance.confidence =
        node.need("confidence").choice(kFittedFrom, "confidence").value_or(Confidence::user);
    const auto at = static_cast<std::size_t>(c);
    file.dates[at] = read_date(node["date"]);
    record.measured = node.need("measured_here").boolean().value_or(false);
    file.measures_clock[at] =
        node["sustained_clock_given"].boolean().value_or(false) || record.measured;
    read_terms(node.need("terms"), c, model::calibration_terms(file.calibration, c));
    read_launch(node.need("launch"), record.launch);
    read_error(node.need("error"), record.band);
    record.kinds.clear();
    if (const Node kinds = node["error_by_kind"]) {
        for (const auto& [kind, error] : kinds.entries()) {
            read_error(error, record.kinds[kind]);
        }
    }
    read_domain(node.need("domain"), record.domain);
    record.binds.clear();
    if (const Node binds = node["binds"]) {
        for (const auto& [part, share] : binds.entries()) {
            record.binds[part] = share.number(0.0, 1.0).value_or(0.0);
        }
    }
}

std::string error_text(const std::string& key, const model::ErrorBand& e) {
    return fmt::format(
        "    {}: {{low: {:.4g}, high: {:.4g}, mape: {:.4g}, median: {:.4g}, rows: {}, "
        "basis: {}}}\n",
        key, e.low, e.high, e.mape, e.median, e.rows, yaml_quoted(e.basis));
}

std::string class_text(const CalibrationFile& file, KernelClass c) {
    CalibrationFile copy = file;
    const model::ClassRecord& record = file.calibration.record(c);
    const auto at = static_cast<std::size_t>(c);
    std::string text = fmt::format("  {}:\n    source: {}\n    confidence: {}\n",
                                   kernel_class_name(c), yaml_quoted(record.provenance.source),
                                   confidence_name(record.provenance.confidence));
    text += file.dates[at].empty() ? "" : fmt::format("    date: {}\n", file.dates[at]);
    text += fmt::format("    measured_here: {}\n", record.measured);
    text += file.measures_clock[at] && !record.measured ? "    sustained_clock_given: true\n" : "";
    text += "    terms:\n";
    for (const auto& [name, value] : model::calibration_terms(copy.calibration, c)) {
        text += fmt::format("      {}: {}\n", name, *value);
    }
    const auto& l = record.launch;
    text += fmt::format("    launch: {{eager: {:.15g} us, stream: {:.15g} us, kernel: {:.15g} us, "
                        "graph: {:.15g} us}}\n",
                        l[0] * 1e6, l[1] * 1e6, l[2] * 1e6, l[3] * 1e6);
    text += error_text("error", record.band);
    text += record.kinds.empty() ? "" : "    error_by_kind:\n";
    for (const auto& [kind, error] : record.kinds) {
        text += "  " + error_text(yaml_scalar(kind), error);
    }
    std::string binds;
    for (const auto& [part, share] : record.binds) {
        binds += fmt::format("{}{}: {:.4g}", binds.empty() ? "" : ", ", yaml_scalar(part), share);
    }
    text += binds.empty() ? "" : fmt::format("    binds: {{{}}}\n", binds);
    const auto& d = record.domain;
    return text + fmt::format("    domain: {{flops_low: {:.3g}, flops_high: {:.3g}, bytes_low: "
                              "{:.3g}, bytes_high: {:.3g}}}\n",
                              std::min(d.flops_low, kMost), std::min(d.flops_high, kMost),
                              std::min(d.bytes_low, kMost), std::min(d.bytes_high, kMost));
}

// The data type whose pipe a class keeps busy, for the power that its clock is under.
model::DataType busy_type(KernelClass c) {
    const bool tensor = c != KernelClass::linear && c != KernelClass::batched &&
                        c != KernelClass::conv && c != KernelClass::memory;
    return tensor ? model::DataType::fp16 : model::DataType::fp32;
}

model::MatmulTerms* matmul_part(model::GpuCalibration& calibration, KernelClass c) {
    switch (c) {
    case KernelClass::linear:
        return &calibration.linear;
    case KernelClass::batched:
        return &calibration.batched;
    case KernelClass::tensor_gemm:
        return &calibration.tensor_gemm;
    case KernelClass::conv:
        return &calibration.conv.matmul;
    case KernelClass::tensor_conv:
        return &calibration.tensor_conv.matmul;
    case KernelClass::memory:
    case KernelClass::attention:
    case KernelClass::grouped:
        return nullptr;
    }
    return nullptr;
}

} // namespace

Result<CalibrationFile> read_calibration(Document& document, const std::string& id) {
    const Node root = document.root();
    root.need("eyeroof").choice(kCalibrationFormats, "format of this file");
    CalibrationFile file;
    file.id = root["id"].text().value_or(id);
    const Node classes = root.need("classes");
    for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
        const auto c = static_cast<KernelClass>(i);
        const std::string_view name = model::kernel_class_name(c);
        if (const Node node =
                is_fused(c) ? classes[name] : classes.need(name)) { // else the standard
            read_class(node, c, file);
        }
    }
    return document.conclude(std::move(file));
}

std::string write_calibration(const CalibrationFile& file) {
    std::string text =
        fmt::format("eyeroof: gpu-calibration/1\nid: {}\nclasses:\n", yaml_scalar(file.id));
    for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
        const auto c = static_cast<KernelClass>(i);
        if (!is_fused(c) || !file.calibration.record(c).provenance.source.empty()) {
            text += class_text(file, c);
        }
    }
    return text;
}

void apply_calibration(const CalibrationFile& file, model::Gpu& gpu) {
    gpu.calibration = file.calibration;
    for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
        const auto c = static_cast<KernelClass>(i);
        model::MatmulTerms* terms = matmul_part(gpu.calibration, c);
        if (terms != nullptr && !file.measures_clock[i]) {
            terms->sustained_clock = model::sustained_clock_share(gpu, busy_type(c));
        }
    }
}

namespace {

std::optional<std::filesystem::path> nearest_calibration(const std::string& id, Folders folders) {
    return nearest_file(folders, std::filesystem::path("calibration") / (id + ".yaml"));
}

// The file's constants. A file whose text is that of the last time is not parsed again: a machine
// and the hosts that could run it name the same constants many times.
Result<CalibrationFile> read_file(const std::filesystem::path& path, const std::string& id) {
    struct Known {
        std::string text;
        Result<CalibrationFile> file;
    };
    static std::mutex mutex;
    static std::map<std::pair<std::filesystem::path, std::string>, Known> known;
    auto text = read_text_file(path);
    if (!text) {
        return text.diagnostics();
    }
    const std::scoped_lock lock(mutex);
    const auto at = known.find({path, id});
    if (at != known.end() && at->second.text == *text) {
        return at->second.file;
    }
    auto document = parse_yaml(*text, path.string());
    auto file = document ? read_calibration(*document, id)
                         : Result<CalibrationFile>(document.diagnostics());
    known.insert_or_assign({path, id}, Known{*std::move(text), file});
    return file;
}

// Classes that the GPU's own file does not contain, from the nearest folder's carried-over.yaml.
Diagnostics add_fused(model::Gpu& gpu, Folders folders) {
    const auto path = nearest_calibration(std::string(kCarriedOver), folders);
    if (!path) {
        return {};
    }
    auto file = read_file(*path, kCarriedOver);
    if (!file) {
        return file.diagnostics();
    }
    for (const KernelClass c : kFusedClasses) {
        if (gpu.calibration.record(c).provenance.source.empty()) {
            const auto common = model::calibration_terms(file->calibration, c);
            for (const auto& [name, term] : model::calibration_terms(gpu.calibration, c)) {
                *term = *common.at(name);
            }
            gpu.calibration.record(c) = file->calibration.record(c);
        }
    }
    return {};
}

} // namespace

Result<CalibrationFile> load_calibration(const std::string& id, Folders folders) {
    for (const std::string& name : {id, std::string(kCarriedOver)}) {
        if (const auto path = nearest_calibration(name, folders)) {
            return read_file(*path, name);
        }
    }
    return CalibrationFile{};
}

Result<model::Gpu> with_calibration(model::Gpu gpu, const std::string& id, Folders folders) {
    const auto file = load_calibration(id, folders);
    if (!file) {
        return file.diagnostics();
    }
    if (file->id.empty()) {
        return gpu;
    }
    apply_calibration(*file, gpu);
    if (auto found = add_fused(gpu, folders); found.has_errors()) {
        return found;
    }
    return gpu;
}

} // namespace eyeroof::hwdb
