// Nsight Systems: `nsys export --type sqlite`. Kernels with their names, grids and times, and the
// NVTX range that was open on the launching thread.
// Columns are looked for by name (versions differ); a damaged database is refused with the table.
#include "profiles/import/formats.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace eyeroof::profiles {

namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kMaxDatabaseBytes = std::size_t{4} << 30U;

struct CloseDatabase {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct FinishStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

struct Range {
    std::int64_t start = 0, end = 0;
    std::string text;
};

class NsysReader {
  public:
    explicit NsysReader(const ImportInput& input) : input_(input) {}

    model::Result<Profile> run() {
        if (open() && check_tables()) {
            read_strings();
            read_device();
            read_launch_calls();
            read_ranges();
            read_kernels();
        }
        if (found_.has_errors()) {
            return model::Result<Profile>(std::move(found_));
        }
        built_.profile.run.tool = "nsight-systems-sqlite";
        return {std::move(built_.profile), std::move(found_)};
    }

  private:
    // The database is read into memory and opened read-only from there: nothing touches the file.
    bool open() {
        auto source = input_.open();
        if (!source) {
            found_.append(source.diagnostics());
            return false;
        }
        for (auto ahead = (*source)->ahead(); !ahead.empty(); ahead = (*source)->ahead()) {
            bytes_.append(ahead);
            (*source)->skip(ahead.size());
            if (bytes_.size() > kMaxDatabaseBytes) {
                return refuse("too-large", "the database is larger than 4 GiB");
            }
        }
        sqlite3* raw = nullptr;
        const int opened = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
        db_.reset(raw);
        auto* data = reinterpret_cast<unsigned char*>(bytes_.data()); // NOLINT: SQLite's type
        const auto size = static_cast<sqlite3_int64>(bytes_.size());
        if (opened != SQLITE_OK || sqlite3_deserialize(raw, "main", data, size, size,
                                                       SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
            return refuse("damaged", "the database cannot be opened");
        }
        sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
        constexpr int kMaxTextBytes = 1 << 20;
        sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kMaxTextBytes);
        return true;
    }

    bool refuse(const std::string& code, const std::string& message) {
        found_.error(code, message, {}, {input_.name, 0, 0});
        return false;
    }

    // A view or a virtual table can compute rows without end: only what is stored is read.
    bool is_stored(const std::string& table) {
        std::int64_t stored = 0;
        each_row(fmt::format("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                             "rootpage > 0 AND name = '{}' COLLATE NOCASE",
                             table),
                 "sqlite_master",
                 [&](sqlite3_stmt* row) { stored = sqlite3_column_int64(row, 0); });
        return stored == 1;
    }

    std::set<std::string> columns_of(const std::string& table) {
        std::set<std::string> columns;
        if (!is_stored(table)) {
            return columns;
        }
        each_row(fmt::format("PRAGMA table_info({})", table), table,
                 [&](sqlite3_stmt* row) { columns.insert(text(row, 1)); });
        return columns;
    }

    bool check_tables() {
        kernel_columns_ = columns_of("CUPTI_ACTIVITY_KIND_KERNEL");
        if (found_.has_errors()) {
            return false;
        }
        if (kernel_columns_.empty()) {
            return refuse("missing-table",
                          "there is no table CUPTI_ACTIVITY_KIND_KERNEL: no kernel was "
                          "traced (nsys profile --trace=cuda,nvtx)");
        }
        for (const char* needed : {"start", "end", "gridX", "blockX"}) {
            if (!kernel_columns_.contains(needed)) {
                refuse("missing-column",
                       fmt::format("CUPTI_ACTIVITY_KIND_KERNEL has no column '{}'", needed));
            }
        }
        return !found_.has_errors();
    }

    // Runs a query; a broken page or schema ends it with one error that names the table and row.
    template <class Use> void each_row(const std::string& sql, const std::string& table, Use use) {
        sqlite3_stmt* raw = nullptr;
        int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr);
        const Statement statement(raw);
        std::int64_t row = 0;
        while ((code == SQLITE_OK || code == SQLITE_ROW) && found_.size() < kMaxErrors) {
            code = sqlite3_step(raw);
            if (code == SQLITE_ROW) {
                ++row;
                use(raw);
            }
        }
        if (code != SQLITE_DONE && found_.size() < kMaxErrors) {
            found_.error("damaged",
                         fmt::format("table {} cannot be read at row {}: {}", table, row + 1,
                                     sqlite3_errmsg(db_.get())),
                         "the export was cut off; run nsys export again", {input_.name, 0, 0},
                         table);
        }
    }

