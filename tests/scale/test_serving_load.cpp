// A server under load: closed forms of queues, and what must hold whatever the times of steps.
#include "analysis/scale/serving_load.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_scale_serving_load {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;

namespace {

Engine plain(bool mixes = true, bool splits = true, Count chunk = 1 << 20) {
    Engine e;
    e.mixes = mixes;
    e.splits = splits;
    e.chunk = chunk;
    return e;
}

LoadResult simulated(const StepClock& clock, const Engine& engine, const Demand& demand,
                     Count most = 1 << 20) {
    const auto result = simulate_load(clock, engine, demand, most);
    REQUIRE(result.ok());
    return *result;
}

} // namespace

TEST_CASE("one server, one token, Poisson arrivals: the wait of M/D/1") {
    const double service = 0.01;
    const StepClock clock = [&](const EngineLoad&) { return service; };
    for (const double load : {0.3, 0.6, 0.8}) {
        Demand d;
        d.answer = 1;
        d.rate = load / service;
        d.requests = 400'000;
        const LoadResult r = simulated(clock, plain(), d, 1);
        CAPTURE(load);
        // Pollaczek and Khinchine: rho D / (2 (1 - rho)).
        CHECK(r.wait.mean == near(load * service / (2.0 * (1.0 - load)), 0.02));
        CHECK(r.ttft.mean == near(r.wait.mean + service, 1e-9));
        CHECK(r.busy == near(load, 0.01));
        CHECK(r.requests_per_s == near(d.rate, 0.01));
        CHECK(r.keeps_up);
    }
}

TEST_CASE("even arrivals that are slower than the server never wait, faster ones queue") {
    const StepClock clock = [](const EngineLoad&) { return 0.01; };
    Demand d;
    d.answer = 1;
    d.even = true;
    d.rate = 99.0;
    CHECK(simulated(clock, plain(), d, 1).wait.p99 < 1e-9);
    d.rate = 120.0;
    const LoadResult late = simulated(clock, plain(), d, 1);
    CHECK_FALSE(late.keeps_up);
    CHECK(late.requests_per_s == near(100.0, 0.01));
}

TEST_CASE("users who begin together stay in step: their prompts are one step, each round") {
    // Four prompts of 100 tokens: a step of 1 ms a token beside 10 ms for next tokens.
    const StepClock clock = [](const EngineLoad& l) {
        double prompts = 0.0;
        for (const PromptPiece& p : l.pieces) {
            prompts += 1e-3 * static_cast<double>(p.fresh);
        }
        return prompts + (l.decoding > 0 ? 0.01 : 0.0);
    };
    Demand d;
    d.prompt = 100;
    d.answer = 11;
    d.users = 4;
    d.together = true;
    const LoadResult together = simulated(clock, plain(), d);
    CHECK(together.ttft.mean == near(0.4));
    CHECK(together.tpot.mean == near(0.01));
    CHECK(together.tokens_per_s == near(4 * 11 / (0.4 + 10 * 0.01), 0.01));
    // A prompt a step, whole: the first user's token comes after 0.1 s, the last one's after 0.4 s
    // and what the others decode meanwhile.
    d.requests = 4;
    const LoadResult apart = simulated(clock, plain(true, false, 110), d);
    CHECK(apart.ttft.p50 == near(0.21));
    CHECK(apart.ttft.p99 == near(0.43));
    // Pieces of 50 tokens: as many more steps.
    const LoadResult pieces = simulated(clock, plain(false, true, 50), d);
    CHECK(pieces.ttft.p99 == near(0.4));
    CHECK(pieces.tpot.p99 == near(0.01 + 0.3 / 10));
}

TEST_CASE("requests in service are the rate times the time in service, and memory bounds them") {
    const StepClock clock = [](const EngineLoad& l) {
        return 0.005 + 1e-5 * static_cast<double>(l.tokens());
    };
    Demand d;
    d.prompt = 200;
    d.answer = 50;
    d.rate = 20.0;
    d.requests = 20'000;
    const LoadResult r = simulated(clock, plain(), d);
    const double service = r.ttft.mean - r.wait.mean + r.tpot.mean * 49.0;
    CHECK(r.mean_running == near(r.requests_per_s * service, 0.02)); // Little's law
    const LoadResult tight = simulated(clock, plain(), d, 3);
    CHECK(tight.mean_running <= 3.0);
    CHECK_FALSE(tight.keeps_up);
    const auto none = simulate_load(clock, plain(), d, 0);
    REQUIRE_FALSE(none.ok());
    CHECK(none.diagnostics().items()[0].code == "no-room");
}

