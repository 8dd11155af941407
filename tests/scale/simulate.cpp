#include "tests/scale/simulate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace eyeroof::tests {

using analysis::Algorithm;
using analysis::Collective;

namespace {

// Members with ports inside their unit and, where there are several units, to the outside.
class Builder {
  public:
    explicit Builder(const SimSystem& system) : system_(system) {
        for (std::size_t i = 0; i < system.members(); ++i) {
            inner_out_.push_back(sim_.port());
            inner_in_.push_back(sim_.port());
        }
        const std::size_t outer = system.one_outer_port ? system.outside : system.members();
        for (std::size_t i = 0; i < outer; ++i) {
            outer_out_.push_back(sim_.port());
            outer_in_.push_back(sim_.port());
        }
    }

    std::size_t send(std::size_t from, std::size_t to, double bytes,
                     std::vector<std::size_t> after) {
        const bool inside = from / system_.inside == to / system_.inside;
        SimMessage m;
        m.level = inside ? 0 : 1;
        m.bytes = bytes;
        m.overhead_s = system_.overhead_s;
        m.after = std::move(after);
        m.bytes_per_s = inside ? system_.inner_bytes_per_s : system_.outer_bytes_per_s;
        m.latency_s = inside ? system_.inner_latency_s : system_.outer_latency_s;
        const auto port = [&](std::size_t member) {
            return system_.one_outer_port ? member / system_.inside : member;
        };
        m.out = inside ? inner_out_[from] : outer_out_[port(from)];
        m.in = inside ? inner_in_[to] : outer_in_[port(to)];
        return sim_.send(std::move(m));
    }

    // A ring among `ranks`, `steps` pieces each; what arrived last at each member.
    void ring(const std::vector<std::size_t>& ranks, std::size_t steps, double piece,
              std::vector<std::vector<std::size_t>>& last) {
        for (std::size_t s = 0; s < steps; ++s) {
            std::vector<std::size_t> now(ranks.size());
            for (std::size_t i = 0; i < ranks.size(); ++i) {
                now[(i + 1) % ranks.size()] =
                    send(ranks[i], ranks[(i + 1) % ranks.size()], piece, last[ranks[i]]);
            }
            for (std::size_t i = 0; i < ranks.size(); ++i) {
                last[ranks[i]] = {now[i]};
            }
        }
    }

    // Between a member and the outermost level's switch, which has a port for each member.
    std::size_t to_switch(std::size_t from, double bytes, std::vector<std::size_t> after) {
        return switched(from, bytes, std::move(after), true);
    }
    std::size_t from_switch(std::size_t to, double bytes, std::vector<std::size_t> after) {
        return switched(to, bytes, std::move(after), false);
    }

    void hold() { sim_.hold(); }
    SimResult run() { return sim_.run(); }

  private:
    std::size_t switched(std::size_t member, double bytes, std::vector<std::size_t> after,
                         bool up) {
        const bool inner = system_.outside == 1;
        SimMessage m;
        m.level = up ? (inner ? 0 : 1) : 2; // what the switch itself sends is counted apart
        m.bytes = bytes;
        m.after = std::move(after);
        m.overhead_s = system_.overhead_s;
        m.bytes_per_s = inner ? system_.inner_bytes_per_s : system_.outer_bytes_per_s;
        m.latency_s = inner ? system_.inner_latency_s : system_.outer_latency_s;
        m.latency_s += up ? system_.reduced_base_s : 0.0;
        if (up) {
            m.out = inner ? inner_out_[member] : outer_out_[member];
            m.in = sim_.port();
        } else {
            m.out = sim_.port();
            m.in = inner ? inner_in_[member] : outer_in_[member];
        }
        return sim_.send(std::move(m));
    }

