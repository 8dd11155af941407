// Nsight Systems: `nsys export --type sqlite`. Kernels with their names, grids and times, graphs
// that were recorded as a whole, copies, and the NVTX ranges that were open on the launching
// thread. Tables and columns are looked for by name (versions differ).
#include "profiles/import/formats.hpp"
#include "profiles/import/sqlite_file.hpp"
#include "profiles/launch_sums.hpp"
#include "profiles/step_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace eyeroof::profiles {

namespace {

// What is kept of launch calls and ranges, to find the range that a kernel was launched in.
constexpr std::size_t kMostCalls = 2'500'000;
constexpr std::size_t kMostRanges = 2'500'000;
constexpr std::size_t kMostTextBytes = std::size_t{48} << 20U;
constexpr std::size_t kEntryBytes = 100; // of a text in a table, beside the text
constexpr const char* kExportAgain = "export it again: nsys export --type sqlite";

struct Range {
    std::int64_t start = 0, end = 0;
    std::int32_t text = 0;       // number of its text
    std::int32_t parent = kNone; // the last that began before it and was open then, of its thread
};

// When and on which thread a kernel was launched.
struct LaunchCall {
    std::int64_t correlation = 0, process = 0, row = 0;
    std::int64_t thread = 0, start = 0;

    auto
    operator<=>(const LaunchCall&) const = default; // of two of one kernel the last is the later
};

// Numbers of CUPTI's copies; others stay on the device.
CopyKind kind_of(std::int64_t kind) {
    switch (kind) {
    case 1:
    case 3:
        return CopyKind::host_to_device;
    case 2:
    case 4:
        return CopyKind::device_to_host;
    case 10:
        return CopyKind::to_peer;
    default:
        return CopyKind::on_device;
    }
}

class NsysReader {
  public:
    explicit NsysReader(const ImportInput& input) : input_(input), file_(input, kExportAgain) {}

    Result<Profile> run() {
        const bool opened = file_.open();
        if (opened && !file_.tables_from("rocpd_").empty()) {
            return read_rocpd(file_, input_);
        }
        if (opened && check_tables()) {
            read_strings();
            read_device();
            read_ranges();
            read_launch_calls();
            read_kernels();
            read_graphs();
            read_copies();
        }
        if (file_.found().has_errors()) {
            return Result<Profile>(std::move(file_.found()));
        }
        built_.profile.run.tool = "nsight-systems-sqlite";
        return {std::move(built_.profile), std::move(file_.found())};
    }

  private:
    bool check_tables() {
        kernels_ = file_.table("CUPTI_ACTIVITY_KIND_KERNEL");
        graphs_ = file_.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
        copies_ = file_.table("CUPTI_ACTIVITY_KIND_MEMCPY");
        fills_ = file_.table("CUPTI_ACTIVITY_KIND_MEMSET");
        calls_table_ = file_.table("CUPTI_ACTIVITY_KIND_RUNTIME");
        ranges_table_ = file_.table("NVTX_EVENTS");
        kernel_columns_ = file_.columns_of(kernels_);
        if (file_.found().has_errors()) {
            return false;
        }
        if (!file_.table("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL").empty()) {
            return file_.refuse("foreign-report", "this is a database of nvprof or nvvp",
                                "trace with its successor: nsys profile --trace=cuda,nvtx, then "
                                "nsys export --type sqlite");
        }
        if (kernels_.empty() && graphs_.empty() && copies_.empty()) {
            return file_.refuse("missing-table",
                                "there is no table CUPTI_ACTIVITY_KIND_KERNEL: no kernel was "
                                "traced",
                                "nsys profile --trace=cuda,nvtx --cuda-graph-trace=node");
        }
        for (const char* needed : {"start", "end", "gridX", "blockX"}) {
            if (!kernels_.empty() && !kernel_columns_.contains(needed)) {
                file_.refuse("missing-column",
                             fmt::format("{} has no column '{}'", kernels_, needed), kExportAgain);
            }
        }
        return !file_.found().has_errors();
    }

