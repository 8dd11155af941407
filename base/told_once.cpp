#include "base/told_once.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace eyeroof {

namespace {

constexpr std::size_t kShown = 50; // errors, and as many warnings and notes

std::string more_text(std::size_t errors, std::size_t others, const Diagnostics& all) {
    const auto counted = [](std::size_t count, const char* what) {
        return fmt::format("{} more {}{}", count, what, count == 1 ? "" : "s");
    };
    std::string text = errors > 0 ? counted(errors, "error") : "";
    if (others > 0) {
        text += (text.empty() ? "" : " and ") + counted(others, "warning");
    }
    if (all.left_out() > 0) {
        text += text.empty() ? "" : ", ";
        text += all.full()
                    ? fmt::format("and no further ones looked for after {}", Diagnostics::kMost)
                    : fmt::format("{} more were not kept", all.left_out());
    }
    return text;
}

// The first errors, the first warnings, and how many more of each there are.
Diagnostics first_of(const Diagnostics& distinct, const Diagnostics& all) {
    Diagnostics found;
    std::size_t errors = 0;
    std::size_t others = 0;
    for (const Diagnostic& d : distinct) {
        std::size_t& count = d.severity == Severity::error ? errors : others;
        if (++count <= kShown) {
            found.add(d);
        }
    }
    const auto rest = [](std::size_t count) { return count - std::min(count, kShown); };
    const std::string text = more_text(rest(errors), rest(others), all);
    if (!text.empty()) {
        found.add({Severity::note, "more", text, {}, {}, {}});
    }
    return found;
}

} // namespace

Diagnostics told_once(const Diagnostics& diagnostics) {
    using Said = std::tuple<Severity, std::string, std::string, std::string, std::string, int, int>;
    struct Told {
        Diagnostic first;
        std::size_t more = 0; // other fields of which the same is said
    };
    std::map<Said, std::size_t> known;
    std::vector<Told> told;
    for (const Diagnostic& d : diagnostics) {
        const Said said(d.severity, d.code, d.message, d.hint, d.where.file, d.where.line,
                        d.where.column);
        const auto [at, is_new] = known.emplace(said, told.size());
        if (is_new) {
            told.push_back({d});
        } else {
            told[at->second].more += d.field != told[at->second].first.field ? 1 : 0;
        }
    }
    Diagnostics found;
    for (Told& one : told) {
        if (one.more > 0) {
            one.first.field += fmt::format(" and {} more", one.more);
        }
        found.add(std::move(one.first));
    }
    return first_of(found, diagnostics);
}

} // namespace eyeroof
