#include "tests/model/simulator.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace eyeroof::test {

using namespace model;

namespace {

struct FlatLoop {
    Dim dim;
    Count bound, stride;
    std::size_t level;
    bool spatial;
};

using Digits = std::vector<Count>;
using Words = std::set<std::vector<Count>>;

class Simulator {
  public:
    Simulator(const Problem& problem, const Accelerator& machine, const Mapping& mapping)
        : problem_(problem), machine_(machine), mapping_(mapping), units_(machine.levels.size()) {
        Extents tile = kOnes;
        for (std::size_t i = units_; i-- > 0;) {
            const LevelMapping& level = mapping.levels[i];
            for (auto l = level.spatial.rbegin(); l != level.spatial.rend(); ++l) {
                loops_.insert(loops_.begin(), {l->dim, l->bound, tile[index(l->dim)], i, true});
                tile[index(l->dim)] *= l->bound;
            }
            for (auto l = level.temporal.rbegin(); l != level.temporal.rend(); ++l) {
                loops_.insert(loops_.begin(), {l->dim, l->bound, tile[index(l->dim)], i, false});
                tile[index(l->dim)] *= l->bound;
            }
        }
        result_.levels.resize(units_);
        result_.edges.resize(units_);
    }

    SimulatedCost run() {
        walk(0, Digits(loops_.size(), 0), false, loops_.size(), [&](const Digits& time) {
            bool busy = false;
            walk(0, time, true, loops_.size(), [&](const Digits& all) {
                if (valid(all)) {
                    ++result_.macs;
                    busy = true;
                }
            });
            if (busy) {
                ++result_.compute_steps;
                times_.push_back(time);
            }
        });
        for (const Operand o : kAllOperands) {
            if (o != Operand::weight || problem_.has_weight) {
                o == problem_.produced ? sums(o) : reads(o);
            }
        }
        return result_;
    }

  private:
    // Every value of the temporal (or spatial) loops before `end`, in loop order.
    template <class F>
    void walk(std::size_t at, Digits digits, bool spatial, std::size_t end, const F& f) const {
        while (at < end && loops_[at].spatial != spatial) {
            ++at;
        }
        if (at >= end) {
            f(digits);
            return;
        }
        for (Count v = 0; v < loops_[at].bound; ++v) {
            digits[at] = v;
            walk(at + 1, digits, spatial, end, f);
        }
    }

    Extents position(const Digits& digits) const {
        Extents p{};
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            p[index(loops_[i].dim)] += digits[i] * loops_[i].stride;
        }
        return p;
    }
    bool valid(const Digits& digits) const {
        const Extents p = position(digits);
        for (std::size_t d = 0; d < kDims; ++d) {
            if (p[d] >= problem_.bounds[d]) {
                return false;
            }
        }
        return true;
    }
    std::vector<Count> word(Operand o, const Digits& digits) const {
        const Extents p = position(digits);
        const auto at = [&](Dim d) { return p[index(d)]; };
        if (o == Operand::weight) {
            return {at(Dim::G), at(Dim::K), at(Dim::C), at(Dim::R), at(Dim::S)};
        }
        if (o == Operand::output) {
            return {at(Dim::N), at(Dim::G), at(Dim::K), at(Dim::P), at(Dim::Q)};
        }
        return {at(Dim::N), at(Dim::G), at(Dim::C),
                at(Dim::P) * problem_.stride.h + at(Dim::R) * problem_.dilation.h,
                at(Dim::Q) * problem_.stride.w + at(Dim::S) * problem_.dilation.w};
    }