    static std::string text(sqlite3_stmt* row, int column) {
        const auto* bytes = sqlite3_column_text(row, column);
        return bytes == nullptr ? std::string{}
                                : std::string(reinterpret_cast<const char*>(bytes)); // NOLINT
    }

    void read_strings() {
        if (columns_of("StringIds").empty()) {
            return;
        }
        each_row("SELECT id, value FROM StringIds", "StringIds", [this](sqlite3_stmt* row) {
            strings_.emplace(sqlite3_column_int64(row, 0), text(row, 1));
        });
    }

    void read_device() {
        RunInfo& run = built_.profile.run;
        const auto columns = columns_of("TARGET_INFO_GPU");
        const auto pick = [&columns](const char* name) {
            return columns.contains(name) ? name : "NULL";
        };
        if (!columns.empty()) {
            const std::string sql =
                fmt::format("SELECT {}, {}, {}, {}, {}, {} FROM TARGET_INFO_GPU LIMIT 1",
                            pick("name"), pick("smCount"), pick("memoryBandwidth"),
                            pick("computeMajor"), pick("computeMinor"), pick("clockRate"));
            each_row(sql, "TARGET_INFO_GPU", [&](sqlite3_stmt* row) {
                run.gpu = text(row, 0);
                run.sm_count = sqlite3_column_int64(row, 1);
                run.memory_bandwidth_bytes_per_s = sqlite3_column_double(row, 2);
                if (!text(row, 3).empty()) {
                    run.compute_capability = text(row, 3) + "." + text(row, 4);
                }
                run.sm_clock_hz = sqlite3_column_double(row, 5);
            });
        }
        if (columns_of("META_DATA_EXPORT").empty()) {
            return;
        }
        each_row("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'",
                 "META_DATA_EXPORT", [&](sqlite3_stmt* row) {
                     built_.profile.notes.push_back("nsys export schema " + text(row, 0));
                 });
    }

    // correlation and process -> when and on which thread the kernel was launched.
    void read_launch_calls() {
        const auto columns = columns_of("CUPTI_ACTIVITY_KIND_RUNTIME");
        if (!columns.contains("correlationId") || !columns.contains("globalTid")) {
            return;
        }
        each_row("SELECT correlationId, globalTid, start FROM CUPTI_ACTIVITY_KIND_RUNTIME",
                 "CUPTI_ACTIVITY_KIND_RUNTIME", [this](sqlite3_stmt* row) {
                     const std::int64_t thread = sqlite3_column_int64(row, 1);
                     calls_[{sqlite3_column_int64(row, 0), process_of(thread)}] = {
                         thread, sqlite3_column_int64(row, 2)};
                 });
    }

    // The low 24 bits of a global thread id are the thread, the bits above are the process's.
    static std::int64_t process_of(std::int64_t global_id) { return global_id >> 24; }

