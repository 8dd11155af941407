// A database of a profiler, opened read-only: only what is stored is read, and a damaged page is
// refused with its table and row.
#pragma once

#include "profiles/import/formats.hpp"
#include "profiles/import/importer.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

inline constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

class SqliteFile {
  public:
    // `again` says how such a file is written again, for hints.
    SqliteFile(const ImportInput& input, std::string again)
        : input_(input), again_(std::move(again)) {}

    bool open(); // the reason why not stands in found()
    Diagnostics& found() { return found_; }
    bool refuse(const std::string& code, const std::string& message, const std::string& fix = {});
    void warn(const std::string& code, const std::string& message, const std::string& fix);

    // A view or a virtual table can compute rows without end: only stored tables are read. The
    // table of this name, else its newest version ("NVTX_EVENTS_V3"); empty for none.
    std::string table(const std::string& name);
    // Stored tables whose names begin so, in order.
    std::vector<std::string> tables_from(std::string_view beginning);
    std::set<std::string> columns_of(const std::string& stored);
    // The device of `column` whose kernels take the longest; `otherwise` where that is not known.
    std::int64_t busiest(const std::string& stored, const char* column, std::int64_t otherwise);

    // Runs a query; a broken page or schema ends it with one error that names the table and row.
    template <class Use>
    void each_row(const std::string& sql, const std::string& table_name, Use use) {
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
                         fmt::format("table {} cannot be read at row {}: {}", table_name, row + 1,
                                     sqlite3_errmsg(db_.get())),
                         "the file was cut off; " + again_, {input_.name, 0, 0}, table_name);
        }
    }

    static std::string text(sqlite3_stmt* row, int column);
    static std::int64_t whole(sqlite3_stmt* row, int column, std::int64_t absent);

  private:
    struct CloseDatabase {
        void operator()(sqlite3* db) const { sqlite3_close(db); }
    };
    struct FinishStatement {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

    bool is_plain_file() const;
    bool open_file();
    bool open_unpacked();
    void forget_log();
    void tell_not_stored(const std::string& name);

    const ImportInput& input_;
    std::string again_;
    std::string bytes_;
    std::unique_ptr<sqlite3, CloseDatabase> db_; // closed before bytes_ goes
    Diagnostics found_;
};

// rocprofv3's database (rocpd), which is open.
Result<Profile> read_rocpd(SqliteFile& file, const ImportInput& input);

} // namespace eyeroof::profiles
