#include "analysis/scale/serving_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

namespace eyeroof::analysis {

Count EngineLoad::tokens() const {
    return std::accumulate(pieces.begin(), pieces.end(), decoding * checked,
                           [](Count sum, const PromptPiece& p) { return sum + p.fresh; });
}

namespace {

// A number in (0, 1) from a seed: splitmix64 (Steele, Lea, Flood, 2014), the same everywhere.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double uniform() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        z ^= z >> 31;
        return (static_cast<double>(z >> 11) + 0.5) / 9007199254740992.0;
    }

  private:
    std::uint64_t state_;
};

struct Request {
    double sent_s = 0.0, begun_s = -1.0, first_s = 0.0;
    Count prefilled = 0, made = 0;
    bool measured = true;
};

Percentiles percentiles_of(std::vector<double> values) {
    Percentiles p;
    if (values.empty()) {
        return p;
    }
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) { // nearest rank
        const double rank = std::ceil(share * static_cast<double>(values.size()));
        return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
    };
    p.mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    p.p50 = at(0.50);
    p.p95 = at(0.95);
    p.p99 = at(0.99);
    return p;
}

class Simulation {
  public:
    Simulation(const StepClock& clock, const Engine& engine, const Demand& demand, Count room)
        : clock_(clock), engine_(engine), demand_(demand), room_(room), random_(demand.seed) {
        wanted_ = demand.requests > 0 ? demand.requests
                  : demand.rate > 0.0 ? 1000
                                      : std::max<Count>(10 * demand.users, 32);
        if (demand.rate > 0.0) {
            skipped_ = wanted_ / 10; // until the server is as full as the rate keeps it
            next_arrival_s_ = gap();
        } else {
            begin_users();
        }
    }

    Result<LoadResult> run(const std::stop_token& stop) {
        for (Count steps = 0; served_ < wanted_; ++steps) {
            if (stop.stop_requested()) {
                return Result<LoadResult>::failure("cancelled", "the simulation was cancelled");
            }
            if (steps >= kMostEngineSteps) {
                return Result<LoadResult>::failure(
                    "too-long",
                    fmt::format("the simulation takes more than {} steps", kMostEngineSteps),
                    "shorter answers, a larger --chunk, or fewer users");
            }
            take_arrivals();
            if (running_.empty() && waiting_.empty()) {
                now_s_ = next_queued_s();
                continue;
            }
            step();
        }
        return result();
    }

  private:
    bool open() const { return demand_.rate > 0.0; }
    double gap() { return (demand_.even ? 1.0 : -std::log(random_.uniform())) / demand_.rate; }

    double queued_s(const Request& r) const { return r.sent_s + engine_.queue_host_s; }

    void begin_users() {
        for (Count i = 0; i < demand_.users; ++i) {
            Request r;
            if (!demand_.together && i < room_) { // as far in its answer as its place says
                r.prefilled = demand_.prompt;
                r.made = std::max<Count>(demand_.answer * i / demand_.users, 1);
                r.measured = r.made >= demand_.answer;
                r.begun_s = 0.0;
                running_.push_back(r);
            } else {
                sent_.push_back(r);
            }
        }
        std::erase_if(running_, [&](const Request& r) { return r.made >= demand_.answer; });
    }

    // Requests that were sent so long ago that they are queued by now.
    void take_arrivals() {
        // Those far behind the last that is measured do nothing but wait.
        while (open() && next_arrival_s_ <= now_s_ && arrived_ < 3 * (wanted_ + skipped_)) {
            Request r;
            r.sent_s = next_arrival_s_;
            r.measured = arrived_++ >= skipped_;
            sent_.push_back(r);
            next_arrival_s_ += gap();
        }
        while (!sent_.empty() && queued_s(sent_.front()) <= now_s_) {
            waiting_.push_back(sent_.front());
            sent_.pop_front();
        }
    }

    // Of the next request that will be queued.
    double next_queued_s() const {
        return sent_.empty() ? next_arrival_s_ + (open() ? engine_.queue_host_s : 0.0)
                             : queued_s(sent_.front());
    }

    // Of the drafted tokens of a request in one step.
    Count accepted() {
        Count passed = 0;
        while (passed < demand_.drafted && random_.uniform() < demand_.acceptance) {
            ++passed;
        }
        return passed;
    }

    // What of a prompt fits so much room in a step; 0: it waits for another step.
    Count piece_of(const Request& r, Count budget, bool first) const {
        const Count rest = demand_.prompt - r.prefilled;
        if (engine_.splits) {
            return std::min(rest, budget);
        }
        return rest <= budget || first ? rest : 0;
    }

