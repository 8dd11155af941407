#include "analysis/calibrate/kernel_rows.hpp"

#include "base/csv.hpp"
#include "profiles/byte_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>

namespace eyeroof::analysis {

namespace {

constexpr std::size_t kMostTableBytes = std::size_t{1} << 30U;
constexpr double kMostSize = 1e12;

// Positions of the columns in a table's rows; -1: it has no such column.
struct KernelColumns {
    std::map<std::string, int, std::less<>> at;
    std::array<int, model::kCallSizes> sizes{};

    explicit KernelColumns(const CsvRecord& header) {
        for (std::size_t i = 0; i < header.cells.size(); ++i) {
            at.emplace(std::string(header.cells[i].text), static_cast<int>(i));
        }
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            sizes[i] = index(model::call_size_name(static_cast<model::CallSize>(i)));
        }
    }
    int index(std::string_view name) const {
        const auto found = at.find(name);
        return found == at.end() ? -1 : found->second;
    }
    static std::string_view text(const CsvRecord& row, int column) {
        const auto i = static_cast<std::size_t>(column);
        return column < 0 || i >= row.cells.size() ? std::string_view{} : row.cells[i].text;
    }
    std::string_view text(const CsvRecord& row, std::string_view name) const {
        return text(row, index(name));
    }
};

std::optional<double> finite_of(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// The types that tell an operator's kernels apart: of the arithmetic, then of what else is stored.
std::string kernel_type_of(const KernelColumns& columns, const CsvRecord& row,
                           model::LibraryKind kind) {
    const auto type = [&](std::string_view column, const std::string& usual) {
        const std::string_view text = columns.text(row, column);
        return text.empty() ? usual : model::call_type(text);
    };
    const std::string own = type("dtype", "bf16");
    const std::string cache = type("kv_dtype", own);
    switch (kind) {
    case model::LibraryKind::attention:
    case model::LibraryKind::latent:
        return own + "/" + cache;
    case model::LibraryKind::block:
        return own + "/" + type("gemm_dtype", own) + "/" + cache;
    case model::LibraryKind::experts: {
        const std::string weight = type("weight_dtype", own);
        const bool blocks = columns.text(row, "scales") == "per_1x128" && own == "fp8";
        return blocks ? "fp8_block" : weight == own ? own : own + "/" + weight;
    }
    case model::LibraryKind::recurrent:
    case model::LibraryKind::streams:
    case model::LibraryKind::cast:
    case model::LibraryKind::product:
    case model::LibraryKind::exchange:
        break;
    }
    return own;
}

class KernelRowReader {
  public:
    KernelRowReader(const KernelColumns& columns, std::string file, const std::string& on,
                    KernelTable& table, Diagnostics& found)
        : columns_(columns), file_(std::move(file)), on_(on), table_(table), found_(found) {}

    void add(const CsvRecord& row) {
        const std::string_view op = columns_.text(row, "op");
        const std::string_view network = columns_.text(row, "network");
        const bool block = !network.empty() && !columns_.at.contains("layer");
        const auto kind = model::library_kind(op, block ? network : std::string_view{});
        if (!kind) {
            ++table_.left_out[std::string(op)];
            return;
        }
        KernelRow out;
        out.line = row.line;
        out.gpu = on_.empty() ? columns_.text(row, "gpu") : on_;
        model::LibraryCall& c = out.call;
        c.op = op;
        c.network = *kind == model::LibraryKind::block ? network : std::string_view{};
        c.type = kernel_type_of(columns_, row, *kind);
        c.library = columns_.text(row, "library");
        c.version = columns_.text(row, "library_version");
        c.kernel = columns_.text(row, "kernel");
        c.distribution = columns_.text(row, "distribution");
        c.eager = columns_.text(row, "note").find("eager") != std::string_view::npos;
        for (std::size_t i = 0; i < model::kCallSizes; ++i) {
            c.sizes[i] = size_of(row, columns_.sizes[i]);
        }
        out.power_w = size_of(row, columns_.index("power_w"));
        if (op == "attention_context" && columns_.text(row, "causal").empty()) {
            c.of(model::CallSize::causal) = 1.0;
        }
        out.measured_s = seconds_of(row);
        table_.rows.push_back(std::move(out));
    }

  private:
    double size_of(const CsvRecord& row, int column) {
        const std::string_view text = KernelColumns::text(row, column);
        if (text.empty()) {
            return 0.0;
        }
        const auto value = finite_of(text);
        if (!value || *value < 0.0 || *value > kMostSize) {
            bad(row, column, "is no size", "a number from 0 to 1e12");
        }
        return value.value_or(0.0);
    }
    double seconds_of(const CsvRecord& row) {
        const int ms = columns_.index("measured_ms");
        const int column = ms >= 0 ? ms : columns_.index("measured_s");
        const std::string_view text = KernelColumns::text(row, column);
        if (text.empty()) {
            return 0.0;
        }
        const auto value = finite_of(text);
        if (!value || *value <= 0.0) {
            bad(row, column, "is no time", "a positive number; leave rows that failed out");
        }
        return value.value_or(0.0) * (ms >= 0 ? 1e-3 : 1.0);
    }
    void bad(const CsvRecord& row, int column, const char* what, const char* hint) {
        const CsvCell& cell = row.cells[static_cast<std::size_t>(column)];
        found_.error("bad-number", fmt::format("'{}' {}", cell.text, what), hint,
                     {file_, cell.line, cell.column});
    }

    const KernelColumns& columns_;
    std::string file_;
    const std::string& on_;
    KernelTable& table_;
    Diagnostics& found_;
};

} // namespace

Result<KernelTable> parse_kernel_rows(const std::string& text, const std::string& file,
                                      const std::string& on) {
    KernelTable table;
    Diagnostics found;
    CsvReader reader(text, file);
    CsvRecord record;
    if (!reader.next(record, found)) {
        found.error("no-rows", "there is no row", "the first line names the columns", {file, 1, 1});
        return found;
    }
    const KernelColumns columns(record);
    for (const char* name : {"op", "gpu", "dtype"}) {
        if (columns.index(name) < 0 && (on.empty() || name != std::string_view("gpu"))) {
            found.error("missing-column", fmt::format("there is no column '{}'", name),
                        "a table of kernels has op, gpu, dtype, library, kernel, measured_ms, and "
                        "the operator's sizes",
                        {file, record.line, 1});
        }
    }
    KernelRowReader rows(columns, file, on, table, found);
    while (!found.has_errors() && reader.next(record, found)) {
        rows.add(record);
    }
    return found.has_errors() ? Result<KernelTable>(found) : Result<KernelTable>(std::move(table));
}

Result<KernelTable> read_kernel_rows(const std::string& file, const std::string& on) {
    auto source = profiles::ByteSource::open(file);
    if (!source) {
        return source.diagnostics();
    }
    std::string text;
    while (text.size() < kMostTableBytes) {
        const std::string_view ahead = (*source)->ahead();
        if (ahead.empty()) {
            break;
        }
        text += ahead;
        (*source)->skip(ahead.size());
    }
    if (!(*source)->failure().empty() || text.size() >= kMostTableBytes) {
        return Result<KernelTable>::failure("not-readable",
                                            file + (text.size() >= kMostTableBytes
                                                        ? " has more than 1 GiB"
                                                        : ": " + (*source)->failure()),
                                            "give a smaller table, or an undamaged one");
    }
    return parse_kernel_rows(text, file, on);
}

namespace {

class KernelErrors {
  public:
    void add_joules(double measured, double predicted) {
        model::LibraryTime joules;
        joules.time_s = predicted;
        add(measured, joules);
    }
    void add(double measured, const model::LibraryTime& t) {
        const double ratio = t.time_s / measured;
        errors_.push_back(std::fabs(ratio - 1.0));
        log_ += std::log(ratio);
        inside_ += measured >= t.low_s && measured <= t.high_s ? 1 : 0;
    }
    ErrorFigures figures() {
        ErrorFigures f;
        f.rows = static_cast<int>(errors_.size());
        const double n = std::max(1.0, static_cast<double>(f.rows));
        for (const double e : errors_) {
            f.mape += e / n;
        }
        const auto middle = errors_.begin() + static_cast<std::ptrdiff_t>(errors_.size() / 2);
        std::nth_element(errors_.begin(), middle, errors_.end());
        f.median = errors_.empty() ? 0.0 : *middle;
        f.bias = std::exp(log_ / n) - 1.0;
        f.coverage = inside_ / n;
        return f;
    }

