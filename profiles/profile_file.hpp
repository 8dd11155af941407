// The profile file: JSON lines, version 1, plain or gzip; docs/measuring.md describes it.
// Written by `eyeroof import`, `measure` and the collector; read by everything that takes a
// profile.
#pragma once

#include "profiles/byte_source.hpp"
#include "profiles/measurement.hpp"

#include <iosfwd>
#include <string>

namespace eyeroof::profiles {

inline constexpr int kProfileVersion = 1;

// Writes line by line, so that what was written stays readable when the program dies. Tables come
// before the launches that use them; finish() writes the last line, whose absence a reader reports.
class ProfileWriter {
  public:
    explicit ProfileWriter(std::ostream& out) : out_(&out) {}

    void begin(const RunInfo& run);
    void note(const std::string& text);
    // Writes what the tables of `profile` have gained since the last call, then the new launches.
    void append(const Profile& profile);
    // The same, and takes the launches out of `profile`: a long run needs no memory for them.
    void append_and_forget(Profile& profile);
    void finish();
    std::size_t launches() const { return forgotten_ + launches_; } // written so far

  private:
    std::ostream* out_;
    std::size_t sources_ = 0, notes_ = 0, kernels_ = 0, operators_ = 0, ranges_ = 0, launches_ = 0;
    std::size_t ceilings_ = 0, copies_ = 0;
    std::size_t forgotten_ = 0; // launches that were written and taken out
};

// Gzip when the name ends in ".gz". Error "cannot-write".
Result<Done> write_profile(const Profile& profile, const std::string& path);
std::string profile_text(const Profile& profile);

// Errors, each with file, line and column: not JSON, unknown record or version, index out of range,
// wrong type. A missing or half-written last line, and compressed data that end early, are
// a warning ("cut-off"): the whole lines before are kept.
Result<Profile> read_profile(ByteSource& source);

// Whether the text begins like a profile file.
bool looks_like_profile(std::string_view head);

} // namespace eyeroof::profiles