    // Only those that kernels and ranges name: an export holds the texts of everything.
    void read_strings() {
        if (file_.columns_of(file_.table("StringIds")).empty()) {
            return;
        }
        std::string used;
        const auto use = [&used](const std::set<std::string>& columns, const std::string& table,
                                 std::initializer_list<const char*> names) {
            for (const char* name : names) {
                if (columns.contains(name)) {
                    used += fmt::format("{}SELECT {} FROM {}", used.empty() ? "" : " UNION ", name,
                                        table);
                }
            }
        };
        use(kernel_columns_, kernels_, {"demangledName", "shortName", "mangledName"});
        use(file_.columns_of(ranges_table_), ranges_table_, {"textId"});
        if (used.empty()) {
            return;
        }
        std::size_t bytes = 0;
        file_.each_row(fmt::format("SELECT id, value FROM StringIds WHERE id IN ({})", used),
                       "StringIds", [&](sqlite3_stmt* row) {
                           std::string value = SqliteFile::text(row, 1);
                           bytes += value.size() + kEntryBytes;
                           if (bytes <= kMostTextBytes) {
                               strings_.emplace(sqlite3_column_int64(row, 0), std::move(value));
                           }
                       });
        if (bytes > kMostTextBytes) {
            built_.profile.notes.emplace_back(
                "not every name is kept: there are too many different ones");
        }
    }

    void read_device() {
        RunInfo& run = built_.profile.run;
        const std::string table = file_.table("TARGET_INFO_GPU");
        const auto columns = file_.columns_of(table);
        const auto pick = [&columns](const char* name) {
            return columns.contains(name) ? name : "NULL";
        };
        if (!columns.empty()) {
            const std::string sql =
                fmt::format("SELECT {}, {}, {}, {}, {}, {} FROM {} ORDER BY {} = {} DESC LIMIT 1",
                            pick("name"), pick("smCount"), pick("memoryBandwidth"),
                            pick("computeMajor"), pick("computeMinor"), pick("clockRate"), table,
                            pick(columns.contains("cuDevice") ? "cuDevice" : "id"),
                            file_.busiest(kernels_.empty() ? graphs_ : kernels_, "deviceId", 0));
            file_.each_row(sql, table, [&](sqlite3_stmt* row) {
                run.gpu = SqliteFile::text(row, 0);
                run.sm_count = sqlite3_column_int64(row, 1);
                run.memory_bandwidth_bytes_per_s = sqlite3_column_double(row, 2);
                if (!SqliteFile::text(row, 3).empty()) {
                    run.compute_capability =
                        SqliteFile::text(row, 3) + "." + SqliteFile::text(row, 4);
                }
                run.sm_clock_hz = sqlite3_column_double(row, 5);
            });
        }
        const std::string export_table = file_.table("META_DATA_EXPORT");
        if (file_.columns_of(export_table).empty()) {
            return;
        }
        file_.each_row("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'",
                       export_table, [&](sqlite3_stmt* row) {
                           built_.profile.notes.push_back("nsys export schema " +
                                                          SqliteFile::text(row, 0));
                       });
    }

    void read_launch_calls() {
        const auto columns = file_.columns_of(calls_table_);
        if (!columns.contains("correlationId") || !columns.contains("globalTid")) {
            return;
        }
        bool all = true;
        file_.each_row(fmt::format("SELECT correlationId, globalTid, start FROM {} "
                                   "WHERE correlationId IS NOT NULL LIMIT {}",
                                   calls_table_, kMostCalls + 1),
                       calls_table_, [&](sqlite3_stmt* row) {
                           const std::int64_t thread = sqlite3_column_int64(row, 1);
                           calls_.push_back({sqlite3_column_int64(row, 0), process_of(thread),
                                             static_cast<std::int64_t>(calls_.size()), thread,
                                             sqlite3_column_int64(row, 2)});
                           all = calls_.size() <= kMostCalls;
                       });
        if (!all) {
            forget_ranges();
        }
        std::ranges::sort(calls_);
    }

    void forget_ranges() {
        calls_.clear();
        ranges_.clear();
        built_.profile.notes.emplace_back("ranges are not joined to kernels: there are too many");
    }

    const LaunchCall* call_of(std::int64_t correlation, std::int64_t process) const {
        const LaunchCall beyond{correlation, process, std::numeric_limits<std::int64_t>::max(), 0,
                                0};
        const auto after = std::ranges::upper_bound(calls_, beyond);
        const bool any = after != calls_.begin() && std::prev(after)->correlation == correlation &&
                         std::prev(after)->process == process;
        return any ? &*std::prev(after) : nullptr;
    }

