// rocprofv3: kernel_trace CSV (times) and counter_collection CSV (a row per launch and counter).
// Grid_Size counts work-items: blocks are work-items over the workgroup's size.
#include "base/checked.hpp"
#include "profiles/derived_counters.hpp"
#include "profiles/import/csv_table.hpp"
#include "profiles/import/formats.hpp"
#include "profiles/launch_sums.hpp"

#include <fmt/format.h>

#include <map>

namespace eyeroof::profiles {

namespace {

using Column = std::optional<std::size_t>;

struct RocprofColumns {
    Column kernel, dispatch, correlation, agent, queue, stream, start, end, counter, value;
    Column grid[3], group[3];
    Column flat_grid, flat_group;
};

RocprofColumns rocprof_columns(const CsvHeader& header) {
    RocprofColumns c;
    c.kernel = header.find({"Kernel_Name", "KernelName"});
    if (header.find({"BeginNs"})) { // rocprof and rocprofv2
        c.start = header.find({"BeginNs"});
        c.end = header.find({"EndNs"});
        c.agent = header.find({"gpu-id"});
        c.queue = header.find({"queue-id"});
        c.flat_grid = header.find({"grd"});
        c.flat_group = header.find({"wgr"});
        return c;
    }
    c.dispatch = header.find({"Dispatch_Id"});
    c.correlation = header.find({"Correlation_Id"});
    c.agent = header.find({"Agent_Id"});
    c.queue = header.find({"Queue_Id"});
    c.stream = header.find({"Stream_Id"});
    c.start = header.find({"Start_Timestamp"});
    c.end = header.find({"End_Timestamp"});
    c.counter = header.find({"Counter_Name"});
    c.value = header.find({"Counter_Value"});
    c.grid[0] = header.find({"Grid_Size_X"});
    c.grid[1] = header.find({"Grid_Size_Y"});
    c.grid[2] = header.find({"Grid_Size_Z"});
    c.group[0] = header.find({"Workgroup_Size_X"});
    c.group[1] = header.find({"Workgroup_Size_Y"});
    c.group[2] = header.find({"Workgroup_Size_Z"});
    c.flat_grid = header.find({"Grid_Size"});
    c.flat_group = header.find({"Workgroup_Size"});
    return c;
}

class RocprofReader {
  public:
    explicit RocprofReader(const ImportInput& input) : input_(input) {}

    Result<Profile> run() {
        auto source = input_.open();
        if (!source) {
            return Result<Profile>(source.diagnostics());
        }
        CsvRows reader(**source);
        CsvRow row;
        if (reader.next(row)) {
            width_ = row.fields.size();
            const CsvHeader header(row.fields);
            columns_ = rocprof_columns(header);
            check_columns(row);
            if (const auto twice = header.repeated()) {
                found_.error("two-columns", fmt::format("two columns are named '{}'", *twice),
                             "which one is meant?", row.where);
            }
        }
        while (found_.size() < kMaxErrors && !stop_ && reader.next(row)) {
            read_row(row);
        }
        keep_current();
        found_.append(reader.errors());
        if (found_.has_errors()) {
            return Result<Profile>(std::move(found_));
        }
        for (Launch& launch : built_.profile.launches) {
            add_derived_counters(launch); // of rows that do not follow each other
        }
        built_.profile.run.tool = "rocprofv3-csv";
        return {std::move(built_.profile), std::move(found_)};
    }

  private:
    void check_columns(const CsvRow& header) {
        const bool timed = columns_.start && columns_.end;
        const bool counted = columns_.counter && columns_.value;
        stop_ = !columns_.kernel || (!timed && !counted);
        if (stop_) {
            found_.error("missing-column",
                         "columns Kernel_Name and either Start_Timestamp with End_Timestamp or "
                         "Counter_Name with Counter_Value are needed",
                         "this is not a kernel trace or counter collection", header.where);
        }
    }

    void read_row(const CsvRow& row) {
        if (row.fields.size() == 1 && row.fields[0].empty()) {
            return;
        }
        if (row.fields.size() != width_) {
            found_.error(
                "bad-row",
                fmt::format("the row has {} fields, the header {}", row.fields.size(), width_),
                "the file was cut off", row.where);
            return;
        }
        Launch& launch = launch_of(row);
        if (columns_.start && columns_.end) {
            const auto start = whole(row, columns_.start, "Start_Timestamp");
            const auto end = whole(row, columns_.end, "End_Timestamp");
            if (start && end && (*start < 0 || *end < *start)) {
                found_.error("bad-time", "the kernel ends before it starts",
                             "write the trace again", row.where);
            } else if (start && end) {
                launch.start_ns = *start;
                launch.duration_ns = static_cast<double>(*end - *start);
            }
        }
        if (columns_.counter && columns_.value) {
            const auto value = number_of(row.fields[*columns_.value], NumberStyle::point);
            if (value) {
                launch.counters[row.fields[*columns_.counter]] = *value;
            } else {
                found_.error(
                    "bad-number", fmt::format("'{}' is not a number", row.fields[*columns_.value]),
                    "rocprofv3 writes counters as plain numbers", row.where, "Counter_Value");
            }
        }
    }

