#include "base/text_file.hpp"

#include "base/foreign_file.hpp"
#include "base/plain_text.hpp"
#include "base/printable.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

namespace eyeroof {

namespace {

namespace fs = std::filesystem;

Result<std::string> refuse(const fs::path& path, std::string code, std::string message,
                           std::string hint = {}) {
    return Result<std::string>::failure(std::move(code), std::move(message), std::move(hint),
                                        SourceLocation{path.string(), 0, 0});
}

// A format that people try and that is no text of ours.
std::optional<Result<std::string>> refuse_foreign(std::string_view head, const fs::path& path) {
    const ForeignFile known = foreign_file(head, path.string());
    return known ? std::optional(refuse(path, "foreign-file", fmt::format("this is {}", known.what),
                                        std::string(known.way)))
                 : std::nullopt;
}

bool is_control(unsigned char c) {
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

// C1 control characters, and marks that turn the direction of writing.
bool is_steering(std::string_view character) {
    return printable(character) != character;
}

} // namespace

bool is_path(std::string_view name) {
    return name.find('/') != std::string_view::npos || name.ends_with(".yaml") ||
           name.ends_with(".yml");
}

namespace {

// A pipe that the caller opened is waited for; one in a folder may have no one at its other end.
bool is_callers_own(const fs::path& path) {
    const std::string name = path.string();
    return name == "-" || name == "/dev/stdin" || name.starts_with("/dev/fd/") ||
           name.starts_with("/proc/self/fd/");
}

Result<std::string> read_open_stream(int file, const fs::path& path, std::size_t max_bytes) {
    constexpr int kPatienceMs = 10'000;
    std::string text;
    std::array<char, std::size_t{1} << 16> block{};
    bool writer_seen = is_callers_own(path);
    for (;;) {
        pollfd ready{file, POLLIN, 0};
        if (::poll(&ready, 1, writer_seen ? -1 : kPatienceMs) == 0) {
            return refuse(path, "not-readable", "nothing came out of this pipe for 10 s",
                          "is a program writing to it?");
        }
        const ssize_t got = ::read(file, block.data(), block.size());
        if (got == 0) {
            return text;
        }
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            return refuse(path, "not-readable",
                          std::string("the pipe cannot be read: ") + std::strerror(errno));
        }
        text.append(block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (text.size() > max_bytes) {
            return refuse(path, "file-too-large",
                          fmt::format("more than the {} bytes that are read came in", max_bytes));
        }
    }
}

// Pipes and terminals can be read only once: what came is kept for the next reader.
Result<std::string> read_stream(const fs::path& path, std::size_t max_bytes) {
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(path.string()); found != known.end()) {
        return found->second;
    }
    const bool standard = path == "-";
    const int file = standard ? STDIN_FILENO
                              : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return refuse(path, "not-readable",
                      std::string("this cannot be opened: ") + std::strerror(errno));
    }
    auto text = read_open_stream(file, path, max_bytes);
    if (!standard) {
        ::close(file);
    }
    if (text && text->find_first_not_of(" \t\r\n") == std::string::npos) {
        return refuse(path, "empty-file", "nothing came in", "is this the pipe you meant?");
    }
    if (text) {
        *text = plain_text(*std::move(text));
    }
    if (text && is_callers_own(path)) {
        known[path.string()] = *text;
    }
    return text;
}

} // namespace

Result<std::string> read_text_file(const fs::path& path, std::size_t max_bytes) {
    if (path == "-") {
        return read_stream(path, max_bytes);
    }
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        return refuse(path, "file-not-found", "there is no such file", "check the path");
    }
    if (fs::is_directory(status)) {
        return refuse(path, "is-a-directory", "this is a directory, not a file",
                      "name a file in it");
    }
    if (!fs::is_regular_file(status)) {
        return read_stream(path, max_bytes);
    }
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) {
        return refuse(path, "not-readable", "the file cannot be read: " + error.message());
    }
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    const int why = errno;
    std::string text(std::min<std::size_t>(size, kForeignHead), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (auto refusal = refuse_foreign(text, path)) {
        return *std::move(refusal);
    }
    if (size > max_bytes) {
        return refuse(
            path, "file-too-large",
            fmt::format("the file has {} bytes, more than the {} that are read", size, max_bytes),
            "is this the file you meant?");
    }
    const std::size_t head = text.size();
    text.resize(static_cast<std::size_t>(size));
    in.read(text.data() + head, static_cast<std::streamsize>(text.size() - head));
    if (!in.is_open() || in.bad()) {
        const bool reached_limit = why == EMFILE || why == ENFILE;
        return refuse(path, "not-readable",
                      std::string("the file cannot be opened for reading") +
                          (reached_limit ? std::string(": ") + std::strerror(why) : ""),
                      reached_limit ? "raise the limit (ulimit -n)" : "check its permissions");
    }
    text.resize(head + static_cast<std::size_t>(in.gcount())); // it may have shrunk meanwhile
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        return refuse(path, "empty-file", "the file is empty", "is this the file you meant?");
    }
    return plain_text(std::move(text));
}

Result<std::string> checked_text(std::string text, const std::string& file) {
    if (auto refusal = refuse_foreign(std::string_view(text).substr(0, kForeignHead), file)) {
        return *std::move(refusal);
    }
    text = plain_text(std::move(text));
    int line = 1;
    int column = 1;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        if (length > 1 && is_steering(std::string_view(text).substr(at, length))) {
            return Result<std::string>::failure(
                "not-text",
                fmt::format("the character {} steers terminals and is no text",
                            printable(text.substr(at, length))),
                "take it out", SourceLocation{file, line, column});
        }
        if (length == 0 || is_control(static_cast<unsigned char>(text[at]))) {
            return Result<std::string>::failure(
                "not-text",
                fmt::format("byte 0x{:02X} is not part of a UTF-8 text",
                            static_cast<unsigned>(static_cast<unsigned char>(text[at]))),
                "save the file as plain UTF-8 text", SourceLocation{file, line, column});
        }
        column = text[at] == '\n' ? 1 : column + 1;
        line += text[at] == '\n' ? 1 : 0;
        at += length;
    }
    return text;
}

} // namespace eyeroof
