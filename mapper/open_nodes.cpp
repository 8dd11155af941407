#include "mapper/open_nodes.hpp"

#include <algorithm>

namespace eyeroof::mapper {

namespace {

// Of equal bounds what is decided further comes first: a mapping is near.
bool later(const Start& a, const Start& b) {
    if (a.bound != b.bound) {
        return a.bound > b.bound;
    }
    return a.step != b.step ? a.step < b.step : b.key() < a.key();
}

} // namespace

OpenNodes::OpenNodes(std::vector<Start> starts) : heap_(std::move(starts)) {
    std::make_heap(heap_.begin(), heap_.end(), later);
}

std::optional<Start> OpenNodes::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !heap_.empty() || busy_ == 0; });
    if (ended_ || heap_.empty()) {
        return std::nullopt;
    }
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Start node = heap_.back();
    heap_.pop_back();
    ++busy_;
    return node;
}

void OpenNodes::done(const std::vector<Start>& below, double left) {
    const std::lock_guard lock(mutex_);
    for (const Start& node : below) {
        heap_.push_back(node);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    given_up_ = std::min(given_up_, left);
    --busy_;
    changed_.notify_all();
}

void OpenNodes::end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

std::size_t OpenNodes::size() const {
    const std::lock_guard lock(mutex_);
    return heap_.size();
}

double OpenNodes::least_bound() const {
    const std::lock_guard lock(mutex_);
    return heap_.empty() ? kNoValue : heap_.front().bound;
}

double OpenNodes::left() const {
    return std::min(given_up_, least_bound());
}

} // namespace eyeroof::mapper
