// The handles of an Nsight Systems database, and the rows that are kept of it while it is read.
#pragma once

#include <fmt/format.h>
#include <sqlite3.h>

#include <cctype>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>

namespace eyeroof::profiles::nsys {

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
    std::int32_t text = 0; // number of its text
};

// When and on which thread a kernel was launched.
struct LaunchCall {
    std::int64_t correlation = 0, process = 0, row = 0;
    std::int64_t thread = 0, start = 0;

    auto
    operator<=>(const LaunchCall&) const = default; // of two of one kernel the last is the later
};

// A path as SQLite's URIs want it.
inline std::string as_uri(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' ||
                           c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return uri + "?immutable=1"; // neither locked nor touched; its log is not looked for
}

} // namespace eyeroof::profiles::nsys
