// Nsight Compute: `ncu --csv --page raw` (wide: header, units row, a row per launch) and the
// details page or `--metrics` output (long: a row per launch and metric). Times are taken while
// counters are replayed: launches are marked so.
#include "base/ascii.hpp"
#include "profiles/derived_counters.hpp"
#include "profiles/import/counter_units.hpp"
#include "profiles/import/csv_table.hpp"
#include "profiles/import/formats.hpp"
#include "profiles/launch_sums.hpp"
#include "profiles/metric_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace eyeroof::profiles {

namespace {

// A header is the first line that names a launch number and a kernel; what the program and the
// profiler print may stand before it.
bool is_header(std::string_view line) {
    const auto has = [&](const char* part) { return line.find(part) != std::string_view::npos; };
    const bool begins = line.starts_with("\"ID\"") || line.starts_with("ID,");
    const bool of_metrics = has("Metric Name") && (has("Metric Value") || has("Invocations"));
    return (begins && has("Kernel Name")) || of_metrics;
}

// What the details page calls some counters.
struct DisplayName {
    std::string_view shown, counter;
};
constexpr DisplayName kDisplayNames[] = {
    {"Duration", "gpu__time_duration.sum"},
    {"Elapsed Cycles", "sm__cycles_elapsed.max"},
    {"SM Frequency", "sm__cycles_elapsed.avg.per_second"},
    {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
    {"SM Active Cycles", "sm__cycles_active.avg"},
};
// The same name stands for a share of the peak.
constexpr std::string_view kMemoryRate = "Memory Throughput";

// "(256, 1, 1)" -> {256, 1, 1}; nullopt unless there are three whole numbers.
std::optional<Dim3> dim_of(std::string_view text) {
    std::array<std::int64_t, 3> numbers{};
    std::size_t found = 0;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end && found < 3;) {
        const auto [next, error] = std::from_chars(at, end, numbers[found]);
        found += error == std::errc{} ? 1 : 0;
        at = error == std::errc{} ? next : at + 1;
    }
    return found == 3 ? std::optional(Dim3{numbers[0], numbers[1], numbers[2]}) : std::nullopt;
}

constexpr std::string_view kDeviceName = "device__attribute_display_name";

// "sm__cycles_elapsed.max": a number, where it is there. Attributes ("launch__func_cache_config")
// may be words.
bool is_counter(std::string_view name) {
    const std::size_t unit = name.find("__");
    return unit != std::string_view::npos && name.find('.', unit) != std::string_view::npos;
}

// What the profiler writes where a counter was not collected or has no value.
bool is_absent(std::string_view text) {
    const std::string word = lowered(trimmed(text));
    return word.empty() || word.ends_with("n/a") || word == "nan" || word == "-nan";
}

// Whether a number without a unit may be of several.
bool needs_unit(std::string_view name) {
    return is_counter(name) && (name.find("__time_duration") != std::string_view::npos ||
                                name.find("__bytes") != std::string_view::npos);
}

bool looks_numeric(std::string_view text) {
    bool digits = false;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        const bool sign = c == '.' || c == ',' || c == '-' || c == '+' || c == 'e' || c == 'E';
        if (!digit && !sign) {
            return false;
        }
        digits = digits || digit;
    }
    return digits;
}

struct CounterColumns {
    std::optional<std::size_t> id, process, kernel, stream, block, grid, device, cc, host;
    std::optional<std::size_t> section, metric, unit, value; // long form only
    std::optional<std::size_t> invocations;                  // of a summary by kernel
    std::size_t first_metric = 0;                            // wide form only

    bool is_long() const { return metric && value; }
    bool is_summary() const { return !id && invocations && is_long(); }
    // How many fields a row must have so that every column above is one of them.
    std::size_t width() const {
        std::size_t fields = 0;
        for (const auto& column : {id, process, kernel, stream, block, grid, device, cc, host,
                                   section, metric, unit, value, invocations}) {
            fields = std::max(fields, column ? *column + 1 : 0);
        }
        return fields;
    }
};

CounterColumns counter_columns(const CsvHeader& header) {
    CounterColumns c;
    c.id = header.find({"ID"});
    c.process = header.find({"Process ID"});
    c.kernel = header.find({"Kernel Name"});
    c.stream = header.find({"Stream"});
    c.block = header.find({"Block Size"});
    c.grid = header.find({"Grid Size"});
    c.device = header.find({"Device"});
    c.cc = header.find({"CC"});
    c.host = header.find({"Host Name"});
    c.section = header.find({"Section Name"});
    c.metric = header.find({"Metric Name"});
    c.unit = header.find({"Metric Unit"});
    c.value = header.find({"Metric Value"});
    c.invocations = header.find({"Invocations"});
    if (!c.value && c.invocations) {
        c.value = header.find({"Average"});
    }
    for (const auto& column : {c.id, c.process, c.kernel, c.stream, c.block, c.grid, c.device, c.cc,
                               c.host, header.find({"Process Name"}), header.find({"Context"})}) {
        c.first_metric = std::max(c.first_metric, column ? *column + 1 : 0);
    }
    return c;
}

