// Splits against every possible answer, on small random problems.
#include "analysis/scale/split.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace test_scale_split {

using namespace eyeroof;
using namespace eyeroof::analysis;
using eyeroof::tests::near;

namespace {

double number(std::mt19937& random) {
    return 0.01 + static_cast<double>(random() % 1000) / 100.0;
}

// Groups are together, and no device holds more than it can.
bool may_be(const TaskGraph& g, std::size_t code) {
    std::vector<double> held(2, 0.0);
    std::vector<int> home(g.held_bytes.size(), -1);
    for (std::size_t t = 0; t < g.group.size(); ++t) {
        const auto d = static_cast<int>(code >> t & 1U);
        int& known = home[g.group[t]];
        if (known < 0) {
            known = d;
            held[static_cast<std::size_t>(d)] += g.held_bytes[g.group[t]];
        } else if (known != d) {
            return false;
        }
    }
    return g.capacity_bytes.empty() ||
           (held[0] <= g.capacity_bytes[0] && held[1] <= g.capacity_bytes[1]);
}

// Every order of the tasks that keeps the edges, on every assignment of devices.
double brute_graph(const TaskGraph& g) {
    const std::size_t n = g.task_s.size();
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) {
        order[i] = i;
    }
    double best = 1e300;
    do {
        std::vector<std::size_t> place(n);
        for (std::size_t i = 0; i < n; ++i) {
            place[order[i]] = i;
        }
        const bool legal =
            std::all_of(g.edges.begin(), g.edges.end(),
                        [&](const TaskGraph::Edge& e) { return place[e.from] < place[e.to]; });
        for (std::size_t code = 0; legal && code < (1U << n); ++code) {
            if (!may_be(g, code)) {
                continue;
            }
            std::vector<double> end(n, 0.0), free(2, 0.0);
            for (const std::size_t t : order) {
                const std::size_t d = code >> t & 1U;
                double start = free[d];
                for (const auto& e : g.edges) {
                    if (e.to == t) {
                        start = std::max(start, end[e.from] +
                                                    ((code >> e.from & 1U) == d ? 0.0 : e.send_s));
                    }
                }
                end[t] = free[d] = start + g.task_s[t][d];
            }
            best = std::min(best, std::max(free[0], free[1]));
        }
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

} // namespace

TEST_CASE("a way for each layer is as cheap as any, on 200 random chains") {
    std::mt19937 random(2);
    for (int i = 0; i < 200; ++i) {
        const std::size_t n = 1 + random() % 8;
        std::vector<std::vector<double>> cost(n, std::vector<double>(2));
        std::vector<std::vector<std::vector<double>>> change(n, {{0, 0}, {0, 0}});
        for (std::size_t l = 0; l < n; ++l) {
            for (std::size_t a = 0; a < 2; ++a) {
                cost[l][a] = number(random);
                change[l][a] = {number(random), number(random)};
            }
        }
        double best = 1e300;
        for (std::size_t code = 0; code < (1U << n); ++code) {
            double sum = 0.0;
            for (std::size_t l = 0; l < n; ++l) {
                sum += cost[l][code >> l & 1U] +
                       (l > 0 ? change[l][code >> (l - 1) & 1U][code >> l & 1U] : 0.0);
            }
            best = std::min(best, sum);
        }
        CHECK(choose_chain(cost, change).cost == near(best));
    }
}

TEST_CASE("200 small graphs over two different devices are scheduled as well as any order does") {
    std::mt19937 random(3);
    double gained = 0.0;
    for (int i = 0; i < 200; ++i) {
        TaskGraph g;
        const std::size_t n = 2 + random() % 5;
        for (std::size_t t = 0; t < n; ++t) {
            g.task_s.push_back({number(random), number(random)});
            for (std::size_t from = 0; from < t; ++from) {
                if (random() % 3 == 0) {
                    g.edges.push_back({from, t, number(random) / 4.0});
                }
            }
        }
        const Schedule list = list_schedule(g);
        const Schedule exact = exact_schedule(g);
        const double best = brute_graph(g);
        CHECK(exact.proved);
        CHECK(exact.time_s == near(best));
        CHECK(list.time_s >= best * (1 - 1e-9));
        CHECK(list.bound_s <= best * (1 + 1e-9)); // a bound is a bound
        gained = std::max(gained, list.time_s / exact.time_s);
    }
    CHECK(gained > 1.0); // the baseline is not the answer
}

TEST_CASE("groups stay together and within memories, as well as any division, on 200 graphs") {
    std::mt19937 random(5);
    int none = 0, limited = 0;
    for (int i = 0; i < 200; ++i) {
        CAPTURE(i);
        TaskGraph g;
        const std::size_t n = 2 + random() % 5;
        const std::size_t groups = 1 + random() % n;
        for (std::size_t t = 0; t < n; ++t) {
            g.task_s.push_back({number(random), number(random)});
            g.group.push_back(random() % groups);
            for (std::size_t from = 0; from < t; ++from) {
                if (random() % 3 == 0) {
                    g.edges.push_back({from, t, number(random) / 4.0});
                }
            }
        }
        for (std::size_t k = 0; k < groups; ++k) {
            g.held_bytes.push_back(number(random));
        }
        const double unlimited = brute_graph(g);
        for (std::size_t d = 0; d < 2; ++d) {
            g.capacity_bytes.push_back(number(random) * static_cast<double>(groups));
        }
        const double best = brute_graph(g);
        const Schedule list = list_schedule(g);
        const Schedule exact = exact_schedule(g);
        CHECK(exact.found() == (best < 1e300));
        CHECK(exact.none == !exact.found());
        CHECK(list.bound_s <= best * (1 + 1e-9));
        none += exact.none ? 1 : 0;
        if (exact.found()) {
            CHECK(exact.proved);
            CHECK(exact.time_s == near(best));
            CHECK(list.time_s >= best * (1 - 1e-9));
            const Schedule better = improved_schedule(g, list);
            CHECK(better.time_s <= list.time_s);
            CHECK(better.time_s >= best * (1 - 1e-9));
            std::size_t code = 0;
            for (std::size_t t = 0; t < n; ++t) {
                code |= exact.device[t] << t;
            }
            CHECK(may_be(g, code));
            limited += best > unlimited * (1 + 1e-9) ? 1 : 0;
        }
    }
    CHECK(none > 5);
    CHECK(none < 100);
    CHECK(limited > 5); // the memories matter
}

TEST_CASE("a search that is cut short tells its gap") {
    TaskGraph g;
    std::mt19937 random(4);
    for (std::size_t t = 0; t < 14; ++t) {
        g.task_s.push_back({number(random), number(random), number(random)});
    }
    const Schedule cut = exact_schedule(g, 100);
    CHECK_FALSE(cut.proved);
    CHECK(cut.gap() >= 0.0);
    CHECK(cut.bound_s <= cut.time_s);
}

} // namespace test_scale_split
