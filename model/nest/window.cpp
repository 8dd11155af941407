#include "model/nest/window.hpp"

#include <algorithm>

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
    std::sort(runs.begin(), runs.end(),
              [](const Run& a, const Run& b) { return a.begin < b.begin; });
    Runs result;
    for (const Run& run : runs) {
        if (!result.empty() && run.begin <= result.back().end) {
            result.back().end = std::max(result.back().end, run.end);
        } else {
            result.push_back(run);
        }
    }
    return result;
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

Runs window(const Axis1d& axis, Interval positions, Interval taps) {
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

} // namespace eyeroof::model::nest