    // The low 24 bits of a global thread id are the thread, the bits above are the process's.
    static std::int64_t process_of(std::int64_t global_id) { return global_id >> 24; }

    void read_ranges() {
        const auto columns = file_.columns_of(ranges_table_);
        if (!columns.contains("start") || !columns.contains("end") ||
            !columns.contains("globalTid")) {
            return;
        }
        const char* type = columns.contains("eventType") ? "eventType" : "59";
        const char* inline_text = columns.contains("text") ? "text" : "NULL";
        const char* text_id = columns.contains("textId") ? "textId" : "NULL";
        const std::string sql =
            fmt::format("SELECT start, end, globalTid, {}, {} FROM {} WHERE end IS NOT NULL "
                        "AND {} IN (59, 60) ORDER BY start, end DESC LIMIT {}",
                        inline_text, text_id, ranges_table_, type, kMostRanges + 1);
        std::size_t count = 0;
        file_.each_row(sql, ranges_table_, [&](sqlite3_stmt* row) {
            std::string name = SqliteFile::text(row, 3);
            if (name.empty()) {
                name = string_of(sqlite3_column_int64(row, 4));
            }
            ++count;
            ranges_[sqlite3_column_int64(row, 2)].push_back({sqlite3_column_int64(row, 0),
                                                             sqlite3_column_int64(row, 1),
                                                             number_of_text(std::move(name))});
        });
        if (count > kMostRanges || text_bytes_ > kMostTextBytes) {
            forget_ranges();
        }
        for (auto& [thread, list] : ranges_) {
            nest(list);
        }
    }

    static void nest(std::deque<Range>& list) {
        std::vector<std::int32_t> open;
        for (std::size_t i = 0; i < list.size(); ++i) {
            while (!open.empty() &&
                   list[static_cast<std::size_t>(open.back())].end < list[i].start) {
                open.pop_back();
            }
            list[i].parent = open.empty() ? kNone : open.back();
            open.push_back(static_cast<std::int32_t>(i));
        }
    }

    std::int32_t number_of_text(std::string name) {
        const std::size_t bytes = name.size() + kEntryBytes;
        const auto next = static_cast<std::int32_t>(texts_.size());
        if (text_bytes_ + bytes > kMostTextBytes && !text_numbers_.contains(name)) {
            text_bytes_ = kMostTextBytes + 1;
            return 0;
        }
        const auto [at, fresh] = text_numbers_.try_emplace(std::move(name), next);
        if (fresh) {
            texts_.push_back(&at->first);
            text_bytes_ += bytes;
        }
        return at->second;
    }

    std::string string_of(std::int64_t id) const {
        const auto it = strings_.find(id);
        return it == strings_.end() ? std::string{} : it->second;
    }

    // The ranges of the thread that hold this moment, the outermost first.
    void give_range(std::int64_t thread, std::int64_t at, Launch& launch) {
        constexpr std::size_t kDeepest = 8;
        constexpr std::size_t kLongestPath = 400;
        const auto it = ranges_.find(thread);
        if (it == ranges_.end()) {
            return;
        }
        const auto& list = it->second;
        const auto after = std::ranges::upper_bound(list, at, {}, &Range::start);
        auto number = static_cast<std::int32_t>(after - list.begin()) - 1;
        std::string path;
        std::size_t depth = 0;
        std::int32_t innermost = kNone, marked = kNone;
        for (; number != kNone && depth < kDeepest; number = range_at(list, number).parent) {
            const Range& range = range_at(list, number);
            if (range.end < at) {
                continue;
            }
            const std::string& name = *texts_[static_cast<std::size_t>(range.text)];
            if (path.size() + name.size() > kLongestPath && !path.empty()) {
                break;
            }
            path = joined_range(name, path);
            innermost = innermost == kNone ? number : innermost;
            marked = step_kind(name) ? number : marked;
            ++depth;
        }
        launch.range = built_.range(path);
        if (launch.range == kNone || sums_.sums()) {
            return; // sums hold no single executions
        }
        const auto call_number = [&](auto& calls, std::int32_t position) {
            return calls.try_emplace({thread, position}, static_cast<std::int64_t>(calls.size()))
                .first->second;
        };
        launch.range_call = call_number(range_calls_, innermost);
        launch.step =
            marked == kNone ? kNone : static_cast<std::int32_t>(call_number(step_calls_, marked));
    }

