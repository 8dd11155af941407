// Diagnostics that say the same of many things, each reported once.
#pragma once

#include "base/diagnostic.hpp"

namespace eyeroof {

// One for all that differ in nothing but their field, at the place of the first: "(at conv1 and 52
// more)". Those of another line of a file stay apart. Of more than 50 errors, and of more than 50
// warnings and notes, the first 50 and a note with the number of the rest.
Diagnostics told_once(const Diagnostics& diagnostics);

} // namespace eyeroof
