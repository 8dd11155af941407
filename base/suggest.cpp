#include "base/suggest.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <cstddef>

namespace eyeroof {

namespace {

constexpr std::size_t kLongestWord = 64;

std::vector<std::string_view> views_of(std::span<const std::string> names) {
    return {names.begin(), names.end()};
}

} // namespace

int edit_distance(std::string_view a, std::string_view b) {
    // Three rows of the table d[i][j] = distance of the first i letters of a and the first j of b.
    const std::size_t columns = b.size() + 1;
    std::vector<int> before(columns);
    std::vector<int> above(columns);
    std::vector<int> row(columns);
    for (std::size_t j = 0; j < columns; ++j) {
        above[j] = static_cast<int>(j);
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j < columns; ++j) {
            const bool same = lowered(a[i - 1]) == lowered(b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && lowered(a[i - 1]) == lowered(b[j - 2]) &&
                                 lowered(a[i - 2]) == lowered(b[j - 1]);
            if (swapped) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(above);
        above.swap(row);
    }
    return above[columns - 1];
}

namespace {

// The one candidate that contains the word, or is contained in it: "clock" for "boost-clock",
// "cuda-graph" for "graph". Of several none.
std::string_view containing(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr std::size_t least = 3; // letters that the two share
    const std::string small = lowered(word);
    std::string_view only;
    for (const std::string_view candidate : candidates) {
        const std::string other = lowered(candidate);
        const bool shared =
            std::min(small.size(), other.size()) >= least &&
            (other.find(small) != std::string::npos || small.find(other) != std::string::npos);
        if (shared && !only.empty()) {
            return {};
        }
        only = shared ? candidate : only;
    }
    return only;
}

} // namespace

std::string closest(std::string_view word, std::span<const std::string_view> candidates) {
    std::string_view best;
    int best_distance = 0;
    if (word.empty() || word.size() > kLongestWord) {
        return {};
    }
    for (const std::string_view candidate : candidates) {
        const std::size_t longer = std::max(word.size(), candidate.size());
        if (candidate.size() > kLongestWord) {
            continue;
        }
        const int distance = edit_distance(word, candidate);
        const int allowed = std::max(1, static_cast<int>(longer / 3));
        if (distance <= allowed && (best.empty() || distance < best_distance)) {
            best = candidate;
            best_distance = distance;
        }
    }
    return std::string(best.empty() ? containing(word, candidates) : best);
}

std::string closest(std::string_view word, std::span<const std::string> candidates) {
    return closest(word, views_of(candidates));
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates,
                       std::size_t listed) {
    if (const std::string near = closest(word, candidates); !near.empty()) {
        return "did you mean '" + near + "'?";
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(listed, candidates.size()); ++i) {
        text += text.empty() ? "known: " : ", ";
        text += candidates[i];
    }
    return candidates.size() > listed ? text + ", …" : text;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates,
                       std::size_t listed) {
    return suggestion(word, views_of(candidates), listed);
}

} // namespace eyeroof