    std::size_t begin(std::size_t level) const {
        std::size_t i = 0;
        while (i < loops_.size() && loops_[i].level < level) {
            ++i;
        }
        return i;
    }
    // What the instance at these outer digits works on.
    Words tile(Operand o, std::size_t level, Digits digits) const {
        Words words;
        fill(o, begin(level), digits, words);
        return words;
    }
    void fill(Operand o, std::size_t at, Digits& digits, Words& words) const {
        if (at == loops_.size()) {
            if (valid(digits)) {
                words.insert(word(o, digits));
            }
            return;
        }
        for (Count v = 0; v < loops_[at].bound; ++v) {
            digits[at] = v;
            fill(o, at + 1, digits, words);
        }
    }
    std::vector<Digits> instances(std::size_t level) const {
        std::vector<Digits> all;
        walk(0, Digits(loops_.size(), 0), true, begin(level),
             [&](const Digits& d) { all.push_back(d); });
        return all;
    }
    Digits joined(const Digits& time, const Digits& space) const {
        Digits d = time;
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            d[i] = loops_[i].spatial ? space[i] : time[i];
        }
        return d;
    }
    // Digits that tell groups apart whose words are not merged.
    Digits group(const Digits& space, std::size_t tile_level, std::size_t from,
                 const std::vector<bool>& merges) const {
        Digits d = space;
        for (std::size_t i = 0; i < begin(tile_level); ++i) {
            if (loops_[i].spatial && loops_[i].level >= from && merges[loops_[i].level]) {
                d[i] = 0;
            }
        }
        return d;
    }

    enum class Move { none, slide, fresh };
    // How a level's tile moves between two times.
    Move move(Operand o, std::size_t level, const Digits* before, const Digits& now) const {
        if (before == nullptr || level == units_) {
            return Move::fresh;
        }
        std::size_t changed = loops_.size();
        std::size_t moving = loops_.size();
        for (std::size_t i = begin(level); i-- > 0;) {
            if (!loops_[i].spatial && (*before)[i] != now[i]) {
                changed = i;
            }
            if (!loops_[i].spatial && loops_[i].bound > 1 && moving == loops_.size() &&
                relevant(o, loops_[i].dim)) {
                moving = i;
            }
        }
        if (changed == loops_.size() || moving == loops_.size() || changed > moving) {
            return Move::none;
        }
        return changed == moving ? Move::slide : Move::fresh;
    }

    std::vector<std::size_t> homes(Operand o) const {
        std::vector<std::size_t> h;
        for (std::size_t i = 0; i < units_; ++i) {
            if (mapping_.levels[i].keeps.contains(o)) {
                h.push_back(i);
            }
        }
        return h;
    }

    static Words minus(const Words& a, const Words& b) {
        Words r;
        std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(r, r.begin()));
        return r;
    }

    void reads(Operand o) {
        const auto h = homes(o);
        for (std::size_t i = 0; i < h.size(); ++i) {
            link(o, h[i], i + 1 < h.size() ? h[i + 1] : units_);
        }
    }

    bool forwards(Operand o, std::size_t p, std::size_t c) const {
        bool any = false;
        for (std::size_t i = p; i < c; ++i) {
            const Channel* ch = channel_of(machine_.levels[i], o);
            if (!mapping_.levels[i].spatial.empty()) {
                any = true;
                if (ch == nullptr || !ch->forwards) {
                    return false;
                }
            }
        }
        return any && c < units_;
    }

    void link(Operand o, std::size_t p, std::size_t c) {
        std::vector<bool> merges;
        for (const Level& level : machine_.levels) {
            const Channel* ch = channel_of(level, o);
            merges.push_back(ch == nullptr || ch->cast != Cast::unicast);
        }
        const auto all = instances(c);
        const bool forward = forwards(o, p, c);
        std::map<Digits, Words> held;
        const Digits* before = nullptr;
        for (const Digits& time : times_) {
            const Move m = move(o, c, before, time);
            before = &time;
            if (m == Move::none) {
                continue;
            }
            std::map<Digits, Words> lacking;
            std::map<Digits, Words> now;
            for (const Digits& space : all) {
                now[space] = tile(o, c, joined(time, space));
                lacking[space] = m == Move::slide ? minus(now[space], held[space]) : now[space];
            }
            deliver(o, p, c, merges, forward, m == Move::slide, now, lacking, held);
            held = now;
        }
    }

    void deliver(Operand o, std::size_t p, std::size_t c, const std::vector<bool>& merges,
                 bool forward, bool slide, const std::map<Digits, Words>& now,
                 const std::map<Digits, Words>& lacking, const std::map<Digits, Words>& held) {
        Count received = 0;
        for (const auto& [space, words] : lacking) {
            received += static_cast<Count>(words.size());
        }
        if (c < units_) {
            result_.levels[c][index(o)].fills += received;
        }
        Count arriving = received;
        for (std::size_t e = c; e-- > p;) {
            std::map<Digits, Words> groups;
            std::map<Digits, Words> had;
            for (const auto& [space, words] : forward ? now : lacking) {
                groups[group(space, c, e, merges)].insert(words.begin(), words.end());
            }
            for (const auto& [space, words] : held) {
                had[group(space, c, e, merges)].insert(words.begin(), words.end());
            }
            Count sent = 0;
            for (const auto& [key, words] : groups) {
                sent += static_cast<Count>(forward && slide ? minus(words, had[key]).size()
                                                            : words.size());
            }
            result_.edges[e].down[index(o)] += sent;
            result_.edges[e].delivered[index(o)] += arriving;
            arriving = sent;
            if (e == p) {
                result_.levels[p][index(o)].reads += sent;
                for (const auto& [space, words] : now) {
                    if (forward && slide) { // what a neighbour held comes from there
                        const Words fresh = minus(words, had[group(space, c, e, merges)]);
                        result_.levels[c][index(o)].reads +=
                            static_cast<Count>(lacking.at(space).size() - fresh.size());
                    }
                }
            }
        }
    }

    using Tile = std::map<std::vector<Count>, bool>; // word -> holds a sum
    struct Home {
        std::size_t level;
        std::map<Digits, Tile> tiles;
    };

    void sums(Operand o) {
        std::vector<Home> all;
        for (const std::size_t level : homes(o)) {
            all.push_back({level, {}});
        }
        const Digits* before = nullptr;
        for (const Digits& time : times_) {
            for (std::size_t h = all.size(); h-- > 0;) {
                evict(o, all, h, before, &time);
            }
            for (std::size_t h = 0; h < all.size(); ++h) {
                enter(o, all, h, before, time);
            }
            add(o, all.back(), time);
            before = &time;
        }
        for (std::size_t h = all.size(); h-- > 0;) {
            evict(o, all, h, before, nullptr);
        }
    }

    Digits above(const Digits& space, std::size_t level) const {
        Digits d = space;
        for (std::size_t i = begin(level); i < loops_.size(); ++i) {
            d[i] = 0;
        }
        return d;
    }

    // One arrival at a home: it is added to what is there, which must be read, or starts the sum.
    void arrive(Operand o, Home& home, const Digits& space, const std::vector<Count>& w) {
        Accesses& a = result_.levels[home.level][index(o)];
        bool& holds = home.tiles[above(space, home.level)][w];
        ++a.updates;
        a.reads += holds ? 1 : 0;
        holds = true;
    }

    std::vector<bool> reducing(Operand o) const {
        std::vector<bool> merges;
        for (const Level& level : machine_.levels) {
            const Channel* ch = channel_of(level, o);
            merges.push_back(ch == nullptr || ch->reduces);
        }
        return merges;
    }

    void send_up(Operand o, Home& parent, std::size_t c, const std::map<Digits, Words>& leaving) {
        for (std::size_t e = c; e-- > parent.level;) {
            std::map<Digits, Words> groups;
            for (const auto& [space, words] : leaving) {
                groups[group(space, c, e, reducing(o))].insert(words.begin(), words.end());
            }
            for (const auto& [space, words] : groups) {
                result_.edges[e].up[index(o)] += static_cast<Count>(words.size());
                if (e == parent.level) {
                    for (const auto& w : words) {
                        arrive(o, parent, space, w);
                    }
                }
            }
        }
    }

    void evict(Operand o, std::vector<Home>& all, std::size_t h, const Digits* before,
               const Digits* now) {
        Home& home = all[h];
        const Move m = now == nullptr      ? Move::fresh
                       : before == nullptr ? Move::none
                                           : move(o, home.level, before, *now);
        if (m == Move::none || h == 0) {
            return;
        }
        std::map<Digits, Words> leaving;
        for (auto& [space, held] : home.tiles) {
            const Words next = m == Move::slide && now != nullptr
                                   ? tile(o, home.level, joined(*now, space))
                                   : Words{};
            for (auto w = held.begin(); w != held.end();) {
                if (next.count(w->first) == 0) {
                    leaving[space].insert(w->first);
                    w = held.erase(w);
                } else {
                    ++w;
                }
            }
        }
        send_up(o, all[h - 1], home.level, leaving);
    }

    void enter(Operand o, std::vector<Home>& all, std::size_t h, const Digits* before,
               const Digits& now) {
        Home& home = all[h];
        if (before != nullptr && move(o, home.level, before, now) == Move::none) {
            return;
        }
        const std::vector<bool> everyone(units_, true);
        std::set<std::pair<Digits, std::vector<Count>>> returned;
        for (const Digits& space : instances(home.level)) {
            Tile& held = home.tiles[space];
            for (const auto& w : tile(o, home.level, joined(now, space))) {
                if (held.count(w) > 0) {
                    continue;
                }
                bool holds = false;
                if (h > 0) {
                    Tile& parent = all[h - 1].tiles[above(space, all[h - 1].level)];
                    const Digits key = group(space, home.level, all[h - 1].level, everyone);
                    holds = parent[w] && returned.insert({key, w}).second;
                    if (holds) {
                        ++result_.levels[home.level][index(o)].fills;
                        for (std::size_t e = all[h - 1].level; e < home.level; ++e) {
                            ++result_.edges[e].down[index(o)];
                            ++result_.edges[e].delivered[index(o)];
                        }
                    }
                }
                held[w] = holds;
            }
        }
    }

    void add(Operand o, Home& inner, const Digits& time) {
        std::map<Digits, Words> leaving;
        walk(0, time, true, loops_.size(), [&](const Digits& all) {
            if (valid(all)) {
                leaving[joined(Digits(loops_.size(), 0), all)].insert(word(o, all));
            }
        });
        send_up(o, inner, units_, leaving);
    }

    const Problem& problem_;
    const Accelerator& machine_;
    const Mapping& mapping_;
    std::size_t units_;
    std::vector<FlatLoop> loops_;
    std::vector<Digits> times_;
    SimulatedCost result_;
};

} // namespace

SimulatedCost simulate(const Problem& problem, const Accelerator& machine, const Mapping& mapping) {
    return Simulator(problem, machine, mapping).run();
}

} // namespace eyeroof::test
