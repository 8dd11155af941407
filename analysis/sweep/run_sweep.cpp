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
    InOrder(PointRange range, std::uint64_t block, const SweepSink& sink,
            const ProgressCallback& progress)
        : range_(range), block_(block), sink_(sink), progress_(progress) {}

    // False when nothing more is wanted.
    bool take(std::size_t number, std::string rows) {
        const std::lock_guard lock(mutex_);
        waiting_.emplace(number, std::move(rows));
        while (open_ && !waiting_.empty() && waiting_.begin()->first == next_) {
            const std::uint64_t first = range_.from + next_ * block_;
            const std::uint64_t points = std::min(block_, range_.to - first);
            open_ = sink_(waiting_.begin()->second, points);
            done_ += open_ ? points : 0;
            waiting_.erase(waiting_.begin());
            ++next_;
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
    std::uint64_t block_;
    const SweepSink& sink_;
    const ProgressCallback& progress_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::map<std::size_t, std::string> waiting_;
    std::size_t next_ = 0;
    std::uint64_t done_ = 0;
    bool open_ = true;
};

int thread_count(int wanted) {
    return wanted > 0 ? wanted
                      : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
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
    InOrder order(range, block, sink, progress);
    SweptWorkloads workloads;
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
        if (!order.take(number, std::move(rows))) {
            ended = true;
        }
    };
    in_parallel_with(
        thread_count(threads), static_cast<std::size_t>((points + block - 1) / block),
        [&] { return SweepEngine(grid, workloads, stop); }, work);
    return order.done();
}

} // namespace eyeroof::analysis
