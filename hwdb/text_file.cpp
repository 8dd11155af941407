#include "hwdb/text_file.hpp"

#include "model/base/printable.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>

namespace eyeroof::hwdb {

using model::Result;
using model::SourceLocation;

namespace {

namespace fs = std::filesystem;

Result<std::string> refuse(const fs::path& path, std::string code, std::string message,
                           std::string hint = {}) {
    return Result<std::string>::failure(std::move(code), std::move(message), std::move(hint),
                                        SourceLocation{path.string(), 0, 0});
}

bool is_control(unsigned char c) {
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

// C1 control characters, and marks that turn the direction of writing.
bool is_steering(std::string_view character) {
    return model::printable(character) != character;
}

} // namespace

Result<std::string> read_text_file(const fs::path& path, std::size_t max_bytes) {
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
        return refuse(path, "not-readable", "this is not a regular file");
    }
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) {
        return refuse(path, "not-readable", "the file cannot be read: " + error.message());
    }
    if (size > max_bytes) {
        return refuse(
            path, "file-too-large",
            fmt::format("the file has {} bytes, more than the {} that are read", size, max_bytes),
            "is this the file you meant?");
    }
    std::ifstream in(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(size), '\0');
    in.read(text.data(), static_cast<std::streamsize>(size));
    if (!in.is_open() || in.bad()) {
        return refuse(path, "not-readable", "the file cannot be opened for reading",
                      "check its permissions");
    }
    text.resize(static_cast<std::size_t>(in.gcount())); // it may have shrunk meanwhile
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        return refuse(path, "empty-file", "the file is empty", "is this the file you meant?");
    }
    return text;
}

Result<std::string> checked_text(std::string text, const std::string& file) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.erase(0, 3);
    }
    int line = 1;
    int column = 1;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = model::utf8_length(text, at);
        if (length > 1 && is_steering(std::string_view(text).substr(at, length))) {
            return Result<std::string>::failure(
                "not-text",
                fmt::format("the character {} steers terminals and is no text",
                            model::printable(text.substr(at, length))),
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

} // namespace eyeroof::hwdb
