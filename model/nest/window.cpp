#include "model/nest/window.hpp"

#include <algorithm>
#include <iterator>

namespace eyeroof::model::nest {

namespace {

// `count` runs of `size` words, `shift` apart.
Runs comb(Count begin, Count size, Count shift, Count count) {
    if (count == 1 || size >= shift) {
        return {{begin, begin + (count - 1) * shift + size}};
    }
    Runs runs;
    runs.reserve(static_cast<std::size_t>(count));
    for (Count i = 0; i < count; ++i) {
        runs.push_back({begin + i * shift, begin + i * shift + size});
    }
    return runs;
}

Count length(const Run& run) {
    return run.end - run.begin;
}

Count overlap(const Run& a, const Run& b) {
    return std::max<Count>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

void add_difference(const Run& from, const Run& taken, Runs& left) {
    if (overlap(from, taken) == 0) {
        left.push_back(from);
        return;
    }
    if (from.begin < taken.begin) {
        left.push_back({from.begin, taken.begin});
    }
    if (taken.end < from.end) {
        left.push_back({taken.end, from.end});
    }
}

Runs nonempty(std::span<const Run> runs) {
    Runs kept;
    kept.reserve(runs.size());
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(kept),
                 [](const Run& run) { return length(run) > 0; });
    return kept;
}

Count sent_tiles(std::span<const Run> now, std::span<const Run> before) {
    Count words = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        bool seen = false;
        for (std::size_t j = 0; j < i && !seen; ++j) {
            seen = now[i] == now[j] && (before.empty() || before[i] == before[j]);
        }
        if (!seen) {
            words += length(now[i]) - (before.empty() ? 0 : overlap(now[i], before[i]));
        }
    }
    return words;
}

Count sent_tiles(const std::vector<Runs>& now, const std::vector<Runs>& before) {
    Count words = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        bool seen = false;
        for (std::size_t j = 0; j < i && !seen; ++j) {
            seen = now[i] == now[j] && (before.empty() || before[i] == before[j]);
        }
        if (!seen) {
            words += length(before.empty() ? now[i] : without(now[i], before[i]));
        }
    }
    return words;
}

Runs all_of(const std::vector<Runs>& sets) {
    Runs all;
    for (const Runs& runs : sets) {
        all.insert(all.end(), runs.begin(), runs.end());
    }
    return united(std::move(all));
}

} // namespace

Count length(const Runs& runs) {
    Count words = 0;
    for (const Run& run : runs) {
        words += run.end - run.begin;
    }
    return words;
}

Runs united(Runs runs) {
    const auto begins_before = [](const Run& a, const Run& b) { return a.begin < b.begin; };
    if (!std::is_sorted(runs.begin(), runs.end(), begins_before)) {
        std::sort(runs.begin(), runs.end(), begins_before);
    }
    std::size_t last = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        if (runs[i].begin <= runs[last].end) {
            runs[last].end = std::max(runs[last].end, runs[i].end);
        } else {
            runs[++last] = runs[i];
        }
    }
    runs.resize(std::min(runs.size(), last + 1));
    return runs;
}

Runs without(const Runs& from, const Runs& taken) {
    Runs left;
    auto cut = taken.begin();
    for (Run run : from) {
        while (cut != taken.end() && cut->end <= run.begin) {
            ++cut;
        }
        for (auto c = cut; c != taken.end() && c->begin < run.end; ++c) {
            if (c->begin > run.begin) {
                left.push_back({run.begin, c->begin});
            }
            run.begin = std::max(run.begin, c->end);
        }
        if (run.begin < run.end) {
            left.push_back(run);
        }
    }
    return left;
}

Runs window(const Axis1d& axis, const Window& at) {
    const auto& [positions, taps] = at;
    if (positions.size <= 0 || taps.size <= 0) {
        return {};
    }
    const Count begin = positions.begin * axis.step + taps.begin * axis.gap;
    if (axis.boxed) {
        return {{begin, begin + (positions.size - 1) * axis.step + (taps.size - 1) * axis.gap + 1}};
    }
    if (axis.gap == 1 || taps.size == 1) {
        return comb(begin, taps.size, axis.step, positions.size);
    }
    if (axis.step == 1 || positions.size == 1) {
        return comb(begin, positions.size, axis.gap, taps.size);
    }
    Runs runs;
    for (Count tap = 0; tap < taps.size; ++tap) {
        const Runs one = comb(begin + tap * axis.gap, 1, axis.step, positions.size);
        runs.insert(runs.end(), one.begin(), one.end());
    }
    return united(std::move(runs));
}

bool solid_windows(const Axis1d& axis, std::span<const Window> windows, std::vector<Run>& runs) {
    runs.clear();
    for (const auto& [positions, taps] : windows) {
        if (positions.size <= 0 || taps.size <= 0) {
            runs.push_back({});
            continue;
        }
        const bool solid = axis.boxed || (axis.gap == 1 && taps.size >= axis.step) ||
                           (axis.step == 1 && positions.size >= axis.gap) ||
                           (positions.size == 1 && (taps.size == 1 || axis.gap == 1)) ||
                           (taps.size == 1 && axis.step == 1);
        if (!solid) {
            return false;
        }
        const Count begin = positions.begin * axis.step + taps.begin * axis.gap;
        runs.push_back(
            {begin, begin + (positions.size - 1) * axis.step + (taps.size - 1) * axis.gap + 1});
    }
    return true;
}

Count moved_words(const std::vector<Runs>& now, const std::vector<Runs>& before, Measure measure) {
    if (measure == Measure::sent_tiles) {
        return sent_tiles(now, before);
    }
    if (measure == Measure::sent_new) {
        return length(without(all_of(now), all_of(before)));
    }
    const Runs held = measure == Measure::received_new ? all_of(before) : Runs{};
    Count words = 0;
    Runs lacking;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const bool fresh = before.empty();
        const Runs lack = measure == Measure::received_new ? without(now[i], held)
                          : fresh                          ? now[i]
                                                           : without(now[i], before[i]);
        words += length(lack);
        lacking.insert(lacking.end(), lack.begin(), lack.end());
    }
    return measure == Measure::sent ? length(united(std::move(lacking))) : words;
}

Count moved_words(std::span<const Run> now, std::span<const Run> before, Measure measure) {
    if (measure == Measure::received || now.size() == 1) {
        Count words = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            words += length(now[i]) - (before.empty() ? 0 : overlap(now[i], before[i]));
        }
        return words;
    }
    if (measure == Measure::sent_tiles) {
        return sent_tiles(now, before);
    }
    if (measure == Measure::sent) {
        Runs lacking;
        lacking.reserve(2 * now.size());
        for (std::size_t i = 0; i < now.size(); ++i) {
            add_difference(now[i], before.empty() ? Run{} : before[i], lacking);
        }
        return length(united(std::move(lacking)));
    }
    const Runs held = united(nonempty(before));
    if (measure == Measure::sent_new) {
        return length(without(united(nonempty(now)), held));
    }
    Count words = 0;
    for (const Run& run : now) {
        words += length(run);
        for (const Run& taken : held) {
            words -= overlap(run, taken);
        }
    }
    return words;
}

} // namespace eyeroof::model::nest
