#include "analysis/scale/load_draws.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::load {

double Random::uniform() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 0.5) / 9007199254740992.0;
}

double Random::normal() {
    constexpr double kTurn = 6.283185307179586;
    return std::sqrt(-2.0 * std::log(uniform())) * std::cos(kTurn * uniform());
}

RequestSize Draws::size() {
    if (!demand_.sizes.empty()) {
        return demand_.sizes[static_cast<std::size_t>(sized_++) % demand_.sizes.size()];
    }
    const Count prompt = std::min(length(demand_.prompt), room_ - 1);
    return {0.0, prompt, std::min(length(demand_.answer), room_ - prompt)};
}

double Draws::until_next_s() {
    return (demand_.even ? 1.0 : -std::log(random_.uniform())) / demand_.rate;
}

Count Draws::steps(Count answer) {
    if (demand_.drafted <= 0) {
        return answer - 1;
    }
    Count steps = 0;
    for (Count made = 1; made < answer; ++steps) {
        ++made;
        for (Count i = 0; i < demand_.drafted && random_.uniform() < demand_.acceptance; ++i) {
            ++made;
        }
    }
    return steps;
}

Count Draws::length(Count mean) {
    if (demand_.spread <= 0.0) {
        return mean;
    }
    const double variance = std::log1p(demand_.spread * demand_.spread);
    const double factor = std::exp(std::sqrt(variance) * random_.normal() - variance / 2.0);
    return std::max<Count>(std::llround(static_cast<double>(mean) * factor), 1);
}

} // namespace eyeroof::analysis::load
