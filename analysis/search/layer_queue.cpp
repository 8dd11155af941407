#include "analysis/search/layer_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

const LayerTask* LayerQueue::next() {
    const bool over = at_ == tasks_.size() || stop_.stop_requested();
    return over ? nullptr : &tasks_[at_++];
}

double LayerQueue::share_s() const {
    constexpr double least_s = 1e-3;
    const std::chrono::duration<double> gone = Clock::now() - start_;
    const auto left = static_cast<double>(tasks_.size() - at_ + 1);
    return total_s_ <= 0.0 ? 0.0 : std::max(least_s, (total_s_ - gone.count()) / left);
}

ProgressCallback LayerQueue::progress() const {
    if (!progress_) {
        return {};
    }
    return [this, n = static_cast<double>(at_ - 1)](const Progress& inner) {
        const auto all = static_cast<double>(tasks_.size());
        progress_({(n + inner.fraction) / all,
                   fmt::format("{}, {} ({} of {})", inner.activity, tasks_[at_ - 1].layer, at_,
                               tasks_.size()),
                   inner.best, inner.gap});
    };
}

Diagnostics of_layer(const std::string& layer, const Diagnostics& found) {
    Diagnostics all;
    for (Diagnostic d : found) {
        d.message = d.severity == Severity::note ? d.message : layer + ": " + d.message;
        all.add(std::move(d));
    }
    return all;
}

} // namespace eyeroof::analysis
