#include "mapper/evaluate.hpp"

#include <algorithm>
#include <limits>

// All is linear in the words of the links, with coefficients that are worked out once; see
// estimate_energy.cpp for the sums. Of each link the variant with the fewest words applies.

namespace eyeroof::mapper {

using namespace model;

namespace {

// Products of the rows of N groups.
template <std::size_t N> struct Rows {
    std::array<const double*, N> row;

    double operator()(std::size_t cost_factor) const {
        double product = row[0][cost_factor];
        for (std::size_t n = 1; n < N; ++n) {
            product *= row[n][cost_factor];
        }
        return product;
    }
};

std::uint32_t narrow(std::size_t n) {
    return static_cast<std::uint32_t>(n);
}

// A group with one chain whose cost factors are all 1 contributes nothing.
bool contributes(const Space& space, std::size_t g) {
    if (space.groups[g].chains.size() != 1) {
        return true;
    }
    const double* row = space.cost_factor(g, 0);
    return std::any_of(row + 1, row + space.cost_factors,
                       [](double factor) { return factor != 1.0; });
}

// The product of a cost factor's factors when it is the same for every mapping.
std::optional<double> fixed(const Space& space, std::size_t cost_factor) {
    double product = 1.0;
    for (std::size_t g = 0; g < kGroups; ++g) {
        const double factor = space.cost_factor(g, 0)[cost_factor];
        const auto& nodes = space.groups[g].nodes;
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            if (nodes[n].children == 0 && space.cost_factor(g, n)[cost_factor] != factor) {
                return std::nullopt;
            }
        }
        product *= factor;
    }
    return product;
}

} // namespace

Evaluator::Evaluator(const Estimator& estimator) : e_(estimator) {
    base_pj_ = e_.task_->machine.mac_pj * e_.macs_;
    for (std::size_t g = 0; g < kGroups; ++g) {
        if (contributes(*e_.space_, g)) {
            groups_.push_back(g);
        }
    }
    for (std::size_t i = 0; i < e_.levels_; ++i) {
        if (e_.fits_.fanout(i) > 1.0) {
            fanned_.push_back(i);
        }
    }
    for (std::size_t l = 0; l < e_.space_->links.size(); ++l) {
        add_flow(l);
    }
    add_sums_energy();
}

void Evaluator::add_flow(std::size_t l) {
    const Link& link = e_.space_->links[l];
    Flow flow;
    flow.received = narrow(link.received);
    flow.sent = narrow(link.sent);
    flow.reduced = narrow(link.reduced);
    flow.lanes = narrow(link.lanes);
    flow.produced = link.produced;
    flow.inner = link.child < e_.levels_;
    flow.volume = link.volume;
    for (const Estimator::Term& term : e_.terms_[l]) {
        if (term.cost_factor == link.sent) {
            flow.sent_pj += term.pj / link.volume;
        } else if (term.cost_factor == link.received && !link.produced) {
            flow.received_pj += term.pj / link.volume;
        } else {
            flow.terms.push_back({narrow(term.cost_factor), term.pj});
        }
    }
    if (!flow.inner) {
        flow.fixed_received = fixed(*e_.space_, link.received);
        flow.fixed_sent = fixed(*e_.space_, link.sent);
    }
    add_link_cycles(flow, link);
    flows_.push_back(std::move(flow));
}

// As Estimator::tabulate_sums(), all trips known.
void Evaluator::add_sums_energy() {
    const std::size_t o = index(e_.task_->problem.produced);
    double gain = 0.0; // of the next inner link
    for (std::size_t i = e_.sums_.size(); i-- > 0;) {
        const Link& link = e_.space_->links[e_.sums_[i]];
        Flow& flow = flows_[e_.sums_[i]];
        const double read = e_.read_pj_[link.parent][o];
        double back = flow.inner ? e_.write_pj_[link.child][o] : 0.0;
        for (std::size_t e = link.parent; flow.inner && e < link.child; ++e) {
            back += e_.hop_pj_[e][o];
        }
        flow.sent_pj += e_.update_pj_[link.parent] + read;
        flow.received_pj = back;
        if (e_.timeloop_) {
            flow.started_pj = -read;
        } else {
            flow.lane_pj = gain;
            gain += -read - back;
        }
    }
    base_pj_ += e_.timeloop_ ? 0.0 : gain * e_.made_words_;
}

