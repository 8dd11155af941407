// A server under load: closed forms of queues, and what must hold whatever the times of steps.
#include "analysis/scale/load_tally.hpp"
#include "analysis/scale/request_file.hpp"
#include "analysis/scale/serving_load.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

Service one_server(const StepClock& clock, Count most) {
    return {{clock, 1, 1, most}, std::nullopt, 0.0};
}

LoadResult simulated(const StepClock& clock, const Engine& engine, const Demand& demand,
                     Count most = 1 << 20) {
    const auto result = simulate_load(one_server(clock, most), engine, demand);
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
    const auto none = simulate_load(one_server(clock, 0), plain(), d);
    REQUIRE_FALSE(none.ok());
    CHECK(none.diagnostics().items()[0].code == "no-room");
}

TEST_CASE("a rate beyond all measure ends, and so does an answer of a billion tokens") {
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
    d.answer = 1'000'000'001; // steps between which nothing happens are taken at once
    d.requests = 2;
    CHECK(simulated(clock, plain(), d).tpot.mean == near(1.0));
    std::stop_source stop;
    stop.request_stop();
    CHECK(simulate_load(one_server(clock, 8), plain(), d, stop.get_token())
              .diagnostics()
              .items()[0]
              .code == "cancelled");
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

// Steps one by one, of one server that mixes, with a chunk for every prompt: as the simulation
// itself was before it took steps at once.
namespace {

double mean_tpot_one_by_one(const StepClock& clock, Count users, Count prompt, Count answer,
                            Count wanted) {
    struct One {
        Count made = 0;
        double first_s = 0.0;
    };
    std::vector<One> running(static_cast<std::size_t>(users));
    double now_s = 0.0;
    double sum_s = 0.0;
    for (Count served = 0; served < wanted;) {
        EngineLoad load;
        double seen = 0.0;
        for (const One& r : running) {
            if (r.made == 0) {
                load.pieces.push_back({prompt, 0});
                ++load.finished;
            } else {
                ++load.decoding;
                seen += static_cast<double>(prompt + r.made);
            }
        }
        load.context = load.decoding > 0 ? seen / static_cast<double>(load.decoding) : 0.0;
        now_s += clock(load);
        for (One& r : running) {
            r.first_s = r.made == 0 ? now_s : r.first_s;
            if (++r.made == answer) {
                sum_s += (now_s - r.first_s) / static_cast<double>(answer - 1);
                ++served;
                r = {};
            }
        }
    }
    return sum_s / static_cast<double>(wanted);
}

} // namespace

TEST_CASE("steps that are taken at once take as long as one by one") {
    const StepClock clock = [](const EngineLoad& l) {
        double seconds = 1e-3 + 2e-6 * static_cast<double>(l.decoding) * l.context;
        for (const PromptPiece& p : l.pieces) {
            seconds += 1e-4 * static_cast<double>(p.fresh);
        }
        return seconds;
    };
    for (const Count users : {1, 3, 8}) {
        Demand d;
        d.prompt = 50;
        d.answer = 400;
        d.users = users;
        d.together = true;
        d.requests = 10 * users;
        CAPTURE(users);
        CHECK(simulated(clock, plain(), d).tpot.mean ==
              near(mean_tpot_one_by_one(clock, users, 50, 400, 10 * users), 1e-9));
    }
}

TEST_CASE("a request that comes between two steps waits for the end of one, not of all") {
    // Steps of 0.1 s, 10^6 of them for the first request; the second comes at 7.03 s.
    const StepClock clock = [](const EngineLoad&) { return 0.1; };
    Demand d;
    d.sizes = {{0.0, 5, 1'000'001}, {7.03, 5, 2}};
    d.prompt = 5;
    d.answer = 1'000'001;
    d.recorded = true;
    const LoadResult r = simulated(clock, plain(), d);
    CHECK(r.wait.p99 == near(7.1 - 7.03, 1e-6));
    CHECK(r.ttft.p99 == near(7.2 - 7.03, 1e-6));
    CHECK(r.tpot.p50 == near(0.1));
}

TEST_CASE("prompts on servers of their own delay no next token, and their queue is theirs") {
    // A prompt of 100 tokens takes 0.5 s, a step of next tokens 10 ms whatever it has.
    const StepClock prompts = [](const EngineLoad& l) {
        CHECK(l.decoding == 0);
        return 5e-3 * static_cast<double>(l.tokens());
    };
    const StepClock next = [](const EngineLoad& l) {
        CHECK(l.pieces.empty());
        return 0.01;
    };
    Demand d;
    d.prompt = 100;
    d.answer = 11;
    d.users = 4;
    d.together = true;
    d.requests = 400;
    const auto with = [&](Count servers, Count most) {
        const auto result = simulate_load({{next, 1, 1, most}, ServerPool{prompts, servers}, 0.2},
                                          plain(false, true, 100), d);
        REQUIRE(result.ok());
        return *result;
    };
    const LoadResult one = with(1, 8);
    CHECK(one.tpot.mean == near(0.01, 0.05)); // it joins at the end of a step
    // Of four prompts one is computed at a time, and 0.3 s pass until a user asks again.
    CHECK(one.requests_per_s == near(2.0, 0.02));
    CHECK(one.prompts_busy == near(1.0, 0.02));
    const LoadResult four = with(4, 8);
    CHECK(four.ttft.mean == near(0.7, 1e-9));
    CHECK(four.requests_per_s == near(4 / 0.8, 0.03));
    // Space for one request is space for one prompt.
    CHECK(with(4, 1).requests_per_s == near(1 / 0.8, 0.02));
}

TEST_CASE("replicas of attention compute a chunk each, and a server's clock sees all of it") {
    Count most = 0;
    const StepClock clock = [&](const EngineLoad& l) {
        most = std::max(most, l.tokens());
        return 1.0;
    };
    Demand d;
    d.prompt = 100;
    d.answer = 1;
    d.users = 8;
    d.together = true;
    d.requests = 8;
    for (const Count replicas : {1, 2, 4}) {
        most = 0;
        const auto r =
            simulate_load({{clock, 1, replicas, 64}, std::nullopt, 0.0}, plain(true, true, 100), d);
        REQUIRE(r.ok());
        CHECK(most == 100 * replicas);
        CHECK(r->ttft.p99 == near(8.0 / static_cast<double>(replicas)));
    }
}

TEST_CASE("servers share requests evenly, and twice the servers serve twice the rate alike") {
    const StepClock clock = [](const EngineLoad& l) {
        return 0.004 + 1e-5 * static_cast<double>(l.tokens());
    };
    Demand d;
    d.prompt = 200;
    d.answer = 50;
    d.spread = 0.7;
    d.requests = 100'000; // beyond what percentiles keep
    LoadResult before;
    for (const Count servers : {20, 40}) {
        d.rate = 10.0 * static_cast<double>(servers);
        const auto r = simulate_load({{clock, servers, 1, 64}, std::nullopt, 0.0}, plain(), d);
        REQUIRE(r.ok());
        CHECK(r->keeps_up);
        CHECK(r->requests_per_s == near(d.rate, 0.02));
        CHECK(r->tokens_per_s == near(d.rate * 50.0, 0.03));
        if (servers > 20) {
            CHECK(r->ttft.p50 == near(before.ttft.p50, 0.05));
            CHECK(r->tpot.p95 == near(before.tpot.p95, 0.05));
            CHECK(r->mean_running == near(2.0 * before.mean_running, 0.05));
        }
        before = *r;
    }
}

TEST_CASE("percentiles of many values are within a thousandth of those of all") {
    std::vector<double> values;
    LoadTally tally;
    std::uint64_t state = 7;
    for (int i = 0; i < 200'000; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const double u = static_cast<double>(state >> 11) / 9007199254740992.0;
        values.push_back(1e-3 * std::exp(8.0 * u));
        tally.add(values.back());
    }
    std::sort(values.begin(), values.end());
    const Percentiles p = tally.percentiles();
    CHECK(p.p50 == near(values[99'999], 1e-3));
    CHECK(p.p95 == near(values[189'999], 1e-3));
    CHECK(p.p99 == near(values[197'999], 1e-3));
    CHECK(p.mean == near(std::accumulate(values.begin(), values.end(), 0.0) / 200'000.0, 1e-9));
}

TEST_CASE("a request without output tokens ends with its prompt, and counts in no TTFT") {
    // A step of 1 ms a token of a prompt, 10 ms beside next tokens: 100, 40, then one next token.
    const StepClock clock = [](const EngineLoad& l) {
        return 1e-3 * static_cast<double>(l.tokens() - l.decoding) + (l.decoding > 0 ? 0.01 : 0.0);
    };
    Demand d;
    d.recorded = true;
    d.sizes = {{0.0, 100, 0}, {0.0, 40, 2}};
    const LoadResult r = simulated(clock, plain(true, false, 100), d);
    CHECK(r.ttft.mean == near(0.14));
    CHECK(r.tpot.mean == near(0.01));
    CHECK(r.tokens_per_s == near(2.0 / 0.15));
    CHECK(r.requests_per_s == near(2.0 / 0.15));
    // With devices of its own the prompt's cache is sent nowhere.
    d.sizes = {{0.0, 100, 0}};
    const Service apart = {{clock, 1, 1, 8}, ServerPool{clock, 1, 1, 1}, 1.0};
    const auto alone = simulate_load(apart, plain(), d);
    REQUIRE(alone.ok());
    CHECK(alone->requests_per_s == near(10.0));
}

TEST_CASE("recorded requests: columns of three origins, and what is wrong has a place") {
    const auto ours = parse_requests("arrival_s,prompt,answer\n1.5,10,2\n2,30,4\n", "r.csv");
    REQUIRE(ours.ok());
    CHECK(*ours == std::vector<RequestSize>{{0.0, 10, 2}, {0.5, 30, 4}});
    const auto azure = parse_requests("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                      "2023-11-16 18:15:46.6805900,374,44\n"
                                      "2023-11-17 00:00:01.5,396,109\n",
                                      "a.csv");
    REQUIRE(azure.ok());
    CHECK((*azure)[1].at_s == near(20654.81941, 1e-6));
    const auto code_of = [](const char* text) {
        const auto result = parse_requests(text, "r.csv");
        REQUIRE_FALSE(result.ok());
        const auto& first = result.diagnostics().items()[0];
        return first.code + fmt::format(":{}:{}", first.where.line, first.where.column);
    };
    CHECK(code_of("prompt\n3\n") == "missing-column:1:1");
    CHECK(code_of("prompt,answer\n") == "no-rows:1:1");
    CHECK(code_of("prompt,answer\n0,3\n") == "bad-cell:2:1");
    CHECK(code_of("prompt,answer\n3,-1\n") == "bad-cell:2:3");
    CHECK(parse_requests("prompt,answer\n3,0\n", "r.csv")->front().answer == 0);
    CHECK(code_of("prompt,answer\n3\n") == "bad-row:2:1");
    CHECK(code_of("prompt,answer\n1,000,3\n") == "bad-row:2:1");
    CHECK(code_of("{\"input_length\": 3}\n") == "not-a-table:1:1");
    const auto hint_of = [](const char* text) {
        return parse_requests(text, "r.json").diagnostics().items()[0].hint;
    };
    CHECK(hint_of("{\"input_length\": 3}\n").find("'[.input_length") != std::string::npos);
    CHECK(hint_of("\n [{\"input_length\": 3}]").find("'.[]|[.input_length") != std::string::npos);
    CHECK(code_of("prompt,answer,Prompt Tokens\n3,3,3\n") == "bad-header:1:15");
    CHECK(code_of("timestamp,prompt,answer,arrival_s\n0,3,3,0\n") == "bad-header:1:25");
    const auto burst = parse_requests("Timestamp,Model,Request tokens,Response tokens,Log Type\n"
                                      "5,ChatGPT,472,18,API log\n45,GPT-4,1087,230,API log\n",
                                      "b.csv");
    REQUIRE(burst.ok());
    CHECK(*burst == std::vector<RequestSize>{{0.0, 472, 18}, {40.0, 1087, 230}});
    CHECK(code_of("prompt,answer\n1e300,4\n") == "bad-cell:2:1");
    CHECK(code_of("arrival_s,prompt,answer\n4,3,3\n3,3,3\n") == "bad-cell:3:1");
    CHECK(code_of("arrival_s,prompt,answer\n2023-13-01 10:00:00,3,3\n") == "bad-cell:2:1");
}

} // namespace test_scale_serving_load