  private:
    std::vector<double> errors_;
    double log_ = 0.0, inside_ = 0.0;
};

} // namespace

Result<KernelValidation> validate_kernels(const KernelTable& table, const MachineSource& machines,
                                          const KernelSource& kernels) {
    using Key = std::tuple<std::string, std::string, std::string, std::string>;
    struct Known {
        model::Gpu gpu;
        model::MachineKernels kernels;
    };
    std::map<std::string, std::optional<Known>> gpus; // nothing: no GPU
    std::map<Key, KernelErrors> groups;
    KernelErrors all, joules;
    KernelValidation v;
    for (const KernelRow& row : table.rows) {
        auto gpu = gpus.find(row.gpu);
        if (gpu == gpus.end()) {
            auto machine = machines(row.gpu);
            if (!machine) {
                return machine.diagnostics();
            }
            const auto* found = std::get_if<model::Gpu>(&machine->kind);
            gpu = gpus.emplace(row.gpu, std::nullopt).first;
            if (found != nullptr) {
                auto constants = kernels(*found, row.gpu);
                if (!constants) {
                    return constants.diagnostics();
                }
                gpu->second = Known{*found, std::move(*constants)};
            }
        }
        if (!gpu->second) {
            ++v.refused[row.gpu + ", which is no GPU"];
            continue;
        }
        const auto time = model::library_time(gpu->second->gpu, gpu->second->kernels, row.call);
        if (!time) {
            ++v.refused[row.call.op + " " + row.call.type];
            continue;
        }
        if (row.measured_s > 0.0) {
            groups[{row.gpu, row.call.op, row.call.type, row.call.library}].add(row.measured_s,
                                                                                *time);
            all.add(row.measured_s, *time);
            if (row.power_w > 0.0 && time->energy_j > 0.0) {
                joules.add_joules(row.power_w * row.measured_s, time->energy_j);
            }
        }
        v.rows.push_back({&row, *time});
    }
    for (auto& [key, errors] : groups) {
        v.groups.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key),
                            errors.figures()});
    }
    v.all = all.figures();
    v.joules = joules.figures();
    return v;
}