    SimSystem system_;
    Simulation sim_;
    std::vector<std::size_t> inner_out_, inner_in_, outer_out_, outer_in_;
};

using Last = std::vector<std::vector<std::size_t>>;

std::vector<std::size_t> all_of(std::size_t n) {
    std::vector<std::size_t> ranks(n);
    for (std::size_t i = 0; i < n; ++i) {
        ranks[i] = i;
    }
    return ranks;
}

// Sends and receives block, one after the other: a member begins the next when the last arrived.
void tree(Builder& b, std::size_t n, double bytes, bool up) {
    Last done(n);
    const auto exchange = [&](std::size_t from, std::size_t to) {
        std::vector<std::size_t> after = done[from];
        after.insert(after.end(), done[to].begin(), done[to].end());
        done[from] = done[to] = {b.send(from, to, bytes, after)};
    };
    for (std::size_t d = 1; up && d < n; d *= 2) {
        for (std::size_t r = d; r < n; r += 2 * d) {
            exchange(r, r - d);
        }
    }
    for (std::size_t d = std::bit_ceil(n) / 2; d > 0; d /= 2) {
        for (std::size_t r = d; r < n; r += 2 * d) {
            exchange(r - d, r);
        }
    }
}

void halving(Builder& b, std::size_t n, double bytes) {
    const std::size_t core = std::bit_floor(n);
    Last got(n);
    for (std::size_t r = core; r < n; ++r) {
        got[r - core] = {b.send(r, r - core, bytes, {})};
    }
    const auto round = [&](std::size_t d, double part) {
        Last now(n);
        for (std::size_t r = 0; r < core; ++r) {
            std::vector<std::size_t> after = got[r]; // both sides of an exchange are there
            after.insert(after.end(), got[r ^ d].begin(), got[r ^ d].end());
            now[r ^ d] = {b.send(r, r ^ d, part, after)};
        }
        got = now;
    };
    double part = bytes;
    for (std::size_t d = core / 2; d > 0; d /= 2) {
        part /= 2.0;
        round(d, part);
    }
    for (std::size_t d = 1; d < core; d *= 2) {
        round(d, part);
        part *= 2.0;
    }
    for (std::size_t r = core; r < n; ++r) {
        b.send(r - core, r, bytes, got[r - core]);
    }
}

void server(Builder& b, std::size_t n, double bytes, std::size_t servers) {
    constexpr std::size_t pieces = 120;
    const double part = bytes / static_cast<double>(servers * pieces);
    for (std::size_t p = 0; p < pieces; ++p) {
        for (std::size_t s = 0; s < servers; ++s) {
            std::vector<std::size_t> in;
            for (std::size_t w = 0; w < n; ++w) {
                in.push_back(b.send((w + s) % n, n + s, part, {}));
            }
            for (std::size_t w = 0; w < n; ++w) {
                b.send(n + s, (w + s) % n, part, in);
            }
        }
    }
}

void sharded(Builder& b, std::size_t n, double bytes) {
    std::vector<std::vector<std::size_t>> in(n);
    const double part = bytes / static_cast<double>(n);
    for (std::size_t k = 1; k < n; ++k) {
        for (std::size_t r = 0; r < n; ++r) {
            in[(r + k) % n].push_back(b.send(r, (r + k) % n, part, {}));
        }
    }
    for (std::size_t k = 1; k < n; ++k) {
        for (std::size_t r = 0; r < n; ++r) {
            b.send(r, (r + k) % n, part, in[r]);
        }
    }
}

void direct(Builder& b, std::size_t n, double bytes) {
    for (std::size_t k = 1; k < n; ++k) {
        for (std::size_t r = 0; r < n; ++r) {
            b.send(r, (r + k) % n, bytes / static_cast<double>(n), {});
        }
    }
}

void by_levels(Builder& b, const SimSystem& s, double bytes) {
    Last got(s.members());
    const double inside = static_cast<double>(s.inside);
    const auto inner = [&] {
        for (std::size_t u = 0; u < s.outside; ++u) {
            std::vector<std::size_t> ranks;
            for (std::size_t i = 0; i < s.inside; ++i) {
                ranks.push_back(u * s.inside + i);
            }
            b.ring(ranks, s.inside - 1, bytes / inside, got);
        }
    };
    inner();
    for (std::size_t i = 0; i < s.inside; ++i) {
        std::vector<std::size_t> ranks;
        for (std::size_t u = 0; u < s.outside; ++u) {
            ranks.push_back(u * s.inside + i);
        }
        b.ring(ranks, 2 * (s.outside - 1), bytes / static_cast<double>(s.members()), got);
    }
    inner();
}

// Parents and children of the in-order binary tree of n members; 0 is above all.
struct BinaryTree {
    std::vector<std::size_t> parent; // n: none
    std::vector<std::vector<std::size_t>> children;
    std::size_t root = 0;
};

BinaryTree in_order_tree(std::size_t n) {
    BinaryTree tree{std::vector<std::size_t>(n, n), std::vector<std::vector<std::size_t>>(n), 0};
    for (std::size_t r = 1; r < n; ++r) {
        const std::size_t bit = r & (~r + 1);
        const std::size_t up = (r ^ bit) | (bit << 1);
        tree.parent[r] = up < n ? up : r ^ bit;
        tree.children[tree.parent[r]].push_back(r);
    }
    return tree;
}

// The same tree with other members on its places, so that who is inner in one is a leaf in the
// other: mirrored where n is even, moved on by one where it is odd.
BinaryTree other_tree(const BinaryTree& tree) {
    const std::size_t n = tree.parent.size();
    const auto moved = [n](std::size_t r) { return n % 2 == 0 ? n - 1 - r : (r + 1) % n; };
    BinaryTree other{std::vector<std::size_t>(n, n), std::vector<std::vector<std::size_t>>(n),
                     moved(tree.root)};
    for (std::size_t r = 0; r < n; ++r) {
        other.parent[moved(r)] = tree.parent[r] < n ? moved(tree.parent[r]) : n;
        for (const std::size_t child : tree.children[r]) {
            other.children[moved(r)].push_back(moved(child));
        }
    }
    return other;
}

// The messages that bring a piece's sum of `member`'s children to it.
std::vector<std::size_t> gather(Builder& b, const BinaryTree& tree, std::size_t member,
                                double piece) {
    std::vector<std::size_t> arrived;
    for (const std::size_t child : tree.children[member]) {
        arrived.push_back(b.send(child, member, piece, gather(b, tree, child, piece)));
    }
    return arrived;
}

void scatter(Builder& b, const BinaryTree& tree, std::size_t member, double piece,
             const std::vector<std::size_t>& after) {
    for (const std::size_t child : tree.children[member]) {
        scatter(b, tree, child, piece, {b.send(member, child, piece, after)});
    }
}

// Each tree carries half of the array, piece by piece up and down again.
void double_tree(Builder& b, std::size_t n, double bytes, double chunk) {
    const BinaryTree one = in_order_tree(n);
    const BinaryTree trees[] = {one, other_tree(one)};
    const double pieces = std::max(1.0, std::ceil(bytes / 2.0 / chunk - 1e-9));
    const double piece = bytes / 2.0 / pieces;
    b.hold();
    for (double k = 0.0; k < pieces; ++k) {
        for (const BinaryTree& tree : trees) {
            scatter(b, tree, tree.root, piece, gather(b, tree, tree.root, piece));
        }
    }
}

// Up to the switch, which adds up, and down again, piece by piece.
void through_switch(Builder& b, const std::vector<std::size_t>& members, double bytes, Last& last) {
    constexpr std::size_t pieces = 250; // a switch adds up packets, not arrays
    const double piece = bytes / static_cast<double>(pieces);
    const Last before = last;
    for (const std::size_t member : members) {
        last[member].clear();
    }
    for (std::size_t p = 0; p < pieces; ++p) {
        std::vector<std::size_t> up;
        for (const std::size_t member : members) {
            up.push_back(b.to_switch(member, piece, before[member]));
        }
        for (const std::size_t member : members) {
            last[member].push_back(b.from_switch(member, piece, up));
        }
    }
}

// Scattered inside each unit, added up by the switch outside, gathered again.
void in_switch(Builder& b, const SimSystem& s, double bytes) {
    Last got(s.members());
    b.hold();
    if (s.outside == 1) {
        through_switch(b, all_of(s.inside), bytes, got);
        return;
    }
    const double part = bytes / static_cast<double>(s.inside);
    const auto inner = [&] {
        for (std::size_t u = 0; u < s.outside; ++u) {
            std::vector<std::size_t> ranks;
            for (std::size_t i = 0; i < s.inside; ++i) {
                ranks.push_back(u * s.inside + i);
            }
            b.ring(ranks, s.inside - 1, part, got);
        }
    };
    inner();
    for (std::size_t i = 0; i < s.inside; ++i) {
        std::vector<std::size_t> ranks;
        for (std::size_t u = 0; u < s.outside; ++u) {
            ranks.push_back(u * s.inside + i);
        }
        through_switch(b, ranks, part, got);
    }
    inner();
}

} // namespace