    void add_pieces(EngineLoad& load, std::vector<std::size_t>& chosen) {
        const Count next = engine_.mixes ? load.decoding * load.checked : 0;
        Count budget = std::max<Count>(engine_.chunk - next, 1);
        const auto add = [&](std::size_t i) {
            Request& r = running_[i];
            const Count fresh = piece_of(r, budget, load.pieces.empty());
            if (fresh <= 0) {
                return false;
            }
            r.begun_s = r.begun_s < 0.0 ? now_s_ : r.begun_s;
            load.pieces.push_back({fresh, r.prefilled});
            load.finished += r.prefilled + fresh == demand_.prompt ? 1 : 0;
            chosen.push_back(i);
            budget = std::max<Count>(budget - fresh, 0);
            return true;
        };
        for (std::size_t i = 0; i < running_.size() && budget > 0; ++i) {
            if (running_[i].prefilled < demand_.prompt && !add(i)) {
                return;
            }
        }
        while (budget > 0 && !waiting_.empty() && static_cast<Count>(running_.size()) < room_) {
            running_.push_back(waiting_.front());
            running_.back().prefilled = demand_.cached;
            waiting_.pop_front();
            if (!add(running_.size() - 1)) {
                return; // in memory, and next
            }
        }
    }

    void step() {
        EngineLoad load;
        load.checked = 1 + demand_.drafted;
        double seen = 0.0;
        for (const Request& r : running_) {
            if (r.made > 0) {
                ++load.decoding;
                seen += static_cast<double>(demand_.prompt + r.made);
            }
        }
        std::vector<std::size_t> chosen;
        add_pieces(load, chosen);
        const bool decodes = engine_.mixes || load.pieces.empty();
        if (!decodes) {
            load.decoding = 0;
        }
        load.context = load.decoding > 0 ? seen / static_cast<double>(load.decoding) : 0.0;
        const double dt_s = std::max(clock_(load), 1e-9);
        held_s_ += dt_s * static_cast<double>(running_.size());
        busy_s_ += dt_s;
        now_s_ += dt_s;
        for (Request& r : running_) {
            r.made += decodes && r.made > 0 ? 1 + accepted() : 0;
        }
        for (std::size_t c = 0; c < chosen.size(); ++c) {
            Request& r = running_[chosen[c]];
            r.prefilled += load.pieces[c].fresh;
            if (r.prefilled == demand_.prompt) {
                r.made = 1;
                r.first_s = now_s_;
            }
        }
        leave();
    }

    void leave() {
        for (const Request& r : running_) {
            if (r.made < demand_.answer) {
                continue;
            }
            ++ended_;
            if (!open()) {
                Request again;
                again.sent_s = now_s_;
                sent_.push_back(again);
            }
            if (r.measured) {
                ++served_;
                ttft_.push_back(r.first_s - r.sent_s + engine_.request_host_s);
                wait_.push_back(std::max(r.begun_s - queued_s(r), 0.0));
                if (demand_.answer > 1) {
                    tpot_.push_back((now_s_ - r.first_s) / static_cast<double>(demand_.answer - 1));
                }
            }
        }
        std::erase_if(running_, [&](const Request& r) { return r.made >= demand_.answer; });
    }

    LoadResult result() {
        LoadResult all;
        // A queue that grows makes the last requests wait longer than the first ones, by more than
        // chance: the later half's mean against the earlier half's and a whole service.
        const std::size_t half = wait_.size() / 2;
        const auto mean = [&](std::size_t from, std::size_t to) {
            return to > from
                       ? std::accumulate(wait_.begin() + static_cast<std::ptrdiff_t>(from),
                                         wait_.begin() + static_cast<std::ptrdiff_t>(to), 0.0) /
                             static_cast<double>(to - from)
                       : 0.0;
        };
        const double served_per_s = static_cast<double>(ended_) / now_s_;
        all.keeps_up = !open() || served_per_s >= 0.97 * static_cast<double>(arrived_) / now_s_ ||
                       mean(half, wait_.size()) <= 1.5 * mean(0, half);
        all.ttft = percentiles_of(ttft_);
        all.tpot = percentiles_of(tpot_);
        all.wait = percentiles_of(wait_);
        all.requests_per_s = served_per_s;
        all.tokens_per_s = served_per_s * static_cast<double>(demand_.answer);
        all.busy = busy_s_ / now_s_;
        all.mean_running = held_s_ / now_s_;
        return all;
    }

    const StepClock& clock_;
    const Engine& engine_;
    const Demand& demand_;
    Count room_;
    Random random_;
    std::deque<Request> sent_, waiting_; // not queued yet, and queued
    std::vector<Request> running_;
    double now_s_ = 0.0, next_arrival_s_ = std::numeric_limits<double>::infinity();
    double busy_s_ = 0.0, held_s_ = 0.0;
    Count wanted_ = 0, skipped_ = 0, arrived_ = 0, served_ = 0, ended_ = 0;
    std::vector<double> ttft_, tpot_, wait_;
};

} // namespace

Result<LoadResult> simulate_load(const StepClock& clock, const Engine& engine, const Demand& demand,
                                 Count most_requests, std::stop_token stop) {
    if (most_requests < 1) {
        return Result<LoadResult>::failure(
            "no-room",
            fmt::format("the cache does not hold the {} tokens of one request",
                        demand.prompt + demand.answer),
            "fewer tokens per request, or a device with more memory");
    }
    return Simulation(clock, engine, demand, most_requests).run(stop);
}

} // namespace eyeroof::analysis
