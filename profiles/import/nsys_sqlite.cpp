// Nsight Systems: `nsys export --type sqlite`. Kernels with their names, grids and times, and the
// NVTX range that was open on the launching thread.
// Columns are looked for by name (versions differ); a damaged database is refused with the table.
#include "profiles/import/formats.hpp"
#include "profiles/import/nsys_database.hpp"
#include "profiles/launch_sums.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <compare>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace eyeroof::profiles {

namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
// Of a database that is packed, or comes through a pipe: it is unpacked into memory.
constexpr std::size_t kMostUnpacked = std::size_t{256} << 20U;
// What is kept of launch calls and ranges, to find the range that a kernel was launched in.
constexpr std::size_t kMostCalls = 2'500'000;
constexpr std::size_t kMostRanges = 2'500'000;
constexpr std::size_t kMostTextBytes = std::size_t{48} << 20U;

using namespace nsys; // NOLINT(google-build-using-namespace): the rows of this reader

constexpr std::size_t kEntryBytes = 100; // of a text in a table, beside the text

class NsysReader {
  public:
    explicit NsysReader(const ImportInput& input) : input_(input) {}

    Result<Profile> run() {
        if (open() && check_tables()) {
            read_strings();
            read_device();
            read_ranges();
            if (!ranges_.empty()) {
                read_launch_calls();
            }
            read_kernels();
        }
        if (found_.has_errors()) {
            return Result<Profile>(std::move(found_));
        }
        built_.profile.run.tool = "nsight-systems-sqlite";
        return {std::move(built_.profile), std::move(found_)};
    }

  private:
    bool open() {
        const bool opened = is_plain_file() ? open_file() : open_unpacked();
        if (!opened) {
            return false;
        }
        sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
        constexpr int kMaxTextBytes = 1 << 20;
        sqlite3_limit(db_.get(), SQLITE_LIMIT_LENGTH, kMaxTextBytes);
        return true;
    }

    // Neither packed nor a pipe: its own first bytes are a database's.
    bool is_plain_file() const {
        std::ifstream file(input_.path, std::ios::binary);
        std::string first(kMagic.size(), '\0');
        return !input_.path.empty() &&
               file.read(first.data(), static_cast<std::streamsize>(first.size())) &&
               first == kMagic;
    }