class NcuReader {
    using Number = std::pair<std::string, std::int64_t>; // process and ID of a launch

  public:
    explicit NcuReader(const ImportInput& input) : input_(input) {}

    Result<Profile> run() {
        read_rows();
        if (again_) { // decimals are written with a comma: what was read until that showed is wrong
            built_ = {};
            index_.clear();
            sums_ = {};
            current_ = {};
            last_ = {};
            not_numbers_.clear();
            found_ = {};
            told_units_ = false;
            again_ = false;
            read_rows();
        }
        if (found_.has_errors()) {
            return Result<Profile>(std::move(found_));
        }
        for (const auto& [column, where] : not_numbers_) {
            found_.warning("not-a-number", fmt::format("'{} and was left out", column), {}, where);
        }
        for (Launch& launch : built_.profile.launches) {
            add_derived_counters(launch); // of rows that do not follow each other
        }
        built_.profile.run.tool = "nsight-compute-csv";
        built_.profile.notes.insert(
            built_.profile.notes.begin(),
            "kernel times were taken while counters were replayed: clocks and "
            "caches differ from an ordinary run");
        return {std::move(built_.profile), std::move(found_)};
    }

  private:
    // Opens the file, skips to the header, and reads every row behind it.
    void read_rows() {
        units_.clear();
        auto source = input_.open();
        if (!source) {
            found_.append(source.diagnostics());
            return;
        }
        std::string line;
        bool header_seen = false;
        int skipped = 0;
        while (!header_seen && (*source)->get_line(line)) {
            header_seen = is_header(line);
            ++skipped;
        }
        if (!header_seen) {
            found_.error("no-header", "there is no header line with \"ID\" and \"Kernel Name\"",
                         "write it with ncu --csv --page raw or --page details",
                         {input_.name, skipped, 0});
            return;
        }
        const auto header_text = ByteSource::of_text(line, input_.name);
        CsvRows header_reader(*header_text);
        CsvRow header;
        header_reader.next(header);
        header_ = CsvHeader(header.fields);
        columns_ = counter_columns(header_);
        if ((!columns_.id && !columns_.is_summary()) || !columns_.kernel) {
            found_.error("missing-column", "the columns \"ID\" and \"Kernel Name\" are needed",
                         "write it with ncu --csv --page raw or --page details",
                         {input_.name, skipped, 1});
            return;
        }
        if (const auto twice = header_.repeated()) {
            found_.error("two-columns", fmt::format("two columns are named '{}'", *twice),
                         "which one is meant?", {input_.name, skipped, 1});
            return;
        }
        CsvRows reader(**source);
        CsvRow row;
        order_metrics();
        while (found_.size() < kMaxErrors && !again_ && reader.next(row)) {
            const bool noise = row.fields.size() == 1 || row.fields[0].starts_with("==");
            if (noise || row.fields == header_.names()) { // a header again: of the next process
                continue;
            }
            // Behind the value stand only the columns of rules, which rows of metrics may lack.
            const std::size_t needed =
                columns_.is_long() ? columns_.width() : header_.names().size();
            if (row.fields.size() < needed || row.fields.size() > header_.names().size()) {
                found_.error("bad-row",
                             fmt::format("the row has {} fields, the header {}", row.fields.size(),
                                         header_.names().size()),
                             "the file was cut off, or program output was mixed in", row.where);
                continue;
            }
            read_row(row);
        }
        keep_current();
        found_.append(reader.errors());
    }

    // The metrics of the wide form in the order of their names, which is that of a launch's.
    void order_metrics() {
        metrics_.clear();
        for (std::size_t i = columns_.first_metric; i < header_.names().size(); ++i) {
            metrics_.push_back({CounterName(header_.names()[i]), i});
        }
        std::ranges::stable_sort(
            metrics_, {}, [](const Metric& m) -> const std::string& { return m.name.text(); });
    }

    // Is this number written as the ones before? Until one leaves no doubt the point is assumed.
    bool fits_style(const std::string& text, const std::string& name, const CsvRow& row) {
        const auto style = style_of(text);
        if (!style) {
            return true;
        }
        if (!decided_) {
            decided_ = true;
            again_ = *style != style_;
            style_ = *style;
        } else if (*style != style_ && !mixed_) {
            mixed_ = true;
            found_.error(
                "mixed-numbers",
                fmt::format("'{}' writes its decimals otherwise than the rows before", text),
                "export again with LC_ALL=C", row.where, name);
        }
        return !again_ && !mixed_;
    }

