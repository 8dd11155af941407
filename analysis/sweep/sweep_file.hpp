// The file to which a sweep appends row by row, so that finished rows survive any interruption: a
// kill in the middle of a row, a full disk, a restart. Beside FILE lies FILE.sweep until the sweep
// is whole (parts of one keep it for the merge): which sweep it is, which points.
#pragma once

#include "analysis/sweep/rows.hpp"
#include "analysis/sweep/run_sweep.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <fstream>

namespace eyeroof::analysis {

struct SweepNote { // what FILE.sweep says
    std::string fingerprint;
    std::uint64_t points = 0; // of the whole sweep
    PointRange range;         // that this file has, or will have
    RowFormat format = RowFormat::csv;

    bool operator==(const SweepNote&) const = default;
};
SweepNote note_of(const SweepGrid& grid, PointRange range, RowFormat format);
std::string note_text(const SweepNote& note);
// Errors: "bad-sweep-file".
Result<SweepNote> parse_note(std::string_view text, const std::string& file);
std::filesystem::path note_path(const std::filesystem::path& file);

class SweepFile {
  public:
    // Begins a new file, or goes on with one (`resume`): rows that are whole are kept, what follows
    // them is cut off. Errors: "exists" for a file that is there and not to be resumed;
    // "other-sweep" where the note is of another question; "bad-sweep-file" where rows are not
    // those that the note promises; "cannot-write".
    static Result<SweepFile> open(const std::filesystem::path& file, const SweepNote& note,
                                  const std::string& header, bool resume);

    // The first point that is still to be worked out.
    std::uint64_t next() const { return next_; }
    // Rows of the next points; false once something could not be written.
    bool append(std::string_view rows, std::uint64_t points);
    // Everything lies in the file; the note goes when the sweep is whole. Errors: "cannot-write".
    Result<Done> close();

  private:
    std::filesystem::path path_;
    SweepNote note_;
    std::uint64_t next_ = 0;
    std::ofstream out_;
};

// Puts the parts of one sweep together, in whatever order they are named. Errors: "missing-part"
// with the points that no part has; "overlap"; "other-sweep"; "unfinished"; those of reading and
// writing.
Result<Done> merge_sweep(const std::vector<std::filesystem::path>& parts,
                         const std::filesystem::path& to);

} // namespace eyeroof::analysis