    void read_ranges() {
        const auto columns = columns_of("NVTX_EVENTS");
        if (!columns.contains("start") || !columns.contains("end") ||
            !columns.contains("globalTid")) {
            return;
        }
        const char* type = columns.contains("eventType") ? "eventType" : "59";
        const char* inline_text = columns.contains("text") ? "text" : "NULL";
        const char* text_id = columns.contains("textId") ? "textId" : "NULL";
        const std::string sql = fmt::format(
            "SELECT start, end, globalTid, {}, {} FROM NVTX_EVENTS WHERE end IS NOT NULL "
            "AND {} IN (59, 60) ORDER BY start, end DESC",
            inline_text, text_id, type);
        each_row(sql, "NVTX_EVENTS", [this](sqlite3_stmt* row) {
            Range range{sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), text(row, 3)};
            if (range.text.empty()) {
                range.text = string_of(sqlite3_column_int64(row, 4));
            }
            ranges_[sqlite3_column_int64(row, 2)].push_back(std::move(range));
        });
    }

    std::string string_of(std::int64_t id) const {
        const auto it = strings_.find(id);
        return it == strings_.end() ? std::string{} : it->second;
    }

    // The innermost range of the thread that contains the time: the last to start before it and
    // still open. Steps back at most kMaxNesting closed ranges.
    void give_range(std::int64_t thread, std::int64_t at, Launch& launch) {
        constexpr int kMaxSteps = 4096;
        const auto it = ranges_.find(thread);
        if (it == ranges_.end()) {
            return;
        }
        const auto& list = it->second;
        auto after = std::ranges::upper_bound(list, at, {}, &Range::start);
        for (int step = 0; after != list.begin() && step < kMaxSteps; ++step) {
            --after;
            if (after->end >= at) {
                launch.range = built_.range(after->text);
                const auto position = static_cast<std::int64_t>(after - list.begin());
                const auto [call, added] = range_calls_.try_emplace(
                    {thread, position}, static_cast<std::int64_t>(range_calls_.size()));
                launch.range_call = launch.range == kNone ? kNone : call->second;
                return;
            }
        }
    }

    void read_kernels() {
        const auto pick = [this](const char* name) {
            return kernel_columns_.contains(name) ? name : "NULL";
        };
        const std::string sql = fmt::format(
            "SELECT start, end, {}, {}, {}, {}, {}, {}, gridX, {}, {}, blockX, {}, {} FROM "
            "CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start",
            pick("deviceId"), pick("streamId"), pick("correlationId"), pick("globalPid"),
            kernel_columns_.contains("demangledName") ? "demangledName" : pick("shortName"),
            pick("mangledName"), pick("gridY"), pick("gridZ"), pick("blockY"), pick("blockZ"));
        each_row(sql, "CUPTI_ACTIVITY_KIND_KERNEL",
                 [this](sqlite3_stmt* row) { read_kernel(row); });
    }

    void read_kernel(sqlite3_stmt* row) {
        const auto whole = [row](int column, std::int64_t absent) {
            return sqlite3_column_type(row, column) == SQLITE_NULL
                       ? absent
                       : sqlite3_column_int64(row, column);
        };
        constexpr int kWholeColumns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
        for (const int column : kWholeColumns) {
            const int type = sqlite3_column_type(row, column);
            if (type != SQLITE_INTEGER && type != SQLITE_NULL) {
                found_.error("bad-number",
                             fmt::format("kernel {}: column '{}' holds no whole number",
                                         built_.profile.launches.size() + 1,
                                         sqlite3_column_name(row, column)),
                             "export it again: nsys export --type sqlite", {input_.name, 0, 0},
                             "CUPTI_ACTIVITY_KIND_KERNEL");
                return;
            }
        }
        Launch launch;
        launch.source = built_.source(input_.name);
        launch.start_ns = whole(0, kNone);
        const std::int64_t end_ns = whole(1, kNone);
        if (launch.start_ns < 0 || end_ns < launch.start_ns) {
            found_.error(
                "bad-time",
                fmt::format("kernel {} ends before it starts", built_.profile.launches.size() + 1),
                "export it again: nsys export --type sqlite", {input_.name, 0, 0},
                "CUPTI_ACTIVITY_KIND_KERNEL");
            return;
        }
        launch.duration_ns = static_cast<double>(end_ns - launch.start_ns);
        launch.device = whole(2, kNone);
        launch.stream = whole(3, kNone);
        std::string name = string_of(whole(6, kNone));
        launch.kernel =
            built_.kernel(name.empty() ? "(unnamed kernel)" : name, string_of(whole(7, kNone)));
        launch.grid = {whole(8, 1), whole(9, 1), whole(10, 1)};
        launch.block = {whole(11, 1), whole(12, 1), whole(13, 1)};
        const auto call = calls_.find({whole(4, kNone), process_of(whole(5, 0))});
        if (call != calls_.end()) {
            give_range(call->second.first, call->second.second, launch);
        }
        built_.profile.launches.push_back(std::move(launch));
    }

    const ImportInput& input_;
    std::string bytes_;
    Database db_; // closed before bytes_ goes
    model::Diagnostics found_;
    std::set<std::string> kernel_columns_;
    std::unordered_map<std::int64_t, std::string> strings_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> calls_;
    std::map<std::int64_t, std::vector<Range>> ranges_; // by thread, ordered by start
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> range_calls_;
    ProfileBuilder built_;
};

class NsysImporter final : public Importer {
  public:
    std::string_view name() const override { return "nsight-systems-sqlite"; }
    std::string_view what() const override {
        return "Nsight Systems: nsys export --type sqlite report.nsys-rep";
    }
    bool recognises(std::string_view head) const override { return head.starts_with(kMagic); }
    model::Result<Profile> read(const ImportInput& input) const override {
        return NsysReader(input).run();
    }
};

} // namespace

const Importer& nsys_sqlite_importer() {
    static const NsysImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