    static const Range& range_at(const std::deque<Range>& list, std::int32_t number) {
        return list[static_cast<std::size_t>(number)];
    }

    void read_kernels() {
        if (kernels_.empty()) {
            return;
        }
        const auto pick = [this](const char* name) {
            return kernel_columns_.contains(name) ? name : "NULL";
        };
        const std::string sql = fmt::format(
            "SELECT start, end, {}, {}, {}, {}, {}, {}, gridX, {}, {}, blockX, {}, {} FROM "
            "{} ORDER BY start",
            pick("deviceId"), pick("streamId"), pick("correlationId"), pick("globalPid"),
            kernel_columns_.contains("demangledName") ? "demangledName" : pick("shortName"),
            pick("mangledName"), pick("gridY"), pick("gridZ"), pick("blockY"), pick("blockZ"),
            kernels_);
        file_.each_row(sql, kernels_, [this](sqlite3_stmt* row) { read_kernel(row); });
    }

    bool whole_numbers(sqlite3_stmt* row, int columns, const std::string& table) {
        for (int column = 0; column < columns; ++column) {
            const int type = sqlite3_column_type(row, column);
            if (type != SQLITE_INTEGER && type != SQLITE_NULL) {
                file_.found().error("bad-number",
                                    fmt::format("kernel {}: column '{}' holds no whole number",
                                                kernels_read_, sqlite3_column_name(row, column)),
                                    kExportAgain, {input_.name, 0, 0}, table);
                return false;
            }
        }
        return true;
    }

    // Start, duration, device, stream, and what the launching thread says: columns 0 to 5.
    bool read_place(sqlite3_stmt* row, const std::string& table, Launch& launch) {
        launch.source = built_.source(input_.name);
        launch.start_ns = SqliteFile::whole(row, 0, kNone);
        const std::int64_t end_ns = SqliteFile::whole(row, 1, kNone);
        if (launch.start_ns < 0 || end_ns < launch.start_ns) {
            file_.found().error("bad-time",
                                fmt::format("kernel {} ends before it starts", kernels_read_),
                                kExportAgain, {input_.name, 0, 0}, table);
            return false;
        }
        launch.duration_ns = static_cast<double>(end_ns - launch.start_ns);
        launch.device = SqliteFile::whole(row, 2, kNone);
        launch.stream = SqliteFile::whole(row, 3, kNone);
        if (const LaunchCall* call = call_of(SqliteFile::whole(row, 4, kNone),
                                             process_of(SqliteFile::whole(row, 5, 0)))) {
            launch.called_ns = call->start >= 0 ? call->start : kNone;
            give_range(call->thread, call->start, launch);
        }
        return true;
    }

    void read_kernel(sqlite3_stmt* row) {
        constexpr int kColumns = 14;
        ++kernels_read_;
        Launch launch;
        if (!whole_numbers(row, kColumns, kernels_) || !read_place(row, kernels_, launch)) {
            return;
        }
        const auto whole = [row](int column, std::int64_t absent) {
            return SqliteFile::whole(row, column, absent);
        };
        std::string name = string_of(whole(6, kNone));
        launch.kernel =
            built_.kernel(name.empty() ? "(unnamed kernel)" : name, string_of(whole(7, kNone)));
        launch.grid = {whole(8, 1), whole(9, 1), whole(10, 1)};
        launch.block = {whole(11, 1), whole(12, 1), whole(13, 1)};
        sums_.add(built_.profile, std::move(launch));
    }

