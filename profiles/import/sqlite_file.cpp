#include "profiles/import/sqlite_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace eyeroof::profiles {

namespace {

// Of a database that is packed, or comes through a pipe: it is unpacked into memory.
constexpr std::size_t kMostUnpacked = std::size_t{256} << 20U;

// A path as SQLite's URIs want it.
std::string as_uri(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' ||
                           c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return uri + "?immutable=1"; // neither locked nor touched; its log is not looked for
}

// The number of "NAME_V12"; -1 for other names.
int version_of(std::string_view table, std::string_view name) {
    std::string_view rest = table.substr(std::min(name.size(), table.size()));
    if (!rest.starts_with("_V") || rest.size() < 3 || rest.size() > 5 ||
        rest.find_first_not_of("0123456789", 2) != std::string_view::npos) {
        return -1;
    }
    int version = 0;
    for (const char digit : rest.substr(2)) {
        version = 10 * version + (digit - '0');
    }
    return version;
}

} // namespace

bool SqliteFile::open() {
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
bool SqliteFile::is_plain_file() const {
    std::ifstream file(input_.path, std::ios::binary);
    std::string first(kSqliteMagic.size(), '\0');
    return !input_.path.empty() &&
           file.read(first.data(), static_cast<std::streamsize>(first.size())) &&
           first == kSqliteMagic;
}

bool SqliteFile::open_file() {
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(as_uri(input_.path).c_str(), &raw,
                                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    db_.reset(raw);
    std::error_code ignored;
    const auto log = std::filesystem::file_size(input_.path + "-wal", ignored);
    if (!ignored && log > 0) {
        warn("log-left", "changes that lie in the database's log (-wal) are not read",
             "sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)' puts them in");
    }
    return opened == SQLITE_OK || refuse("damaged", "the database cannot be opened");
}

// Read into memory and opened read-only from there.
bool SqliteFile::open_unpacked() {
    auto source = input_.open();
    if (!source) {
        found_.append(source.diagnostics());
        return false;
    }
    for (auto ahead = (*source)->ahead(); !ahead.empty(); ahead = (*source)->ahead()) {
        bytes_.append(ahead);
        (*source)->skip(ahead.size());
        if (bytes_.size() > kMostUnpacked) {
            return refuse("too-large", "the database is larger than 256 MiB when it is unpacked",
                          "unpack it to a file first");
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
void SqliteFile::forget_log() {
    constexpr std::size_t kWriteVersion = 18, kReadVersion = 19;
    for (const std::size_t at : {kWriteVersion, kReadVersion}) {
        if (bytes_.size() > at && bytes_[at] == 2) {
            bytes_[at] = 1;
        }
    }
}

bool SqliteFile::refuse(const std::string& code, const std::string& message,
                        const std::string& fix) {
    found_.error(code, message, fix, {input_.name, 0, 0});
    return false;
}

void SqliteFile::warn(const std::string& code, const std::string& message, const std::string& fix) {
    found_.warning(code, message, fix, {input_.name, 0, 0});
}

void SqliteFile::tell_not_stored(const std::string& name) {
    each_row(fmt::format("SELECT type FROM sqlite_master WHERE name = '{}' COLLATE NOCASE", name),
             "sqlite_master", [&](sqlite3_stmt* row) {
                 warn("not-stored",
                      fmt::format("{} is a {} and is not read: only stored tables are", name,
                                  text(row, 0) == "view" ? "view" : "virtual table"),
                      again_);
             });
}

std::string SqliteFile::table(const std::string& name) {
    std::string newest;
    int version = -1;
    for (const std::string& stored : tables_from(name)) {
        if (stored.size() == name.size()) {
            return stored;
        }
        if (const int of = version_of(stored, name); of > version) {
            version = of;
            newest = stored;
        }
    }
    if (newest.empty()) {
        tell_not_stored(name);
    }
    return newest;
}

std::vector<std::string> SqliteFile::tables_from(std::string_view beginning) {
    constexpr std::size_t kMostTables = 10'000;
    std::vector<std::string> tables;
    each_row(fmt::format("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND "
                         "substr(name, 1, {}) = '{}' COLLATE NOCASE ORDER BY name",
                         beginning.size(), beginning),
             "sqlite_master", [&](sqlite3_stmt* row) {
                 std::string name = text(row, 0);
                 const bool plain = std::ranges::all_of(name, [](char c) {
                     return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
                 });
                 if (plain && tables.size() < kMostTables) {
                     tables.push_back(std::move(name));
                 }
             });
    return tables;
}

std::int64_t SqliteFile::busiest(const std::string& stored, const char* column,
                                 std::int64_t otherwise) {
    const auto columns = columns_of(stored);
    if (!columns.contains(column) || !columns.contains("start") || !columns.contains("end")) {
        return otherwise;
    }
    std::int64_t device = otherwise;
    each_row(fmt::format("SELECT {} FROM {} GROUP BY {} ORDER BY total(end - start) DESC LIMIT 1",
                         column, stored, column),
             stored, [&](sqlite3_stmt* row) { device = whole(row, 0, otherwise); });
    return device;
}

std::set<std::string> SqliteFile::columns_of(const std::string& stored) {
    std::set<std::string> columns;
    if (!stored.empty()) {
        each_row(fmt::format("PRAGMA table_info({})", stored), stored,
                 [&](sqlite3_stmt* row) { columns.insert(text(row, 1)); });
    }
    return columns;
}

std::string SqliteFile::text(sqlite3_stmt* row, int column) {
    const auto* bytes = sqlite3_column_text(row, column);
    return bytes == nullptr ? std::string{}
                            : std::string(reinterpret_cast<const char*>(bytes)); // NOLINT
}

std::int64_t SqliteFile::whole(sqlite3_stmt* row, int column, std::int64_t absent) {
    return sqlite3_column_type(row, column) == SQLITE_NULL ? absent
                                                           : sqlite3_column_int64(row, column);
}

} // namespace eyeroof::profiles