namespace {

std::string figures_text(const ErrorFigures& f) {
    return fmt::format("{:>7} {:>7.1f} {:>7.1f} {:>+7.1f} {:>8.0f}", f.rows, 100.0 * f.mape,
                       100.0 * f.median, 100.0 * f.bias, 100.0 * f.coverage);
}

// Of each kind of call, and how many pairs of machine and type have intervals of the nominal width.
std::string kinds_text(const KernelValidation& v) {
    constexpr int kFewest = 30; // rows of a pair
    constexpr double kLow = 0.70, kHigh = 0.92;
    std::map<std::string_view, KernelErrors> kinds;
    std::map<std::tuple<std::string_view, std::string, std::string>, KernelErrors> pairs;
    for (const PredictedKernel& p : v.rows) {
        const model::LibraryCall& c = p.row->call;
        if (const auto kind = model::library_kind(c.op, c.network); kind && p.row->measured_s > 0) {
            const std::string_view name = model::library_kind_name(*kind);
            kinds[name].add(p.row->measured_s, p.time);
            pairs[{name, p.row->gpu, c.type}].add(p.row->measured_s, p.time);
        }
    }
    std::map<std::string_view, std::pair<int, int>> counts; // within the bounds, all
    for (auto& [key, errors] : pairs) {
        const ErrorFigures f = errors.figures();
        if (f.rows >= kFewest) {
            counts[std::get<0>(key)].first += f.coverage >= kLow && f.coverage <= kHigh ? 1 : 0;
            counts[std::get<0>(key)].second += 1;
        }
    }
    std::string text;
    for (auto& [name, errors] : kinds) {
        text += fmt::format("{:<93} {}", name, figures_text(errors.figures()));
        text += fmt::format("  {} of {} pairs of machine and type 70 to 92\n", counts[name].first,
                            counts[name].second);
    }
    return text;
}

} // namespace

std::string kernels_text(const KernelValidation& v, const KernelTable& table) {
    const auto cells = [](const ErrorFigures& f) { return figures_text(f) + "\n"; };
    std::string text =
        fmt::format("{:<30} {:<28} {:<24} {:<8} {:>7} {:>7} {:>7} {:>7} {:>8}\n", "gpu", "op",
                    "type", "library", "rows", "MAPE %", "median", "bias %", "within %");
    for (const KernelValidation::Group& g : v.groups) {
        text += fmt::format("{:<30} {:<28} {:<24} {:<8} {}", g.gpu, g.op, g.type, g.library,
                            cells(g.figures));
    }
    text += kinds_text(v) + fmt::format("{:<93} {}", "all rows", cells(v.all));
    if (v.joules.rows > 0) {
        text += fmt::format("{:<93} {:>7} {:>7.1f} {:>7.1f} {:>+7.1f}\n",
                            "energy, J, where power was measured", v.joules.rows,
                            100.0 * v.joules.mape, 100.0 * v.joules.median, 100.0 * v.joules.bias);
    }
    for (const auto& [what, rows] : v.refused) {
        text += fmt::format("not answered: {} rows of {}: no library was measured on them\n", rows,
                            what);
    }
    for (const auto& [op, rows] : table.left_out) {
        text += fmt::format("left out: {} rows of '{}', which is no kernel of a serving library\n",
                            rows, op);
    }
    return text;
}

std::string kernels_csv(const KernelValidation& v) {
    std::string text = "line,gpu,op,type,library,kernel,measured_s,predicted_s,low_s,high_s,"
                       "measured_j,predicted_j,constants\n";
    for (const PredictedKernel& p : v.rows) {
        const model::LibraryCall& c = p.row->call;
        text += fmt::format(
            "{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{}\n", p.row->line,
            csv_quoted(p.row->gpu), csv_quoted(c.op), csv_quoted(c.type), csv_quoted(c.library),
            csv_quoted(c.kernel), p.row->measured_s, p.time.time_s, p.time.low_s, p.time.high_s,
            p.row->power_w * p.row->measured_s, p.time.energy_j, csv_quoted(p.time.key));
    }
    return text;
}

} // namespace eyeroof::analysis
