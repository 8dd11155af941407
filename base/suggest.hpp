// "Did you mean …?": the nearest of the names that would have been right.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof {

// Edits (insert, delete, replace, swap of neighbours) that turn one text into the other, letter
// case ignored. Optimal string alignment distance; O(|a| |b|), so callers pass names and not
// documents.
int edit_distance(std::string_view a, std::string_view b);

// The nearest candidate, empty when none is near: at most one edit for every three letters of the
// longer text, or else the one that contains the word or is contained in it. Of equals the first. A
// word longer than 64 letters has no nearest name.
std::string closest(std::string_view word, std::span<const std::string_view> candidates);
std::string closest(std::string_view word, std::span<const std::string> candidates);

// "did you mean 'x'?", or else "known: a, b, c …" with at most `listed` names; empty without names.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates,
                       std::size_t listed = 12);
std::string suggestion(std::string_view word, std::span<const std::string> candidates,
                       std::size_t listed = 12);

} // namespace eyeroof
