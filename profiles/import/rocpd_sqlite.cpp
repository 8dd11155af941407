// rocprofv3's database, its default output: rocpd_* tables, one set per process, each name with the
// process's identifier behind it. Kernels, copies, and counters.
#include "base/checked.hpp"
#include "profiles/derived_counters.hpp"
#include "profiles/import/formats.hpp"
#include "profiles/import/sqlite_file.hpp"
#include "profiles/launch_sums.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace eyeroof::profiles {

namespace {

constexpr const char* kRecordAgain = "write it again: rocprofv3 --kernel-trace --memory-copy-trace";
constexpr std::size_t kMostRocpdNames = 1'000'000;

class RocpdReader {
  public:
    RocpdReader(SqliteFile& file, const ImportInput& input) : file_(file), input_(input) {}

    Result<Profile> run() {
        const auto dispatches = file_.tables_from(kDispatch);
        for (const std::string& table : dispatches) {
            read_process(table.substr(kDispatch.size()));
        }
        for (const std::string& table : file_.tables_from(kCopy)) {
            const std::string process = table.substr(kCopy.size());
            if (!file_.found().has_errors()) {
                agents_ = {};
                read_agents(process);
                read_strings(process);
                read_copies(table);
            }
        }
        if (dispatches.empty() && built_.profile.copies.empty()) {
            file_.refuse("missing-table",
                         "there is no table rocpd_kernel_dispatch: no kernel was "
                         "traced",
                         "rocprofv3 --kernel-trace -- ./app");
        }
        if (file_.found().has_errors()) {
            return Result<Profile>(std::move(file_.found()));
        }
        Profile& profile = built_.profile;
        if (!sums_.sums()) {
            std::ranges::stable_sort(profile.launches, {}, &Launch::start_ns);
        }
        std::ranges::stable_sort(profile.copies, {}, &DeviceCopy::start_ns);
        profile.run.tool = "rocpd-sqlite";
        return {std::move(profile), std::move(file_.found())};
    }

  private:
    static constexpr std::string_view kDispatch = "rocpd_kernel_dispatch";
    static constexpr std::string_view kCopy = "rocpd_memory_copy";

    struct Agent {
        bool gpu = false;
        std::int64_t index = 0;
    };

    // A column, or NULL where the table lacks it.
    static std::string pick(const std::set<std::string>& columns, std::string_view name) {
        return columns.contains(std::string(name)) ? fmt::format("\"{}\"", name)
                                                   : std::string("NULL");
    }

    void read_process(const std::string& process) {
        agents_ = {};
        kernels_ = {};
        counters_ = {};
        read_agents(process);
        read_kernel_names(process);
        read_counters(process);
        if (!file_.found().has_errors()) {
            read_dispatches(std::string(kDispatch) + process);
        }
    }

    void read_agents(const std::string& process) {
        const std::string table = file_.table("rocpd_info_agent" + process);
        const auto columns = file_.columns_of(table);
        if (!columns.contains("id")) {
            return;
        }
        RunInfo& run = built_.profile.run;
        const bool named = !run.gpu.empty(); // by a process before
        const std::int64_t busiest =
            file_.busiest(file_.table(std::string(kDispatch) + process), "agent_id", kNone);
        file_.each_row(fmt::format("SELECT id, {}, {}, {}, {} FROM {}", pick(columns, "type"),
                                   pick(columns, "absolute_index"), pick(columns, "name"),
                                   pick(columns, "product_name"), table),
                       table, [&](sqlite3_stmt* row) {
                           const bool gpu = SqliteFile::text(row, 1) == "GPU";
                           const std::int64_t id = SqliteFile::whole(row, 0, kNone);
                           agents_[id] = {gpu, SqliteFile::whole(row, 2, id)};
                           if (gpu && !named && (busiest == kNone || busiest == id)) {
                               const std::string product = SqliteFile::text(row, 4);
                               run.chip = SqliteFile::text(row, 3); // "gfx942"
                               run.gpu = product.empty() ? run.chip : product;
                           }
                       });
    }

