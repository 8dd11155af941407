// A plain CSV of measurements: a name, a time, and what else is known.
// PlainColumns: "kernel" or "name"; "time_s|ms|us|ns"; optional "layer" (or "range"), "call"
// (rows of one execution of the layer have one number), "stream", "device";
// "flops_<precision>[_tensor]", "bytes_<level>"; every other numeric column is a counter.
#include "profiles/import/csv_table.hpp"
#include "profiles/import/formats.hpp"
#include "profiles/launch_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::profiles {

namespace {

struct TimeColumn {
    std::string_view name;
    double to_ns;
};
constexpr TimeColumn kTimeColumns[] = {{"time_s", 1e9},      {"time_ms", 1e6},
                                       {"time_us", 1e3},     {"time_ns", 1.0},
                                       {"duration_ns", 1.0}, {"duration_us", 1e3}};

struct PlainColumns {
    std::optional<std::size_t> kernel, time, range, call, stream, device;
    double to_ns = 1.0;
};

struct CounterColumn {
    CounterName name;
    std::size_t index = 0;
    bool must_be_number = false;
};

PlainColumns plain_columns(const CsvHeader& header) {
    PlainColumns c;
    c.kernel = header.find({"kernel", "name", "kernel_name"});
    c.range = header.find({"layer", "range"});
    c.call = header.find({"call", "execution"});
    c.stream = header.find({"stream"});
    c.device = header.find({"device"});
    for (const TimeColumn& time : kTimeColumns) {
        if (const auto column = header.find({time.name}); column && !c.time) {
            c.time = column;
            c.to_ns = time.to_ns;
        }
    }
    return c;
}

// "flops_fp16_tensor" -> "flops.fp16.tensor", "bytes_dram" -> "bytes.dram".
std::string neutral_name(std::string name) {
    if (name.starts_with("flops_") || name.starts_with("bytes_")) {
        std::ranges::replace(name, '_', '.');
    }
    return name;
}

class PlainReader {
  public:
    explicit PlainReader(const ImportInput& input) : input_(input) {}

    Result<Profile> run() {
        auto source = input_.open();
        if (!source) {
            return Result<Profile>(source.diagnostics());
        }
        CsvRows reader(**source);
        CsvRow row;
        if (reader.next(row)) {
            header_ = CsvHeader(row.fields);
            columns_ = plain_columns(header_);
            name_counters();
        }
        if (!columns_.kernel || !columns_.time) {
            found_.append(reader.errors());
            found_.error("missing-column",
                         "a column 'kernel' and one of 'time_s', 'time_ms', "
                         "'time_us', 'time_ns' are needed",
                         "docs/formats.md shows such a table", {input_.name, 1, 1});
            return Result<Profile>(std::move(found_));
        }
        if (const auto twice = header_.repeated()) {
            found_.error("two-columns", fmt::format("two columns are named '{}'", *twice),
                         "which one is meant?", row.where);
        }
        while (found_.size() < kMaxErrors && reader.next(row)) {
            read_row(row);
        }
        found_.append(reader.errors());
        if (found_.has_errors()) {
            return Result<Profile>(std::move(found_));
        }
        built_.profile.run.tool = "plain-csv";
        return {std::move(built_.profile), std::move(found_)};
    }

  private:
    void read_row(const CsvRow& row) {
        if (row.fields.size() == 1 && row.fields[0].empty()) {
            return;
        }
        if (row.fields.size() != header_.names().size()) {
            found_.error("bad-row",
                         fmt::format("the row has {} fields, the header {}", row.fields.size(),
                                     header_.names().size()),
                         "put a name with commas in double quotes", row.where);
            return;
        }
        Launch launch;
        launch.counters.reserve(counters_before_);
        launch.source = built_.source(input_.name);
        launch.kernel = built_.kernel(row.fields[*columns_.kernel]);
        launch.range = columns_.range ? built_.range(row.fields[*columns_.range]) : kNone;
        launch.range_call =
            columns_.call ? integer_of(row.fields[*columns_.call]).value_or(kNone) : kNone;
        launch.stream =
            columns_.stream ? integer_of(row.fields[*columns_.stream]).value_or(kNone) : kNone;
        launch.device =
            columns_.device ? integer_of(row.fields[*columns_.device]).value_or(kNone) : kNone;
        const auto time = number_of(row.fields[*columns_.time], NumberStyle::point);
        if (!time || *time < 0.0) {
            found_.error("bad-time", fmt::format("'{}' is not a time", row.fields[*columns_.time]),
                         "a number from 0 on, with a point and no unit", row.where,
                         header_.names()[*columns_.time]);
            return;
        }
        launch.duration_ns = *time * columns_.to_ns;
        for (const CounterColumn& column : counters_) {
            read_counter(row, column, launch);
        }
        counters_before_ = launch.counters.size();
        sums_.add(built_.profile, std::move(launch));
    }

    // The columns that hold counters, in the order of their names.
    void name_counters() {
        for (std::size_t i = 0; i < header_.names().size(); ++i) {
            const auto is = [i](const std::optional<std::size_t>& column) {
                return column && *column == i;
            };
            if (is(columns_.kernel) || is(columns_.time) || is(columns_.range) ||
                is(columns_.call) || is(columns_.stream) || is(columns_.device)) {
                continue;
            }
            std::string name = neutral_name(header_.names()[i]);
            const bool must = name.starts_with("flops.") || name.starts_with("bytes.");
            counters_.push_back({CounterName(name), i, must});
        }
        std::ranges::stable_sort(counters_, {}, [](const CounterColumn& c) -> const std::string& {
            return c.name.text();
        });
    }

    void read_counter(const CsvRow& row, const CounterColumn& column, Launch& launch) {
        const std::string_view text = trimmed(row.fields[column.index]);
        if (text.empty()) {
            return;
        }
        const auto number = number_of(text, NumberStyle::point);
        if (number && (*number >= 0.0 || !column.must_be_number)) {
            launch.counters.set(column.name, *number);
        } else if (column.must_be_number) {
            found_.error(
                "bad-number",
                fmt::format("'{}' is not a number of {}", text, column.name.text().substr(0, 5)),
                "write numbers with a decimal point", row.where, header_.names()[column.index]);
        }
    }

    const ImportInput& input_;
    Diagnostics found_;
    CsvHeader header_{{}};
    PlainColumns columns_;
    std::vector<CounterColumn> counters_;
    ProfileBuilder built_;
    LaunchSums sums_;
    std::size_t counters_before_ = 0; // of the row before
};

class PlainImporter final : public Importer {
  public:
    std::string_view name() const override { return "plain-csv"; }
    std::string_view what() const override {
        return "a CSV with columns kernel, time_us, and optionally layer, flops_fp16, bytes_dram, "
               "…";
    }
    bool recognises(std::string_view head) const override {
        const auto source = ByteSource::of_text(head.substr(0, head.find('\n')), "");
        CsvRows reader(*source);
        CsvRow row;
        if (!reader.next(row)) {
            return false;
        }
        const PlainColumns columns = plain_columns(CsvHeader(row.fields));
        return columns.kernel && columns.time;
    }
    Result<Profile> read(const ImportInput& input) const override {
        return PlainReader(input).run();
    }
};

} // namespace

const Importer& plain_csv_importer() {
    static const PlainImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