TEST_CASE("a rate beyond all measure ends, and a simulation without end is refused") {
    const StepClock clock = [](const EngineLoad&) { return 1.0; };
    Demand d;
    d.prompt = 10;
    d.answer = 10;
    d.rate = 1e6;
    const LoadResult r = simulated(clock, plain(), d, 8);
    CHECK_FALSE(r.keeps_up);
    CHECK(r.mean_running <= 8.0);
    d.rate = 0.0;
    d.users = 1;
    d.answer = kMostEngineSteps + 2;
    const auto endless = simulate_load(clock, plain(), d, 8);
    REQUIRE_FALSE(endless.ok());
    CHECK(endless.diagnostics().items()[0].code == "too-long");
    std::stop_source stop;
    stop.request_stop();
    CHECK(simulate_load(clock, plain(), d, 8, stop.get_token()).diagnostics().items()[0].code ==
          "cancelled");
}

TEST_CASE("a faster server is never slower, and a seed gives one answer") {
    Demand d;
    d.prompt = 300;
    d.answer = 30;
    for (const double rate : {1.0, 8.0, 20.0}) {
        d.rate = rate;
        for (const bool mixes : {true, false}) {
            LoadResult before;
            for (const double speed : {1.0, 1.3, 2.0}) {
                const StepClock clock = [&](const EngineLoad& l) {
                    return (0.004 + 2e-5 * static_cast<double>(l.tokens())) / speed;
                };
                const LoadResult r = simulated(clock, plain(mixes, true, 512), d);
                CHECK(r == simulated(clock, plain(mixes, true, 512), d));
                if (speed > 1.0) {
                    CHECK(r.ttft.p95 <= before.ttft.p95 * 1.05);
                    CHECK(r.tpot.p95 <= before.tpot.p95 * 1.05);
                }
                before = r;
            }
        }
    }
}

TEST_CASE("a request that is not queued yet lets the others' steps go on") {
    // Two users, prompts of 10 tokens in steps of 1 s, next tokens in 0.1 s.
    const StepClock clock = [](const EngineLoad& l) { return l.pieces.empty() ? 0.1 : 1.0; };
    Engine engine = plain();
    engine.queue_host_s = 0.25;
    Demand d;
    d.prompt = 10;
    d.answer = 1;
    d.users = 1;
    d.requests = 8;
    d.together = true;
    const LoadResult one = simulated(clock, engine, d);
    CHECK(one.ttft.mean == near(1.25));
    CHECK(one.wait.mean == near(0.0, 1e-9));
    CHECK(one.requests_per_s == near(1.0 / 1.25));
    CHECK(one.busy == near(0.8));
    // Arrivals at a rate are served at that rate, whatever the delay.
    d.users = 0;
    d.rate = 0.3;
    d.requests = 4000;
    CHECK(simulated(clock, engine, d).requests_per_s == near(0.3, 0.05));
}

TEST_CASE("drafted tokens that pass shorten an answer as the closed form says") {
    Demand d;
    d.prompt = 10;
    d.answer = 2001;
    d.users = 1;
    d.together = true;
    d.requests = 20;
    const StepClock clock = [](const EngineLoad& l) {
        CHECK((l.decoding == 0 || l.tokens() == l.decoding * l.checked));
        return 0.01;
    };
    const double before = simulated(clock, plain(), d).tpot.mean;
    CHECK(before == near(0.01));
    for (const double p : {0.0, 0.5, 0.8, 1.0}) {
        for (const Count n : {1, 4}) {
            d.drafted = n;
            d.acceptance = p;
            // (1 - p^(n+1)) / (1 - p) tokens a step: 3.36 of 4 drafted at 0.8.
            const double made = p < 1.0
                                    ? (1.0 - std::pow(p, static_cast<double>(n + 1))) / (1.0 - p)
                                    : static_cast<double>(n + 1);
            CAPTURE(p);
            CAPTURE(n);
            CHECK(simulated(clock, plain(), d).tpot.mean == near(before / made, 0.02));
        }
    }
}

} // namespace test_scale_serving_load