    void read_kernel_names(const std::string& process) {
        const std::string table = file_.table("rocpd_info_kernel_symbol" + process);
        const auto columns = file_.columns_of(table);
        if (!columns.contains("id")) {
            return;
        }
        file_.each_row(fmt::format("SELECT id, {}, {} FROM {}", pick(columns, "display_name"),
                                   pick(columns, "kernel_name"), table),
                       table, [&](sqlite3_stmt* row) {
                           std::string name = SqliteFile::text(row, 1);
                           if (kernels_.size() < kMostRocpdNames) {
                               kernels_[SqliteFile::whole(row, 0, kNone)] = {
                                   name.empty() ? SqliteFile::text(row, 2) : std::move(name),
                                   SqliteFile::text(row, 2)};
                           }
                       });
    }

    // By the event that they belong to; instances of one counter add up.
    void read_counters(const std::string& process) {
        const std::string events = file_.table("rocpd_pmc_event" + process);
        const std::string names = file_.table("rocpd_info_pmc" + process);
        const auto columns = file_.columns_of(events);
        const auto said = file_.columns_of(names);
        if (!columns.contains("event_id") || !columns.contains("pmc_id") ||
            !columns.contains("value") || !said.contains("id")) {
            return;
        }
        const std::string name = said.contains("symbol") ? "symbol" : "name";
        file_.each_row(fmt::format("SELECT E.event_id, N.\"{}\", E.value FROM {} E JOIN {} N ON "
                                   "N.id = E.pmc_id LIMIT {}",
                                   name, events, names, kMostCounters),
                       events, [&](sqlite3_stmt* row) {
                           counters_[SqliteFile::whole(row, 0, kNone)][SqliteFile::text(row, 1)] +=
                               sqlite3_column_double(row, 2);
                       });
    }

    void read_strings(const std::string& process) {
        strings_ = {};
        const std::string table = file_.table("rocpd_string" + process);
        if (!file_.columns_of(table).contains("string")) {
            return;
        }
        file_.each_row(fmt::format("SELECT id, string FROM {} WHERE string LIKE 'MEMORY_COPY%' "
                                   "LIMIT {}",
                                   table, kMostRocpdNames),
                       table, [&](sqlite3_stmt* row) {
                           strings_[SqliteFile::whole(row, 0, kNone)] = SqliteFile::text(row, 1);
                       });
    }

    // Times of one record; an error where it ends before it starts.
    bool timed(sqlite3_stmt* row, const std::string& table, std::int64_t& start, double& duration) {
        start = SqliteFile::whole(row, 0, kNone);
        const std::int64_t end = SqliteFile::whole(row, 1, kNone);
        for (const int column : {0, 1}) {
            if (sqlite3_column_type(row, column) != SQLITE_INTEGER) {
                file_.found().error("bad-number", "a time is no whole number", kRecordAgain,
                                    {input_.name, 0, 0}, table);
                return false;
            }
        }
        if (start < 0 || end < start) {
            file_.found().error("bad-time", "a record ends before it starts", kRecordAgain,
                                {input_.name, 0, 0}, table);
            return false;
        }
        duration = static_cast<double>(end - start);
        return true;
    }

    void read_dispatches(const std::string& table) {
        const auto columns = file_.columns_of(table);
        for (const char* needed : {"start", "end", "kernel_id"}) {
            if (!columns.contains(needed)) {
                file_.refuse("missing-column", fmt::format("{} has no column '{}'", table, needed),
                             kRecordAgain);
                return;
            }
        }
        std::string sql = "SELECT start, end, kernel_id";
        for (const char* name : {"agent_id", "stream_id", "queue_id", "event_id",
                                 "workgroup_size_x", "workgroup_size_y", "workgroup_size_z",
                                 "grid_size_x", "grid_size_y", "grid_size_z"}) {
            sql += ", " + pick(columns, name);
        }
        file_.each_row(sql + " FROM " + table + " ORDER BY start", table,
                       [&](sqlite3_stmt* row) { read_dispatch(row, table); });
    }

