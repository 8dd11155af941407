// The importers there are, one function each.
#pragma once

#include "profiles/import/importer.hpp"

#include <cstddef>

namespace eyeroof::profiles {

// A file with more mistakes is not read to its end.
inline constexpr std::size_t kMaxErrors = 20;

const Importer& profile_importer();
const Importer& ncu_csv_importer();
const Importer& nsys_sqlite_importer();
const Importer& rocpd_importer();
const Importer& kineto_importer();
const Importer& rocprof_importer();
const Importer& rocprof_json_importer();
const Importer& plain_csv_importer();

} // namespace eyeroof::profiles