void Evaluator::add_link_cycles(Flow& flow, const Link& link) {
    using Direction = Bandwidth::Direction;
    for (std::size_t p = 0; p < e_.bandwidth_cycles_.bandwidths().size() && p < kMaxBandwidths;
         ++p) {
        const Bandwidth& bandwidth = e_.bandwidth_cycles_.bandwidths()[p];
        for (std::size_t n = 0; n < bandwidth.count; ++n) {
            const Bandwidth::Part& part = bandwidth.parts[n];
            const std::size_t at = part.level;
            const bool crosses = at >= link.parent && at < link.child;
            const auto add = [&](bool here, Words words, std::size_t cost_factor = 0) {
                if (here && part.operand == index(link.operand)) {
                    flow.link_cycles.push_back(
                        {words, narrow(p), narrow(cost_factor), part.cycles_per_word});
                }
            };
            const std::size_t edge = crosses && at < e_.levels_ ? link.edges[at] : 0;
            const Direction along = link.produced ? Direction::up : Direction::down;
            add(part.direction == Direction::read && at == link.parent,
                link.produced ? Words::read : Words::sent);
            add(part.direction == Direction::write && at == link.child,
                link.produced ? Words::back : Words::filled);
            add(part.direction == Direction::write && at == link.parent && link.produced,
                Words::sent);
            add(part.direction == along && edge != 0, Words::edge, edge);
            add(part.direction == Direction::down && crosses && link.produced, Words::back);
        }
    }
}

template <class Rows> bool Evaluator::fits(const Rows& rows) const {
    for (const std::size_t i : fanned_) {
        if (rows(e_.space_->spatial[i]) > e_.fits_.fanout(i)) {
            return false;
        }
    }
    for (std::size_t i = 0; i < e_.levels_; ++i) {
        for (const StoreFit& fit : e_.fits_.stores(i)) {
            if (!fit.holds(rows)) {
                return false;
            }
        }
    }
    const auto& parts = e_.fits_.in_parts();
    return std::all_of(parts.begin(), parts.end(),
                       [&](const StoreFit& fit) { return fit.holds(rows); });
}

// Blocks are looked at from the innermost: what is sent is asked only where fewer words arrive.
template <class Rows>
std::size_t Evaluator::variant(const Rows& rows, const Flow& flow, std::size_t l,
                               std::size_t combination, double& sent, double& received) const {
    if (flow.fixed_received && flow.fixed_sent) { // of the MACs: the only variant
        received = *flow.fixed_received;
        sent = *flow.fixed_sent;
        return 0;
    }
    const Variants& some = e_.orders_.choices(l)[e_.orders_.choice(combination, l)];
    std::size_t best = some.at[0];
    received = rows(flow.received + best);
    sent = rows(flow.sent + best);
    for (std::size_t n = 1; n < some.count; ++n) {
        const std::size_t v = some.at[n];
        const double arriving = rows(flow.received + v);
        if (arriving >= sent + received) {
            continue;
        }
        const double leaving = rows(flow.sent + v);
        if (arriving + leaving < received + sent) {
            best = v;
            received = arriving;
            sent = leaving;
        }
    }
    return best;
}

