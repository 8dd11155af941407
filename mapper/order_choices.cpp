#include "mapper/order_choices.hpp"

#include <algorithm>
#include <numeric>

namespace eyeroof::mapper {

using namespace model;

OrderChoices::OrderChoices(const Space& space)
    : space_(&space), levels_(space.task->machine.levels.size()) {
    list_combinations();
    list_families();
    list_choices();
    std::vector<std::size_t> all(combinations_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    restrict_to(all);
}

void OrderChoices::list_combinations() {
    std::vector<BlockOrder> orders(levels_);
    for (std::size_t i = 0; i < levels_; ++i) {
        if (!space_->orders[i].empty()) {
            orders[i] = space_->orders[i].front();
        }
    }
    combinations_ = {orders};
    for (const std::size_t block : space_->ordered) {
        std::vector<std::vector<BlockOrder>> next;
        for (const auto& some : combinations_) {
            for (const BlockOrder& order : space_->orders[block]) {
                next.push_back(some);
                next.back()[block] = order;
            }
        }
        combinations_ = std::move(next);
    }
}

void OrderChoices::list_families() {
    const auto same = [&](std::size_t a, std::size_t b) {
        for (const std::size_t block : space_->ordered) {
            if (combinations_[a][block].stationary != combinations_[b][block].stationary) {
                return false;
            }
        }
        return true;
    };
    for (std::size_t c = 0; c < combinations_.size(); ++c) {
        const auto family = std::find_if(families_.begin(), families_.end(),
                                         [&](const auto& f) { return same(f.front(), c); });
        if (family == families_.end()) {
            families_.push_back({c});
        } else {
            family->push_back(c);
        }
    }
}

// Variant of a link whose tile first moves `back` blocks out of its own.
std::size_t OrderChoices::variant_at(const Link& link, std::size_t back,
                                     const std::vector<BlockOrder>& orders) const {
    const BlockOrder& order = orders[link.child - 1 - back];
    const bool rests = order.stationary == link.operand && !(order.over && order.over->empty());
    const std::size_t free = rests ? 1 : 0;
    const std::size_t slide = link.slides > 1 ? static_cast<std::size_t>(order.slide) : 0;
    return (back * 2 + free) * link.slides + slide;
}

Variants OrderChoices::variants(const Link& link, const std::vector<BlockOrder>& orders) const {
    Variants some;
    some.count = 1; // of the MACs' links: variant 0
    for (std::size_t back = 0; link.child < levels_ && back < link.child; ++back) {
        some.at[back] = static_cast<std::uint8_t>(variant_at(link, back, orders));
        some.count = back + 1;
    }
    return some;
}

void OrderChoices::list_choices() {
    choices_.resize(space_->links.size());
    for (const auto& orders : combinations_) {
        for (std::size_t l = 0; l < space_->links.size(); ++l) {
            const Variants some = variants(space_->links[l], orders);
            const auto at = std::find(choices_[l].begin(), choices_[l].end(), some);
            choice_of_.push_back(static_cast<std::uint32_t>(at - choices_[l].begin()));
            if (at == choices_[l].end()) {
                choices_[l].push_back(some);
            }
        }
    }
}

void OrderChoices::restrict_to(const std::vector<std::size_t>& combinations) {
    meant_ = combinations;
    active_.assign(space_->links.size(), {});
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        std::vector<bool> used(link.variants, link.child == levels_);
        for (const std::size_t c : combinations) {
            for (std::size_t back = 0; link.child < levels_ && back < link.child; ++back) {
                used[variant_at(link, back, combinations_[c])] = true;
            }
        }
        for (std::size_t v = 0; v < link.variants; ++v) {
            if (used[v]) {
                active_[l].at[active_[l].count++] = static_cast<std::uint8_t>(v);
            }
        }
    }
}

std::vector<std::uint8_t> OrderChoices::variants_into(std::size_t level) const {
    std::vector<std::uint8_t> all;
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        if (space_->links[l].child == level) {
            const Variants& active = active_[l];
            all.push_back(static_cast<std::uint8_t>(active.count));
            all.insert(all.end(), active.at.begin(), active.at.begin() + active.count);
        }
    }
    return all;
}

std::vector<bool> OrderChoices::read_into(std::size_t level) const {
    std::vector<bool> read(space_->cost_factors, false);
    for (const std::size_t cost_factor : space_->tile[level]) {
        read[cost_factor] = cost_factor != 0;
    }
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        if (link.produced) { // sums are weighed against those of the next link
            read[link.lanes] = true;
            read[link.sent] = true;
        }
        for (std::size_t n = 0; n < active_[l].count && link.child == level; ++n) {
            const std::size_t v = active_[l].at[n];
            read[link.received + v] = true;
            read[link.sent + v] = true;
            read[link.reduced + v] = read[link.reduced + v] || link.produced;
            for (const std::size_t e : link.edges) {
                read[e + v] = read[e + v] || e != 0;
            }
        }
    }
    return read;
}

} // namespace eyeroof::mapper
