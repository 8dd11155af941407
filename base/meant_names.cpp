#include "base/meant_names.hpp"

#include "base/ascii.hpp"
#include "base/plain_name.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace eyeroof {

namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMostNames = 12;
constexpr std::size_t kLongestTyped = 128;
constexpr std::size_t kLeastStem = 3; // letters without the digits behind them

// Vendors and brands, and what the name of a trained model says beside its sizes.
constexpr auto kSilent = std::to_array<std::string_view>(
    {"nvidia", "tesla",    "geforce", "quadro", "amd",     "instinct", "radeon", "intel", "google",
     "aws",    "gpu",      "npu",     "card",   "model",   "instruct", "chat",   "hf",    "it",
     "pt",     "thinking", "uncased", "apple",  "preview", "base",     "meta"});

constexpr auto kSizes =
    std::to_array<std::string_view>({"tiny", "small", "base", "medium", "large", "huge", "giant"});

// Sockets whose generation names no other machine: "sxm4" as sxm.
constexpr auto kSockets = std::to_array<std::string_view>({"sxm", "pcie", "oam"});

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_in(std::span<const std::string_view> list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

// Runs without blanks, hyphens, underscores, slashes, and brackets; points belong to numbers.
Words words_of(std::string_view text) {
    Words words(1);
    for (const char c : text) {
        if (std::string_view(" -_/,()").find(c) == std::string_view::npos) {
            words.back() += lowered(c);
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) {
        words.pop_back();
    }
    return words;
}

// "32 gb" and "32g" are "32gb".
Words with_units(Words words) {
    Words joined;
    for (std::string& word : words) {
        const bool unit = (word == "gb" || word == "g") && !joined.empty() &&
                          std::ranges::all_of(joined.back(), is_digit);
        const bool short_unit = word.size() > 1 && word.back() == 'g' && is_digit(word[0]) &&
                                std::all_of(word.begin(), word.end() - 1, is_digit);
        if (unit) {
            joined.back() += "gb";
        } else {
            joined.push_back(short_unit ? word + "b" : std::move(word));
        }
    }
    return joined;
}

std::string joined(const Words& words) {
    return plain_name(fmt::format("{}", fmt::join(words, "-")));
}

std::string stem_of(std::string_view word) {
    while (!word.empty() && is_digit(word.back())) {
        word.remove_suffix(1);
    }
    return std::string(word);
}

// How many letters of a typed word a word of the name shares, 0 where they are different words.
std::size_t shared(const std::string& typed, const std::string& known) {
    if (plain_name(typed) == plain_name(known)) {
        return known.size();
    }
    if (known.size() == 1 && known[0] == typed[0] && is_in(kSizes, typed)) {
        return 1; // "base" as b
    }
    const std::string stem = stem_of(typed);
    const bool same_stem = stem.size() >= kLeastStem && stem == stem_of(known);
    return same_stem && (stem.size() == typed.size() || stem.size() == known.size()) ? stem.size()
                                                                                     : 0;
}

// No known name drops a number that was typed: "resnet9" is not the resnet of resnet-deep.
bool keeps_number(const std::string& typed, const std::string& known) {
    const std::string stem = stem_of(typed);
    return stem.size() == typed.size() || stem != known || is_in(kSockets, stem);
}

struct Fit {
    std::size_t letters = 0; // of whole words
    std::size_t start = 0;   // letters that both begin with
    bool all = true;         // every typed word is one of the name's
    bool first = false;      // the first typed word, where it has to be
};

Fit fit_of(const Words& typed, const std::string& name, Where where) {
    const Words known = with_units(words_of(name));
    Fit fit;
    for (std::size_t i = 0; i < typed.size(); ++i) {
        std::size_t best = 0;
        bool whole = false;
        for (const std::string& word : known) {
            const std::size_t letters = shared(typed[i], word);
            best = std::max(best, letters);
            whole = whole || (letters > 0 && keeps_number(typed[i], word));
        }
        fit.letters += best;
        fit.all = fit.all && whole;
        const bool in_place = where == Where::anywhere || shared(typed[0], known[0]) > 0;
        fit.first = fit.first || (i == 0 && best > 0 && in_place);
    }
    const std::string all = joined(typed);
    const std::string plain = plain_name(name);
    const std::size_t least = std::min(all.size(), plain.size());
    while (fit.start < least && all[fit.start] == plain[fit.start]) {
        ++fit.start;
    }
    fit.first = fit.first || fit.start == plain.size();
    return fit;
}

// "stable diffusion xl" as "sdxl": the initials of the first words that are longer than two
// letters.
Words with_initials(const Words& words) {
    std::size_t many = 0;
    std::string initials;
    while (many < words.size() && words[many].size() > 2 &&
           std::ranges::none_of(words[many], is_digit)) {
        initials += words[many++][0];
    }
    if (many < 2) {
        return {};
    }
    const bool version = many < words.size() && words[many].size() > 1 && words[many][0] == 'v' &&
                         is_digit(words[many][1]);
    if (many < words.size() && !is_digit(words[many][0]) && !version) {
        initials += words[many++];
    }
    Words shorter = {initials};
    if (version) { // "v1-5" as 1.5
        shorter.push_back(words[many++].substr(1));
        if (many < words.size() && words[many].size() == 1 && is_digit(words[many][0])) {
            shorter.back() += "." + words[many++];
        }
    }
    shorter.insert(shorter.end(), words.begin() + static_cast<std::ptrdiff_t>(many), words.end());
    return shorter;
}

Words without_silent(const Words& words) {
    Words rest;
    for (const std::string& word : words) {
        if (!is_in(kSilent, word)) {
            rest.push_back(word);
        }
    }
    return rest.empty() ? words : rest;
}

// The words as typed, without the owner (of a network), without silent words, and with initials.
std::vector<Words> readings_of(std::string_view typed, Where where) {
    const std::size_t slash = typed.find_last_of('/');
    const bool owned = where == Where::at_start && slash != std::string_view::npos;
    std::string_view own = typed.substr(owned ? slash + 1 : 0);
    constexpr std::string_view kTaught = "distill-"; // "DeepSeek-R1-Distill-Llama-8B" is a Llama
    if (const std::size_t at = lowered(own).find(kTaught); at != std::string::npos) {
        own.remove_prefix(at + kTaught.size());
        typed = own;
    }
    std::vector<Words> readings;
    for (const std::string_view part : {typed, own}) {
        const Words words = with_units(words_of(part));
        for (Words reading : {words, without_silent(words), with_initials(words),
                              with_initials(without_silent(words))}) {
            if (!reading.empty() && std::ranges::find(readings, reading) == readings.end()) {
                readings.push_back(std::move(reading));
            }
        }
    }
    return readings;
}

std::vector<std::string> having_all(const Words& reading, std::span<const std::string> known,
                                    Where where) {
    std::vector<std::string> names;
    for (const std::string& name : known) {
        const Fit fit = fit_of(reading, name, where);
        if (fit.all && fit.first) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<std::string> likeliest(const std::vector<Words>& readings,
                                   std::span<const std::string> known, Where where) {
    std::size_t best = 0;
    std::vector<std::string> names;
    for (const Words& reading : readings) {
        for (const std::string& name : known) {
            const Fit fit = fit_of(reading, name, where);
            const std::size_t score = fit.first ? fit.letters + 2 * fit.start : 0;
            if (score > best) {
                names.clear();
            }
            best = std::max(best, score);
            if (score > 0 && score == best && std::ranges::find(names, name) == names.end()) {
                names.push_back(name);
            }
        }
    }
    return names;
}

// "1080ti", of which no word is one of "gtx-1080-ti".
std::vector<std::string> names_containing(const std::string& plain,
                                          std::span<const std::string> known) {
    constexpr std::size_t kLeast = 4; // letters
    std::vector<std::string> names;
    for (const std::string& name : known) {
        if (plain.size() >= kLeast && plain_name(name).find(plain) != std::string::npos) {
            names.push_back(name);
        }
    }
    return names;
}

} // namespace

MeantNames meant_names(std::string_view typed, std::span<const std::string> known, Where where) {
    MeantNames meant;
    if (typed.size() > kLongestTyped) {
        return meant;
    }
    const std::vector<Words> readings = readings_of(typed, where);
    for (const Words& reading : readings) {
        const std::string all = joined(reading);
        const auto same = std::ranges::find(known, all, plain_name);
        if (same != known.end() && !all.empty()) {
            return {{*same}, true, true};
        }
    }
    for (const Words& reading : readings) {
        meant.names = having_all(reading, known, where);
        if (!meant.names.empty()) {
            meant.complete = true;
            meant.sure = meant.names.size() == 1;
            break;
        }
    }
    if (meant.names.empty()) {
        meant.names = likeliest(readings, known, where);
    }
    if (meant.names.empty()) {
        meant.names = names_containing(plain_name(typed), known);
    }
    meant.names.resize(std::min(meant.names.size(), kMostNames));
    return meant;
}

} // namespace eyeroof