    void read_row(const CsvRow& row) {
        const bool units_row = columns_.id && trimmed(row.fields[*columns_.id]).empty();
        if (units_row) {
            units_ = row.fields;
            return;
        }
        if (units_.empty() && !columns_.is_long()) {
            tell_units(row, "the row of units is missing: times may be ns, us, or ms");
            return;
        }
        Launch* launch = launch_of(row);
        if (launch == nullptr) {
            return;
        }
        if (columns_.is_long()) {
            read_long_metric(row, *launch);
            return;
        }
        for (const auto& [name, i] : metrics_) {
            const std::string_view unit = i < units_.size() ? units_[i] : std::string_view{};
            add_counter(name, unit, row.fields[i], row, *launch);
        }
    }

    // Once a file: what follows is missing for the same reason.
    void tell_units(const CsvRow& row, const std::string& what) {
        if (!std::exchange(told_units_, true)) {
            found_.error("no-units", what,
                         "ncu --import r.ncu-rep --csv --page raw --print-units base", row.where);
        }
    }

    void read_long_metric(const CsvRow& row, Launch& launch) {
        const std::string& shown = row.fields[*columns_.metric];
        if (shown.empty()) {
            return; // a row of a rule
        }
        std::string name = shown;
        if (shown.find("__") == std::string::npos) {
            const auto it = std::ranges::find(kDisplayNames, shown, &DisplayName::shown);
            const std::string section = columns_.section ? row.fields[*columns_.section] : "";
            name = it != std::end(kDisplayNames) ? std::string(it->counter)
                                                 : fmt::format("{}: {}", section, shown);
        }
        const std::string_view unit =
            columns_.unit ? row.fields[*columns_.unit] : std::string_view{};
        // The same display name stands for a percentage and for a rate.
        const bool twice =
            unit != "%" && launch.counters.contains(name) && name.find(": ") != std::string::npos;
        add_counter(CounterName(twice ? fmt::format("{} [{}]", name, unit) : name), unit,
                    row.fields[*columns_.value], row, launch);
        // As a rate it is the memory's, which other pages call by the counter's own name.
        constexpr std::string_view rate = "dram__bytes.sum.per_second";
        if (shown == kMemoryRate && unit.find('/') != std::string_view::npos &&
            !launch.counters.contains(rate)) {
            add_counter(CounterName(rate), unit, row.fields[*columns_.value], row, launch);
        }
    }

    // The launch of this row, made when its number is new.
    Launch* launch_of(const CsvRow& row) {
        const std::string_view process =
            columns_.process ? row.fields[*columns_.process] : std::string_view{};
        const auto id =
            columns_.id ? integer_of(row.fields[*columns_.id]) : std::optional(summed_id(row));
        if (!id) {
            found_.error("bad-number",
                         fmt::format("'{}' is not a launch number", row.fields[*columns_.id]),
                         "ncu numbers launches from 0", row.where, "ID");
            return nullptr;
        }
        if (current_ && last_.first == process && last_.second == *id) {
            return &*current_;
        }
        Number number{std::string(process), *id};
        if (const auto known = index_.find(number); known != index_.end()) {
            return &built_.profile.launches[known->second];
        }
        const std::size_t counters = current_ ? current_->counters.size() : 0;
        keep_current();
        last_ = std::move(number);
        Launch& launch = current_.emplace();
        launch.counters.reserve(counters);
        launch.source = built_.source(input_.name);
        launch.kernel = built_.kernel(row.fields[*columns_.kernel]);
        launch.under_replay = true;
        if (columns_.is_summary()) {
            launch.calls = std::max<std::int64_t>(
                integer_of(row.fields[*columns_.invocations]).value_or(1), 1);
        }
        read_place(row, launch);
        return &launch;
    }

    // A summary has no numbers: a kernel of one size is one row for each metric.
    std::int64_t summed_id(const CsvRow& row) {
        std::string key;
        for (const auto& column :
             {columns_.kernel, columns_.block, columns_.grid, columns_.device, columns_.stream}) {
            key += (column ? row.fields[*column] : std::string()) + '\0';
        }
        return summaries_.try_emplace(key, static_cast<std::int64_t>(summaries_.size()))
            .first->second;
    }

    // Rows of one launch follow each other, or find it again until launches are summed.
    void keep_current() {
        if (!current_) {
            return;
        }
        add_derived_counters(*current_);
        sums_.add(built_.profile, *std::exchange(current_, std::nullopt));
        if (sums_.sums()) {
            index_.clear();
        } else {
            index_.emplace(std::move(last_), built_.profile.launches.size() - 1);
        }
    }

