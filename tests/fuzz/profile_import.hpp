// What the importers promise for any bytes: an answer, a position with every error, and a profile
// that survives its own file. Called by the fuzz target and by the tests that replay its seeds.
#pragma once

#include "profiles/import/importer.hpp"
#include "profiles/library_log.hpp"
#include "profiles/points.hpp"
#include "profiles/profile_file.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace eyeroof::tests {

inline void require(bool condition) {
    if (!condition) {
        std::abort();
    }
}

inline void check_imported(const Result<profiles::Profile>& profile) {
    for (const Diagnostic& diagnostic : profile.diagnostics()) {
        require(!diagnostic.message.empty() && !diagnostic.code.empty());
        require(diagnostic.where.line >= 0 && diagnostic.where.column >= 0);
    }
    if (!profile) {
        require(profile.diagnostics().has_errors());
        return;
    }
    require(profiles::validate(*profile).empty());
    require(profiles::points_of(*profile, nullptr).ok());
    const auto source = profiles::ByteSource::of_text(profiles::profile_text(*profile), "again");
    const auto again = profiles::read_profile(*source);
    require(again.ok() && again->launches.size() == profile->launches.size());
}

inline void import_anything(std::string_view bytes) {
    const auto input = profiles::input_of_text(std::string(bytes), "fuzz");
    check_imported(profiles::import_profile(input));
    for (const profiles::Importer* importer : profiles::importers()) {
        check_imported(profiles::import_profile(input, importer->name()));
    }
    const auto log = profiles::ByteSource::of_text(bytes, "fuzz");
    const auto calls = profiles::read_library_log(*log);
    require(calls.ok() ? !calls->empty() : calls.diagnostics().has_errors());
}

} // namespace eyeroof::tests
