#include "model/fuse/products.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace eyeroof::model::fuse {

namespace {

// Prime factors above this that are left together count as one: see the header.
constexpr Count kLargestTried = 1'000'000;

std::vector<Count> divisors(Count n) {
    std::vector<Count> all{1};
    const auto with = [&](Count prime, int times) {
        const std::size_t before = all.size();
        for (Count power = prime; times > 0; --times, power *= times > 0 ? prime : 1) {
            for (std::size_t i = 0; i < before; ++i) {
                all.push_back(all[i] * power);
            }
        }
    };
    for (Count prime = 2; prime <= kLargestTried && prime * prime <= n; ++prime) {
        int times = 0;
        for (; n % prime == 0; n /= prime) {
            ++times;
        }
        with(prime, times);
    }
    with(n, n > 1 ? 1 : 0);
    std::sort(all.begin(), all.end());
    return all;
}

struct Loop {
    Count trips = 1;
    int axis = 0;
};

// Advances of the loops, outermost first, that move an operand which depends on `axes`.
template <std::size_t N> Count moves(const std::array<Loop, N>& loops, unsigned axes) {
    Count product = 1;
    bool inner_run = true;
    for (std::size_t i = N; i-- > 0;) {
        const bool relevant = (axes >> loops[i].axis & 1U) != 0;
        if (loops[i].trips == 1 || (inner_run && !relevant)) {
            continue;
        }
        inner_run = false;
        product *= loops[i].trips;
    }
    return product;
}

// Holds no point that another is as good as. What does not fit 63 bits is none.
class Front {
  public:
    void add(std::optional<Count> words, std::optional<Count> traffic) {
        if (!words || !traffic) {
            return;
        }
        auto after = least_.upper_bound(*words);
        if (after != least_.begin() && std::prev(after)->second <= *traffic) {
            return;
        }
        while (after != least_.end() && after->second >= *traffic) {
            after = least_.erase(after);
        }
        least_.insert_or_assign(*words, *traffic);
    }
    std::vector<Point> points() const {
        std::vector<Point> front;
        front.reserve(least_.size());
        for (const auto& [words, traffic] : least_) {
            front.push_back({words, traffic});
        }
        return front;
    }

  private:
    std::map<Count, Count> least_; // traffic falls as words grow
};

std::optional<Count> sum(std::initializer_list<std::optional<Count>> parts) {
    std::optional<Count> all = 0;
    for (const auto& part : parts) {
        all = all && part ? checked_add(*all, *part) : std::nullopt;
    }
    return all;
}

// Words of a slab that moves so often.
std::optional<Count> moved(Count words, Count times) {
    return checked_mul(words, times);
}

// Tiles of `a` by `b` of one operand rest; the other two pass along them, a word of the third
// dimension at a time. `rests`, `with_a`, `with_b`: words of the operands; with_a is the one that
// has dimension a, and so on. `sums`: which of them is C, and moves twice less once.
enum class Sums { rest, have_a, have_b };

void add_class(Front& front, Count a_all, Count b_all, Count third, Sums sums) {
    const Count rests = a_all * b_all;
    const Count with_a = a_all * third;
    const Count with_b = b_all * third;
    const auto twice = [](Count words, Count times, bool is_sum) {
        return is_sum ? moved(words, 2 * times - 1) : moved(words, times);
    };
    for (const Count a : divisors(a_all)) {
        for (const Count b : divisors(b_all)) {
            front.add(sum({moved(a, b), a, b}),
                      sum({rests, twice(with_a, b_all / b, sums == Sums::have_a),
                           twice(with_b, a_all / a, sums == Sums::have_b)}));
        }
    }
}

} // namespace

std::vector<Point> front_of(const Product& p) {
    // An operand rests while the innermost loop that moves goes along the dimension that it does
    // not have; then nothing depends on the tile's size along that dimension, and one word is
    // enough. The others move once for each tile along the dimension that they do not have.
    Front front;
    add_class(front, p.m, p.n, p.k, Sums::rest);   // C rests, A has m, B has n
    add_class(front, p.m, p.k, p.n, Sums::have_a); // A rests, C has m, B has k
    add_class(front, p.k, p.n, p.m, Sums::have_b); // B rests, A has k, C has n
    return front.points();
}

std::vector<Point> front_of(const Pair& p) {
    Front front;
    const auto ms = divisors(p.m);
    const auto ls = divisors(p.l);
    for (const Count m : ms) {
        for (const Count l : ls) {
            const Loop over_m{p.m / m, 0};
            const Loop over_l{p.l / l, 1};
            const Count steps = over_m.trips * over_l.trips;
            for (const bool m_outside : {true, false}) {
                const std::array<Loop, 2> loops =
                    m_outside ? std::array{over_m, over_l} : std::array{over_l, over_m};
                const Count by_m = moves(loops, 1);
                const Count by_l = moves(loops, 2);
                for (unsigned held = 0; held < 16; ++held) {
                    const bool a = held & 1U, b = held & 2U, d = held & 4U, e = held & 8U;
                    const Count slabs = (a ? m * p.k : 0) + (b ? p.k * l : 0) + (d ? l * p.n : 0) +
                                        (e ? m * p.n : 0);
                    // Tiles of one word along k and n are enough for what streams.
                    const Count first = (a ? 0 : m) + (b ? 0 : l);
                    const Count second = (d ? 0 : l) + (e ? 0 : m);
                    const auto once = moved(m * p.n, e ? by_m : steps);
                    front.add(
                        m * l + slabs + std::max(first, second),
                        sum({moved(m * p.k, a ? by_m : steps), moved(p.k * l, b ? by_l : steps),
                             moved(l * p.n, d ? by_l : steps), once, once, -p.m * p.n}));
                }
            }
        }
    }
    return front.points();
}

} // namespace eyeroof::model::fuse
