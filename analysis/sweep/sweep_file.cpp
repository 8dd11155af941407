#include "analysis/sweep/sweep_file.hpp"

#include "base/file.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace eyeroof::analysis {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSchema = "eyeroof/sweep/1";

template <class T>
Result<T> failed(const char* code, const std::string& message, const std::string& hint = {}) {
    return Result<T>::failure(code, message, hint);
}

// A note; nothing where there is none, or what is no note by its size.
std::optional<std::string> text_of(const fs::path& path) {
    constexpr std::size_t kLongestNote = std::size_t{1} << 16;
    std::ifstream in(path, std::ios::binary);
    if (!in || fs::is_directory(path)) {
        return std::nullopt;
    }
    std::string text(kLongestNote + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text.size() <= kLongestNote ? std::optional(std::move(text)) : std::nullopt;
}

// Calls `take` with the file's bytes, block by block, until it has enough; false where the file
// cannot be read.
template <class Take> bool each_block(const fs::path& path, Take take) {
    std::ifstream in(path, std::ios::binary);
    std::string block(std::size_t{1} << 18, '\0');
    while (in) {
        in.read(block.data(), static_cast<std::streamsize>(block.size()));
        const auto got = static_cast<std::size_t>(in.gcount());
        if (got > 0 && !take(std::string_view(block).substr(0, got))) {
            return true;
        }
    }
    return in.eof() && !in.bad();
}

// The number that a row begins with: "12,…" or {"point":12,…
std::optional<std::uint64_t> point_of(std::string_view row) {
    constexpr std::string_view json = "{\"point\":";
    row = row.starts_with(json) ? row.substr(json.size()) : row;
    std::uint64_t point = 0;
    const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), point);
    const bool ends = end != row.data() + row.size() && *end == ',';
    return error == std::errc{} && ends ? std::optional(point) : std::nullopt;
}

// What of a file can be kept: whole rows in their order.
struct Kept {
    std::uint64_t bytes = 0;
    std::uint64_t next = 0;
    bool in_order = true;
};

// Reads the file line by line; a last line without an end is not whole.
Kept kept_of(const fs::path& path, const std::string& header, std::uint64_t from) {
    Kept kept{0, from};
    std::ifstream in(path, std::ios::binary);
    bool first = !header.empty();
    for (std::string line; std::getline(in, line) && !in.eof();) {
        if (first) {
            kept.in_order = line + "\n" == header;
        } else {
            kept.in_order = point_of(line) == kept.next;
            kept.next += 1;
        }
        if (!kept.in_order) {
            return kept;
        }
        first = false;
        kept.bytes += line.size() + 1;
    }
    return kept;
}

} // namespace

SweepNote note_of(const SweepGrid& grid, PointRange range, RowFormat format) {
    return {fmt::format("{:016x}", grid.fingerprint()), grid.points(), range, format};
}

std::string note_text(const SweepNote& note) {
    nlohmann::ordered_json json;
    json["schema"] = kSchema;
    json["fingerprint"] = note.fingerprint;
    json["points"] = note.points;
    json["from"] = note.range.from;
    json["to"] = note.range.to;
    json["format"] = note.format == RowFormat::csv ? "csv" : "jsonl";
    return json_line(json) + "\n";
}

Result<SweepNote> parse_note(std::string_view text, const std::string& file) {
    const auto json = parse_json(text);
    const auto number = [&](const char* key) {
        return json.contains(key) && json[key].is_number_unsigned()
                   ? std::optional(json[key].get<std::uint64_t>())
                   : std::nullopt;
    };
    const bool named = json.is_object() &&
                       json.value("schema", nlohmann::ordered_json()) == kSchema &&
                       json.contains("fingerprint") && json["fingerprint"].is_string();
    const auto points = named ? number("points") : std::nullopt;
    const auto from = named ? number("from") : std::nullopt;
    const auto to = named ? number("to") : std::nullopt;
    if (!points || !from || !to || *from > *to || *to > *points) {
        return failed<SweepNote>("bad-sweep-file", file + " does not say which sweep it is of",
                                 "write the sweep again, from its beginning");
    }
    const bool csv = json.value("format", nlohmann::ordered_json()) == "csv";
    return Result<SweepNote>(SweepNote{json["fingerprint"].get<std::string>(),
                                       *points,
                                       {*from, *to},
                                       csv ? RowFormat::csv : RowFormat::jsonl});
}

