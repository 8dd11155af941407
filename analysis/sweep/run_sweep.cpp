#include "analysis/sweep/run_sweep.hpp"

#include "base/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace eyeroof::analysis {

namespace {

constexpr std::uint64_t kLongBlock = 8192;
constexpr std::uint64_t kShortBlock = 512;

// Points that one thread takes at a time: whole turns of the fastest fields, so that what they
// share is worked out by one thread alone.
std::uint64_t block_of(const SweepGrid& grid) {
    std::uint64_t turn = 1;
    for (std::size_t f = grid.fields().size(); f-- > 0;) {
        const std::uint64_t next = turn * grid.fields()[f].texts.size();
        if (next > kLongBlock) {
            break;
        }
        turn = next;
    }
    return turn * std::max<std::uint64_t>(1, kShortBlock / turn);
}

std::string left_text(double seconds) {
    if (seconds < 90.0) {
        return fmt::format("{:.0f} s left", seconds);
    }
    return seconds < 5400.0 ? fmt::format("{:.0f} min left", seconds / 60.0)
                            : fmt::format("{:.1f} h left", seconds / 3600.0);
}

// Hands blocks on in their order.
class InOrder {
  public:
    InOrder(PointRange range, const SweepSink& sink, const ProgressCallback& progress)
        : range_(range), next_(range.from), sink_(sink), progress_(progress) {}

    // The rows of so many points from `first` on. False when nothing more is wanted.
    bool take(std::uint64_t first, std::uint64_t points, std::string rows) {
        const std::lock_guard lock(mutex_);
        waiting_.emplace(first, std::pair(points, std::move(rows)));
        while (open_ && !waiting_.empty() && waiting_.begin()->first == next_) {
            const auto& [count, text] = waiting_.begin()->second;
            open_ = sink_(text, count);
            done_ += open_ ? count : 0;
            next_ += count;
            waiting_.erase(waiting_.begin());
            tell();
        }
        return open_;
    }
    std::uint64_t done() const { return done_; }

  private:
    void tell() const {
        if (!progress_) {
            return;
        }
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
        const auto done = static_cast<double>(done_);
        const auto all = static_cast<double>(range_.to - range_.from);
        const double rate = done / std::max(1e-9, seconds);
        progress_({done / all,
                   fmt::format("{} of {} points, {:.0f} points/s, {}", done_,
                               range_.to - range_.from, rate, left_text((all - done) / rate)),
                   0.0, -1.0});
    }

    PointRange range_;
    std::uint64_t next_;
    const SweepSink& sink_;
    const ProgressCallback& progress_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> waiting_; // by first point
    std::uint64_t done_ = 0;
    bool open_ = true;
};

// Are mappings searched at some of these points? Looks at a few of them.
bool searches_some(SweepEngine& engine, PointRange range) {
    constexpr std::uint64_t kLooks = 32;
    const std::uint64_t step = std::max<std::uint64_t>(1, (range.to - range.from) / kLooks);
    for (std::uint64_t point = range.from; point < range.to; point += step) {
        if (engine.searches(point)) {
            return true;
        }
    }
    return false;
}

// Blocks one after the other, the nests of each in parallel. The first is one point, so that there
// is an answer soon; the next grow while they are quick, as more points share more.
void run_searched(SweepEngine& engine, PointRange range, int threads, const RowText& row,
                  InOrder& order, const std::stop_token& stop) {
    constexpr std::uint64_t kMost = 2048;
    constexpr double kQuick = 20.0; // seconds
    std::uint64_t block = 1;
    for (std::uint64_t first = range.from; first < range.to;) {
        const auto begun = std::chrono::steady_clock::now();
        const std::uint64_t last = std::min(first + block, range.to);
        engine.prepare(first, last, threads);
        std::string rows;
        for (std::uint64_t point = first; point < last; ++point) {
            const PointFigures figures = engine.at(point);
            if (stop.stop_requested()) {
                return; // no hole: this block is never handed over
            }
            rows += row(point, figures);
        }
        if (!order.take(first, last - first, std::move(rows))) {
            return;
        }
        first = last;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        block = took.count() < kQuick ? std::min(kMost, 2 * block)
                                      : std::max<std::uint64_t>(1, block / 2);
    }
}

} // namespace

PointRange shard_of(std::uint64_t points, std::uint64_t index, std::uint64_t count) {
    const std::uint64_t each = points / count;
    const std::uint64_t more = points % count; // the first ones have one more
    const auto begin = [&](std::uint64_t i) { return i * each + std::min(i, more); };
    return {begin(index - 1), begin(index)};
}

std::uint64_t run_sweep(const SweepGrid& grid, PointRange range, int threads, const RowText& row,
                        const SweepSink& sink, const std::stop_token& stop,
                        const ProgressCallback& progress) {
    const std::uint64_t block = block_of(grid);
    const std::uint64_t points = range.to - range.from;
    InOrder order(range, sink, progress);
    SweptWorkloads workloads;
    SweepEngine first_engine(grid, workloads, stop);
    if (searches_some(first_engine, range)) {
        run_searched(first_engine, range, thread_count(threads), row, order, stop);
        return order.done();
    }
    std::atomic<bool> ended{false};
    const auto work = [&](SweepEngine& engine, std::size_t number) {
        const std::uint64_t first = range.from + number * block;
        const std::uint64_t last = std::min(first + block, range.to);
        std::string rows;
        for (std::uint64_t point = first; point < last; ++point) {
            if (ended || stop.stop_requested()) {
                ended = true; // no hole: this block is never handed over
                return;
            }
            const PointFigures figures = engine.at(point);
            if (stop.stop_requested()) {
                ended = true;
                return;
            }
            rows += row(point, figures);
        }
        if (!order.take(first, last - first, std::move(rows))) {
            ended = true;
        }
    };
    in_parallel_with(
        thread_count(threads), static_cast<std::size_t>((points + block - 1) / block),
        [&] { return SweepEngine(grid, workloads, stop); }, work);
    return order.done();
}

} // namespace eyeroof::analysis