    void read_place(const CsvRow& row, Launch& launch) {
        const auto dim = [&](std::optional<std::size_t> column, Dim3& value) {
            if (!column) {
                return;
            }
            const auto read = dim_of(row.fields[*column]);
            if (!read) {
                found_.error(
                    "bad-size",
                    fmt::format("'{}' is not a size in three directions", row.fields[*column]),
                    "as in (128, 1, 1)", row.where, header_.names()[*column]);
            }
            value = read.value_or(value);
        };
        const auto whole = [&](std::optional<std::size_t> column, std::int64_t& value) {
            value = column ? integer_of(row.fields[*column]).value_or(kNone) : kNone;
        };
        dim(columns_.grid, launch.grid);
        dim(columns_.block, launch.block);
        whole(columns_.stream, launch.stream);
        whole(columns_.device, launch.device);
        if (columns_.cc) {
            built_.profile.run.compute_capability = row.fields[*columns_.cc];
        }
        if (columns_.host) {
            built_.profile.run.host = row.fields[*columns_.host];
        }
    }

    void add_counter(const CounterName& counter, std::string_view unit, const std::string& text,
                     const CsvRow& row, Launch& launch) {
        const std::string& name = counter.text();
        if (name == kDeviceName) {
            built_.profile.run.gpu = text;
            return;
        }
        const auto whole = whole_number_of(text);
        if (!whole && !looks_numeric(text)) {
            if (const std::string plain = without_blanks(text);
                plain != text && looks_numeric(plain)) {
                return add_counter(counter, unit, plain, row, launch);
            }
            if (name == kTimeCounter && !is_absent(text)) {
                found_.error("bad-time", fmt::format("'{}' is no time", text.substr(0, 40)),
                             "export the report again", row.where, name);
            } else if (is_counter(name) && !is_absent(text)) {
                not_numbers_.try_emplace(fmt::format("{}' holds text that is no number", name),
                                         row.where);
            }
            return; // attributes, and what was not collected
        }
        if (!whole && !fits_style(text, name, row)) {
            return; // the rows are read once more
        }
        if (unit.empty() && needs_unit(name)) {
            tell_units(row,
                       fmt::format("'{}' has no unit: it may be ns, us, ms, bytes, or kB", name));
            return;
        }
        const auto factor = factor_of(unit);
        const auto number = whole ? whole : number_of(text, style_);
        if (!number || !factor) {
            not_numbers_.try_emplace(
                factor ? fmt::format("{}' holds text that is no number", name)
                       : fmt::format("{}' has a unit that is not known, '{}',", name, unit),
                row.where);
            return;
        }
        const double each = *number * *factor;
        const auto calls = static_cast<double>(launch.calls); // of a summary, that has means
        launch.counters.set(counter, is_amount(name) ? each * calls : each);
        if (name == kTimeCounter) {
            launch.duration_ns = each * calls;
        }
    }

    std::optional<double> factor_of(std::string_view unit) {
        if (unit != unit_) {
            unit_ = unit;
            factor_ = base_factor(unit);
        }
        return factor_;
    }

    const ImportInput& input_;
    Diagnostics found_;
    CsvHeader header_{{}};
    CounterColumns columns_;
    std::vector<std::string> units_;
    struct Metric {
        CounterName name;
        std::size_t column = 0;
    };
    std::vector<Metric> metrics_; // of the wide form
    NumberStyle style_ = NumberStyle::point;
    bool decided_ = false; // a number has shown the style
    bool again_ = false;
    bool mixed_ = false;
    bool told_units_ = false;
    std::map<std::string, std::int64_t> summaries_; // numbers of a summary's kernels
    std::string unit_;                              // the last one, and its factor
    std::optional<double> factor_ = base_factor("");
    ProfileBuilder built_;
    LaunchSums sums_;
    std::optional<Launch> current_;       // whose rows are being read
    Number last_;                         // of the current one
    std::map<Number, std::size_t> index_; // launches before it
    std::map<std::string, SourceLocation> not_numbers_;
};

class NcuCsvImporter final : public Importer {
  public:
    std::string_view name() const override { return "nsight-compute-csv"; }
    std::string_view what() const override {
        return "Nsight Compute CSV: ncu --import r.ncu-rep --csv --page raw --print-units base";
    }
    bool recognises(std::string_view head) const override {
        for (std::size_t at = 0; at < head.size();) {
            const std::size_t end = std::min(head.find('\n', at), head.size());
            if (is_header(head.substr(at, end - at))) {
                return true;
            }
            at = end + 1;
        }
        return false;
    }
    Result<Profile> read(const ImportInput& input) const override { return NcuReader(input).run(); }
};

} // namespace

const Importer& ncu_csv_importer() {
    static const NcuCsvImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