fs::path note_path(const fs::path& file) {
    fs::path note = file;
    note += ".sweep";
    return note;
}

Result<SweepFile> SweepFile::open(const fs::path& file, const SweepNote& note,
                                  const std::string& header, bool resume) {
    const fs::path beside = note_path(file);
    std::error_code ignored;
    const bool there = fs::exists(file, ignored);
    const auto old = text_of(beside);
    if (there && !resume) {
        return failed<SweepFile>("exists", file.string() + " is already there",
                                 old ? "--resume goes on with it" : "remove it, or name another");
    }
    SweepFile opened;
    opened.path_ = file;
    opened.note_ = note;
    opened.next_ = note.range.from;
    std::uint64_t keep = 0;
    if (there) {
        const Kept kept = kept_of(file, header, note.range.from);
        const bool whole = kept.in_order && kept.next == note.range.to;
        if (!old && !whole) { // without a note it is a whole sweep, of this question or another's
            return failed<SweepFile>("other-sweep",
                                     file.string() + " is not an unfinished part of this sweep",
                                     "leave --resume out and name another file with -o");
        }
        const auto known = old ? parse_note(*old, beside.string()) : Result<SweepNote>(note);
        if (!known) {
            return Result<SweepFile>(known.diagnostics());
        }
        if (*known != note) {
            return failed<SweepFile>("other-sweep", file.string() + " is of another sweep",
                                     "its network, machine, fields or options are not these");
        }
        if (!kept.in_order || kept.next > note.range.to) {
            return failed<SweepFile>("bad-sweep-file",
                                     file.string() + " has rows that this sweep did not write");
        }
        keep = kept.bytes;
        opened.next_ = kept.next;
        fs::resize_file(file, keep, ignored);
    }
    if (const auto written = write_file(beside, note_text(note)); !written) {
        return Result<SweepFile>(written.diagnostics());
    }
    opened.out_.open(file, std::ios::binary | std::ios::app);
    opened.out_ << (keep == 0 ? header : std::string{}) << std::flush;
    if (!opened.out_) {
        return failed<SweepFile>("cannot-write", file.string() + " cannot be written",
                                 "name a file in a folder that you may write to");
    }
    return Result<SweepFile>(std::move(opened));
}

bool SweepFile::append(std::string_view rows, std::uint64_t points) {
    out_ << rows << std::flush;
    next_ += out_ ? points : 0;
    return static_cast<bool>(out_);
}

Result<Done> SweepFile::close() {
    out_.close();
    if (!out_) {
        return failed<Done>("cannot-write", path_.string() + " could not be written",
                            "its content is kept: free disk space, then continue with --resume");
    }
    const bool all = note_.range == PointRange{0, note_.points} && next_ == note_.points;
    std::error_code ignored;
    if (all) {
        fs::remove(note_path(path_), ignored);
    }
    return Result<Done>(Done{});
}