    // Without --cuda-graph-trace=node a graph is one record: its time, and none of its kernels.
    void read_graphs() {
        const auto columns = file_.columns_of(graphs_);
        if (!columns.contains("start") || !columns.contains("end")) {
            return;
        }
        const auto pick = [&columns](const char* name) {
            return columns.contains(name) ? name : "NULL";
        };
        double graphs_ns = 0.0;
        std::int64_t count = 0;
        file_.each_row(
            fmt::format("SELECT start, end, {}, {}, {}, {}, {} FROM {} ORDER BY start",
                        pick("deviceId"), pick("streamId"), pick("correlationId"),
                        pick("globalPid"),
                        columns.contains("graphExecId") ? "graphExecId" : pick("graphId"), graphs_),
            graphs_, [&](sqlite3_stmt* row) {
                constexpr int kColumns = 7;
                ++kernels_read_;
                Launch launch;
                if (whole_numbers(row, kColumns, graphs_) && read_place(row, graphs_, launch)) {
                    graphs_ns += launch.duration_ns;
                    ++count;
                    launch.kernel =
                        built_.kernel(fmt::format("(CUDA graph {})", SqliteFile::whole(row, 6, 0)));
                    sums_.add(built_.profile, std::move(launch));
                }
            });
        if (count > 0 && !sums_.sums()) {
            std::ranges::stable_sort(built_.profile.launches, {}, &Launch::start_ns);
        }
        if (count > 0) {
            file_.warn("graphs-as-a-whole",
                       fmt::format("{} launches of CUDA graphs, {:.4g} ms, are recorded as a "
                                   "whole, without their kernels",
                                   count, graphs_ns * 1e-6),
                       "record each kernel: nsys profile --cuda-graph-trace=node");
        }
    }

    void read_copies() {
        for (const std::string* table : {&copies_, &fills_}) {
            const bool fills = table == &fills_;
            const auto columns = file_.columns_of(*table);
            if (!columns.contains("start") || !columns.contains("end") ||
                !columns.contains("bytes")) {
                continue;
            }
            const auto pick = [&columns](const char* name) {
                return columns.contains(name) ? name : "NULL";
            };
            file_.each_row(
                fmt::format("SELECT start, end, {}, {}, {}, {}, bytes, {}, {}, {} FROM {} ORDER BY "
                            "start LIMIT {}",
                            pick("deviceId"), pick("streamId"), pick("correlationId"),
                            pick("globalPid"), pick("copyKind"), pick("srcKind"), pick("dstKind"),
                            *table, kMostLaunches),
                *table, [&](sqlite3_stmt* row) { read_copy(row, *table, fills); });
        }
        std::ranges::stable_sort(built_.profile.copies, {}, &DeviceCopy::start_ns);
    }

    void read_copy(sqlite3_stmt* row, const std::string& table, bool fill) {
        constexpr int kColumns = 10;
        constexpr std::int64_t kPageable = 0; // of nsys's kinds of memory
        Launch place;
        if (!whole_numbers(row, kColumns, table) || !read_place(row, table, place)) {
            return;
        }
        DeviceCopy copy;
        copy.source = place.source;
        copy.start_ns = place.start_ns;
        copy.duration_ns = place.duration_ns;
        copy.device = place.device;
        copy.stream = place.stream;
        copy.called_ns = place.called_ns;
        copy.step = place.step;
        copy.bytes = std::max<std::int64_t>(SqliteFile::whole(row, 6, 0), 0);
        copy.kind = fill ? CopyKind::fill : kind_of(SqliteFile::whole(row, 7, 0));
        const int host = copy.kind == CopyKind::device_to_host ? 9 : 8;
        const bool crosses =
            copy.kind == CopyKind::device_to_host || copy.kind == CopyKind::host_to_device;
        copy.pageable = crosses && SqliteFile::whole(row, host, kNone) == kPageable;
        built_.profile.copies.push_back(copy);
    }

    const ImportInput& input_;
    SqliteFile file_;
    std::string kernels_, graphs_, copies_, fills_, calls_table_, ranges_table_; // tables' names
    std::set<std::string> kernel_columns_;
    std::unordered_map<std::int64_t, std::string> strings_;
    std::deque<LaunchCall> calls_; // sorted
    std::unordered_map<std::string, std::int32_t> text_numbers_;
    std::vector<const std::string*> texts_; // of ranges, by their numbers
    std::size_t text_bytes_ = 0;
    std::map<std::int64_t, std::deque<Range>> ranges_; // by thread, ordered by start
    std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> range_calls_, step_calls_;
    LaunchSums sums_;
    std::int64_t kernels_read_ = 0;
    ProfileBuilder built_;
};

class NsysImporter final : public Importer {
  public:
    std::string_view name() const override { return "nsight-systems-sqlite"; }
    std::string_view what() const override {
        return "Nsight Systems: nsys export --type sqlite report.nsys-rep";
    }
    bool recognises(std::string_view head) const override { return head.starts_with(kSqliteMagic); }
    Result<Profile> read(const ImportInput& input) const override {
        return NsysReader(input).run();
    }
};

} // namespace

const Importer& nsys_sqlite_importer() {
    static const NsysImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