    bool open_file() {
        sqlite3* raw = nullptr;
        const int opened = sqlite3_open_v2(as_uri(input_.path).c_str(), &raw,
                                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
        db_.reset(raw);
        std::error_code ignored;
        const auto log = std::filesystem::file_size(input_.path + "-wal", ignored);
        if (!ignored && log > 0) {
            found_.warning("log-left", "changes that lie in the database's log (-wal) are not read",
                           "sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)' puts them in",
                           {input_.name, 0, 0});
        }
        return opened == SQLITE_OK || refuse("damaged", "the database cannot be opened");
    }

    // Read into memory and opened read-only from there.
    bool open_unpacked() {
        auto source = input_.open();
        if (!source) {
            found_.append(source.diagnostics());
            return false;
        }
        for (auto ahead = (*source)->ahead(); !ahead.empty(); ahead = (*source)->ahead()) {
            bytes_.append(ahead);
            (*source)->skip(ahead.size());
            if (bytes_.size() > kMostUnpacked) {
                found_.error("too-large", "the database is larger than 256 MiB when it is unpacked",
                             "unpack it to a file first", {input_.name, 0, 0});
                return false;
            }
        }
        forget_log();
        sqlite3* raw = nullptr;
        const int opened = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
        db_.reset(raw);
        auto* data = reinterpret_cast<unsigned char*>(bytes_.data()); // NOLINT: SQLite's type
        const auto size = static_cast<sqlite3_int64>(bytes_.size());
        const bool taken =
            opened == SQLITE_OK && sqlite3_deserialize(raw, "main", data, size, size,
                                                       SQLITE_DESERIALIZE_READONLY) == SQLITE_OK;
        return taken || refuse("damaged", "the database cannot be opened");
    }

    // In memory there is no log beside the database: its header may not ask for one. Source:
    // https://www.sqlite.org/fileformat.html, file format version numbers.
    void forget_log() {
        constexpr std::size_t kWriteVersion = 18, kReadVersion = 19;
        for (const std::size_t at : {kWriteVersion, kReadVersion}) {
            if (bytes_.size() > at && bytes_[at] == 2) {
                bytes_[at] = 1;
            }
        }
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
        if (stored != 1) {
            tell_not_stored(table);
        }
        return stored == 1;
    }

    void tell_not_stored(const std::string& table) {
        each_row(
            fmt::format("SELECT type FROM sqlite_master WHERE name = '{}' COLLATE NOCASE", table),
            "sqlite_master", [&](sqlite3_stmt* row) {
                const std::string type = text(row, 0);
                found_.warning("not-stored",
                               fmt::format("{} is a {} and is not read: only stored tables are",
                                           table, type == "view" ? "view" : "virtual table"),
                               "export it again: nsys export --type sqlite", {input_.name, 0, 0});
            });
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

    // Only those that kernels and ranges name: an export holds the texts of everything.
    void read_strings() {
        if (columns_of("StringIds").empty()) {
            return;
        }
        std::string used;
        const auto use = [&used](const std::set<std::string>& columns, const char* table,
                                 std::initializer_list<const char*> names) {
            for (const char* name : names) {
                if (columns.contains(name)) {
                    used += fmt::format("{}SELECT {} FROM {}", used.empty() ? "" : " UNION ", name,
                                        table);
                }
            }
        };
        use(kernel_columns_, "CUPTI_ACTIVITY_KIND_KERNEL",
            {"demangledName", "shortName", "mangledName"});
        use(columns_of("NVTX_EVENTS"), "NVTX_EVENTS", {"textId"});
        if (used.empty()) {
            return;
        }
        std::size_t bytes = 0;
        each_row(fmt::format("SELECT id, value FROM StringIds WHERE id IN ({})", used), "StringIds",
                 [&](sqlite3_stmt* row) {
                     std::string value = text(row, 1);
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

    void read_launch_calls() {
        const auto columns = columns_of("CUPTI_ACTIVITY_KIND_RUNTIME");
        if (!columns.contains("correlationId") || !columns.contains("globalTid") ||
            !kernel_columns_.contains("correlationId")) {
            return;
        }
        bool all = true;
        each_row(
            fmt::format("SELECT correlationId, globalTid, start FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                        "WHERE correlationId IN (SELECT correlationId FROM "
                        "CUPTI_ACTIVITY_KIND_KERNEL) LIMIT {}",
                        kMostCalls + 1),
            "CUPTI_ACTIVITY_KIND_RUNTIME", [&](sqlite3_stmt* row) {
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
            "AND {} IN (59, 60) ORDER BY start, end DESC LIMIT {}",
            inline_text, text_id, type, kMostRanges + 1);
        std::size_t count = 0;
        each_row(sql, "NVTX_EVENTS", [&](sqlite3_stmt* row) {
            std::string name = text(row, 3);
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
                launch.range = built_.range(*texts_[static_cast<std::size_t>(after->text)]);
                if (sums_.sums()) {
                    return; // sums hold no single executions
                }
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
        ++kernels_read_;
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
                                         kernels_read_, sqlite3_column_name(row, column)),
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
            found_.error("bad-time", fmt::format("kernel {} ends before it starts", kernels_read_),
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
        if (const LaunchCall* call = call_of(whole(4, kNone), process_of(whole(5, 0)))) {
            give_range(call->thread, call->start, launch);
        }
        sums_.add(built_.profile, std::move(launch));
    }

    const ImportInput& input_;
    std::string bytes_;
    Database db_; // closed before bytes_ goes
    Diagnostics found_;
    std::set<std::string> kernel_columns_;
    std::unordered_map<std::int64_t, std::string> strings_;
    std::deque<LaunchCall> calls_; // sorted
    std::unordered_map<std::string, std::int32_t> text_numbers_;
    std::vector<const std::string*> texts_; // of ranges, by their numbers
    std::size_t text_bytes_ = 0;
    std::map<std::int64_t, std::deque<Range>> ranges_; // by thread, ordered by start
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> range_calls_;
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
    bool recognises(std::string_view head) const override { return head.starts_with(kMagic); }
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