SimResult simulate(const SimSystem& system, Collective kind, Algorithm algorithm, double bytes,
                   std::size_t servers) {
    SimSystem with = system;
    const std::size_t n = system.members();
    if (algorithm == Algorithm::server) {
        with.inside = n + servers; // they stand beside the workers
    }
    Builder b(with);
    Last got(n);
    const std::size_t passes = kind == Collective::all_reduce ? 2 : 1;
    switch (algorithm) {
    case Algorithm::ring:
        b.ring(all_of(n), passes * (n - 1), bytes / static_cast<double>(n), got);
        break;
    case Algorithm::tree:
        tree(b, n, bytes, kind == Collective::all_reduce);
        break;
    case Algorithm::halving_doubling:
        halving(b, n, bytes);
        break;
    case Algorithm::hierarchical:
        by_levels(b, system, bytes);
        break;
    case Algorithm::server:
        server(b, n, bytes, servers);
        break;
    case Algorithm::sharded_server:
        sharded(b, n, bytes);
        break;
    case Algorithm::one_shot: // closed forms only: held against measured ones
    case Algorithm::two_shot:
        break;
    case Algorithm::direct:
        direct(b, n, bytes);
        break;
    case Algorithm::double_tree:
        double_tree(b, n, bytes, system.chunk_bytes);
        break;
    case Algorithm::in_switch:
        in_switch(b, system, bytes);
        break;
    }
    return b.run();
}

} // namespace eyeroof::tests