namespace {

struct Part {
    fs::path path;
    SweepNote note;
    std::uint64_t header = 0; // bytes of it
    std::uint64_t bytes = 0;  // of all
};

// Rows and bytes of a part, which may be larger than memory.
struct Counted {
    std::uint64_t lines = 0, bytes = 0, first_line = 0;
    bool ends = true; // with a line's end
};

std::optional<Counted> counted(const fs::path& path) {
    Counted all;
    const bool read = each_block(path, [&all](std::string_view block) {
        if (all.lines == 0) {
            const std::size_t end = block.find('\n');
            all.first_line = end == std::string_view::npos ? 0 : all.bytes + end + 1;
        }
        all.lines += static_cast<std::uint64_t>(std::ranges::count(block, '\n'));
        all.bytes += block.size();
        all.ends = block.back() == '\n';
        return true;
    });
    return read ? std::optional(all) : std::nullopt;
}

Result<Part> read_part(const fs::path& path) {
    const auto note = text_of(note_path(path)); // first: what is no part may be of any size
    const auto all = note && !fs::is_directory(path) ? counted(path) : std::nullopt;
    if (!all || !note) {
        std::error_code ignored;
        return failed<Part>("bad-sweep-file",
                            fmt::format("{} is no part of a sweep", path.string()),
                            !note && fs::is_regular_file(path, ignored)
                                ? "its file " + note_path(path).string() + " is missing"
                                : "it cannot be read");
    }
    const auto known = parse_note(*note, note_path(path).string());
    if (!known) {
        return Result<Part>(known.diagnostics());
    }
    const bool headed = known->format == RowFormat::csv && all->lines > 0;
    const std::uint64_t rows = all->lines - (headed ? 1 : 0);
    if (!all->ends || rows != known->range.to - known->range.from) {
        return failed<Part>("unfinished", path.string() + " is not finished",
                            "run its part again with --resume");
    }
    return Result<Part>(Part{path, *known, headed ? all->first_line : 0, all->bytes});
}

// Appends the bytes from `from` to `to` of a part; false where they are no longer there.
bool append_part(const Part& part, std::uint64_t from, std::uint64_t to, AtomicFile& file) {
    std::uint64_t at = 0;
    each_block(part.path, [&](std::string_view block) {
        const std::uint64_t begin = std::clamp(from, at, at + block.size()) - at;
        const std::uint64_t end = std::clamp(to, at, at + block.size()) - at;
        at += block.size();
        file.append(block.substr(begin, end - begin)); // what fails, commit() tells
        return at < to;
    });
    return at >= to;
}

Result<Done> write_merged(const std::vector<Part>& parts, const fs::path& to) {
    auto file = AtomicFile::create(to);
    if (!file) {
        return Result<Done>(file.diagnostics());
    }
    append_part(parts.front(), 0, parts.front().header, *file);
    for (const Part& part : parts) {
        if (!append_part(part, part.header, part.bytes, *file)) {
            return failed<Done>("bad-sweep-file", part.path.string() + " has become shorter",
                                "merge parts that are no longer being written");
        }
    }
    return file->commit();
}

} // namespace

Result<Done> merge_sweep(const std::vector<fs::path>& paths, const fs::path& to) {
    std::vector<Part> parts;
    Diagnostics found;
    for (const fs::path& path : paths) {
        auto part = read_part(path);
        found.append(part.diagnostics());
        if (part) {
            parts.push_back(*std::move(part));
        }
    }
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.note.range.from < b.note.range.from; });
    std::uint64_t next = 0;
    for (const Part& part : parts) {
        const SweepNote& first = parts.front().note;
        if (part.note.fingerprint != first.fingerprint || part.note.format != first.format) {
            found.error("other-sweep",
                        part.path.string() + " is of another sweep than " +
                            parts.front().path.string(),
                        "merge parts of one command line alone");
        } else if (part.note.range.from > next) {
            found.error(
                "missing-part",
                fmt::format("no part has the points {} to {}", next, part.note.range.from - 1),
                "run the missing shard, or resume the one that stopped");
        } else if (part.note.range.from < next) {
            found.error("overlap", part.path.string() + " has points that another part has",
                        "merge each part once");
        }
        next = std::max(next, part.note.range.to);
    }
    if (!parts.empty() && next != parts.front().note.points && !found.has_errors()) {
        found.error(
            "missing-part",
            fmt::format("no part has the points {} to {}", next, parts.front().note.points - 1),
            "run the missing shard, or resume the one that stopped");
    }
    if (found.has_errors()) {
        return Result<Done>(std::move(found));
    }
    return write_merged(parts, to);
}

} // namespace eyeroof::analysis