template <class Rows>
double Evaluator::cycles(const Rows& rows,
                         const std::array<double, kMaxBandwidths>& bandwidth_cycles,
                         double steps) const {
    std::array<double, kMaxLevels> share; // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::size_t from = 0;                 // levels below this one are shared out
    double one = 1.0;
    for (const std::size_t i : fanned_) {
        std::fill(share.begin() + from, share.begin() + i + 1, one);
        from = i + 1;
        one /= rows(e_.space_->spatial[i]);
    }
    std::fill(share.begin() + from, share.begin() + e_.levels_, one);
    double most = steps;
    for (std::size_t p = 0; p < e_.bandwidth_cycles_.bandwidths().size(); ++p) {
        most =
            std::max(most, bandwidth_cycles[p] * share[e_.bandwidth_cycles_.bandwidths()[p].level]);
    }
    return most;
}

template <class Rows> Estimate Evaluator::cost(const Rows& rows, std::size_t combination) const {
    const double steps = rows(e_.space_->steps);
    if (!fits(rows) || !e_.fits_.used_enough(steps)) {
        return {kNone, kNone};
    }
    double pj = base_pj_;
    std::array<double, kMaxBandwidths>
        bandwidth_cycles; // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::fill_n(bandwidth_cycles.begin(), e_.bandwidth_cycles_.bandwidths().size(), 0.0);
    double fresh = e_.made_words_; // sums that start from zero, at the home above
    for (std::size_t l = 0; l < flows_.size(); ++l) {
        const Flow& flow = flows_[l];
        double sent = 0.0;
        double received = 0.0;
        const std::size_t v = variant(rows, flow, l, combination, sent, received);
        sent *= flow.volume;
        received *= flow.volume;
        double back = 0.0;
        const double read = sent - fresh;
        pj += sent * flow.sent_pj;
        for (const Term& term : flow.terms) {
            pj += term.pj * rows(term.cost_factor + v);
        }
        if (!flow.produced) {
            pj += received * flow.received_pj;
        } else if (e_.timeloop_) {
            const double held = flow.inner ? rows(flow.lanes) * flow.volume : 0.0;
            back = flow.inner ? received - held : 0.0;
            pj += back * flow.received_pj + fresh * flow.started_pj;
            fresh = held;
        } else if (flow.inner) {
            const double reduced = rows(flow.reduced + v) * flow.volume;
            const double more = (rows(flow.lanes) - 1.0) * reduced;
            back = reduced - fresh;
            pj += reduced * flow.received_pj + more * flow.lane_pj;
            fresh += more;
        }
        for (const LinkCycles& p : flow.link_cycles) {
            const double words = p.words == Words::sent     ? sent
                                 : p.words == Words::filled ? received
                                 : p.words == Words::read   ? std::max(0.0, read)
                                 : p.words == Words::back   ? std::max(0.0, back)
                                                            : rows(p.cost_factor + v) * flow.volume;
            bandwidth_cycles[p.bandwidth] += words * p.cycles_per_word;
        }
    }
    const double time = cycles(rows, bandwidth_cycles, steps);
    const double rate = e_.leak_rate([&](std::size_t i) { return rows(e_.space_->spatial[i]); });
    return {pj + rate * time, time};
}

Estimate Evaluator::evaluate(const Factors6& f, std::size_t combination) const {
    const auto& g = groups_;
    switch (g.size()) {
    case 0:
    case 1:
        return cost(Rows<1>{{f[g.empty() ? 0 : g[0]]}}, combination);
    case 2:
        return cost(Rows<2>{{f[g[0]], f[g[1]]}}, combination);
    case 3:
        return cost(Rows<3>{{f[g[0]], f[g[1]], f[g[2]]}}, combination);
    case 4:
        return cost(Rows<4>{{f[g[0]], f[g[1]], f[g[2]], f[g[3]]}}, combination);
    case 5:
        return cost(Rows<5>{{f[g[0]], f[g[1]], f[g[2]], f[g[3]], f[g[4]]}}, combination);
    default:
        return cost(Rows<6>{f}, combination);
    }
}

Estimate Evaluator::evaluate_beside(const double* others, const double* last,
                                    std::size_t combination) const {
    return cost(Rows<2>{{others, last}}, combination);
}

} // namespace eyeroof::mapper