    void read_dispatch(sqlite3_stmt* row, const std::string& table) {
        Launch launch;
        if (!timed(row, table, launch.start_ns, launch.duration_ns)) {
            return;
        }
        const auto whole = [row](int column, std::int64_t absent) {
            return SqliteFile::whole(row, column, absent);
        };
        launch.source = built_.source(input_.name);
        const auto name = kernels_.find(whole(2, kNone));
        launch.kernel = name == kernels_.end()
                            ? built_.kernel("(unnamed kernel)")
                            : built_.kernel(name->second.first, name->second.second);
        const auto agent = agents_.find(whole(3, kNone));
        launch.device = agent == agents_.end() ? whole(3, kNone) : agent->second.index;
        launch.stream = whole(4, whole(5, kNone));
        std::int64_t* const threads[] = {&launch.block.x, &launch.block.y, &launch.block.z};
        std::int64_t* const blocks[] = {&launch.grid.x, &launch.grid.y, &launch.grid.z};
        for (int axis = 0; axis < 3; ++axis) { // the grid counts work-items
            *threads[axis] = std::max<std::int64_t>(whole(7 + axis, 1), 1);
            *blocks[axis] =
                ceil_div(std::max<std::int64_t>(whole(10 + axis, 1), 1), *threads[axis]);
        }
        if (const auto counted = counters_.find(whole(6, kNone)); counted != counters_.end()) {
            for (const auto& [counter, value] : counted->second) {
                launch.counters[counter] = value;
            }
            add_derived_counters(launch);
        }
        sums_.add(built_.profile, std::move(launch));
    }

    void read_copies(const std::string& table) {
        const auto columns = file_.columns_of(table);
        if (!columns.contains("start") || !columns.contains("end") || !columns.contains("size")) {
            return;
        }
        file_.each_row(
            fmt::format(
                "SELECT start, end, size, {}, {}, {}, {}, {} FROM {} ORDER BY start LIMIT {}",
                pick(columns, "src_agent_id"), pick(columns, "dst_agent_id"),
                pick(columns, "stream_id"), pick(columns, "queue_id"), pick(columns, "name_id"),
                table, kMostLaunches),
            table, [&](sqlite3_stmt* row) { read_copy(row, table); });
    }

    void read_copy(sqlite3_stmt* row, const std::string& table) {
        DeviceCopy copy;
        if (!timed(row, table, copy.start_ns, copy.duration_ns)) {
            return;
        }
        const auto agent = [&](int column) {
            const auto at = agents_.find(SqliteFile::whole(row, column, kNone));
            return at == agents_.end() ? Agent{} : at->second;
        };
        const Agent from = agent(3), to = agent(4);
        copy.source = built_.source(input_.name);
        copy.bytes = std::max<std::int64_t>(SqliteFile::whole(row, 2, 0), 0);
        copy.stream = SqliteFile::whole(row, 5, SqliteFile::whole(row, 6, kNone));
        copy.device = to.gpu ? to.index : from.index;
        const auto name = strings_.find(SqliteFile::whole(row, 7, kNone));
        const std::string_view said = name == strings_.end() ? std::string_view() : name->second;
        const auto says = [&](const char* part) { return said.find(part) != said.npos; };
        copy.kind = says("HOST_TO_DEVICE") || (said.empty() && !from.gpu && to.gpu)
                        ? CopyKind::host_to_device
                    : says("DEVICE_TO_HOST") || (said.empty() && from.gpu && !to.gpu)
                        ? CopyKind::device_to_host
                    : from.gpu && to.gpu && from.index != to.index ? CopyKind::to_peer
                                                                   : CopyKind::on_device;
        built_.profile.copies.push_back(copy);
    }

    static constexpr std::size_t kMostCounters = 5'000'000;

    SqliteFile& file_;
    const ImportInput& input_;
    ProfileBuilder built_;
    LaunchSums sums_;
    std::map<std::int64_t, Agent> agents_;
    std::unordered_map<std::int64_t, std::pair<std::string, std::string>> kernels_;
    std::unordered_map<std::int64_t, std::map<std::string, double>> counters_;
    std::unordered_map<std::int64_t, std::string> strings_;
};

class RocpdImporter final : public Importer {
  public:
    std::string_view name() const override { return "rocpd-sqlite"; }
    std::string_view what() const override {
        return "rocprofv3 database: rocprofv3 --kernel-trace -- ./app (NAME_results.db)";
    }
    bool recognises(std::string_view head) const override {
        return head.starts_with(kSqliteMagic) && head.find("rocpd_") != std::string_view::npos &&
               head.find("CUPTI_ACTIVITY") == std::string_view::npos;
    }
    Result<Profile> read(const ImportInput& input) const override {
        SqliteFile file(input, kRecordAgain);
        return file.open() ? read_rocpd(file, input) : Result<Profile>(std::move(file.found()));
    }
};

} // namespace

Result<Profile> read_rocpd(SqliteFile& file, const ImportInput& input) {
    return RocpdReader(file, input).run();
}

const Importer& rocpd_importer() {
    static const RocpdImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