    std::optional<std::int64_t> whole(const CsvRow& row, Column column, const char* name) {
        const auto value = integer_of(row.fields[*column]);
        if (!value) {
            found_.error("bad-number",
                         fmt::format("'{}' is not a whole number", row.fields[*column]),
                         "rocprofv3 writes plain whole numbers", row.where, name);
        }
        return value;
    }

    // Rows of the counter collection share a launch where dispatch and agent agree. Once launches
    // are summed, they must follow each other.
    Launch& launch_of(const CsvRow& row) {
        const Column id = columns_.dispatch ? columns_.dispatch : columns_.correlation;
        std::string key;
        if (columns_.counter && id) {
            key = row.fields[*id] + "|" + (columns_.agent ? row.fields[*columns_.agent] : "");
            if (current_ && key == current_key_) {
                return *current_;
            }
            if (const auto known = index_.find(key); known != index_.end()) {
                return built_.profile.launches[known->second];
            }
        }
        keep_current();
        current_key_ = std::move(key);
        Launch& launch = current_.emplace();
        launch.source = built_.source(input_.name);
        launch.kernel = built_.kernel(row.fields[*columns_.kernel]);
        launch.stream = id_of(row, columns_.stream ? columns_.stream : columns_.queue);
        launch.device = id_of(row, columns_.agent);
        read_size(row, launch);
        return launch;
    }

    void keep_current() {
        if (!current_) {
            return;
        }
        add_derived_counters(*current_);
        sums_.add(built_.profile, *std::exchange(current_, std::nullopt));
        if (sums_.sums()) {
            index_.clear();
        } else if (!current_key_.empty()) {
            index_.emplace(std::move(current_key_), built_.profile.launches.size() - 1);
        }
    }

    // "4" or, in newer versions, "Agent 4".
    static std::int64_t id_of(const CsvRow& row, Column column) {
        if (!column) {
            return kNone;
        }
        const std::string_view text = row.fields[*column];
        const std::size_t digit = text.find_first_of("0123456789");
        return digit == std::string_view::npos ? kNone
                                               : integer_of(text.substr(digit)).value_or(kNone);
    }

    void read_size(const CsvRow& row, Launch& launch) {
        std::int64_t* const blocks[] = {&launch.grid.x, &launch.grid.y, &launch.grid.z};
        std::int64_t* const threads[] = {&launch.block.x, &launch.block.y, &launch.block.z};
        for (int i = 0; i < 3; ++i) {
            const Column grid = i == 0 && !columns_.grid[0] ? columns_.flat_grid : columns_.grid[i];
            const Column group =
                i == 0 && !columns_.group[0] ? columns_.flat_group : columns_.group[i];
            const std::int64_t items = grid ? integer_of(row.fields[*grid]).value_or(0) : 1;
            const std::int64_t size = group ? integer_of(row.fields[*group]).value_or(0) : 1;
            if (items < 0 || size < 1) {
                found_.error("bad-size", "grid or workgroup is not a size",
                             "sizes are whole numbers from 1 on", row.where);
                return;
            }
            *threads[i] = size;
            *blocks[i] = ceil_div(items, size);
        }
    }

    const ImportInput& input_;
    Diagnostics found_;
    RocprofColumns columns_;
    std::size_t width_ = 0;
    bool stop_ = false;
    ProfileBuilder built_;
    LaunchSums sums_;
    std::optional<Launch> current_; // whose rows are being read
    std::string current_key_;
    std::map<std::string, std::size_t> index_; // launches before it, by their keys
};

class RocprofImporter final : public Importer {
  public:
    std::string_view name() const override { return "rocprofv3-csv"; }
    std::string_view what() const override {
        return "rocprofv3 CSV: rocprofv3 --kernel-trace (or --pmc …) --output-format csv -- ./app";
    }
    bool recognises(std::string_view head) const override {
        const std::string_view line = head.substr(0, head.find('\n'));
        const auto has = [&](std::string_view text) {
            return line.find(text) != std::string_view::npos;
        };
        return (has("Kernel_Name") && (has("Start_Timestamp") || has("Counter_Name"))) ||
               (has("KernelName") && has("BeginNs") && has("EndNs"));
    }
    Result<Profile> read(const ImportInput& input) const override {
        return RocprofReader(input).run();
    }
};

} // namespace

const Importer& rocprof_importer() {
    static const RocprofImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
