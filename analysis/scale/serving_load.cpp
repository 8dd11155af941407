#include "analysis/scale/serving_load.hpp"

#include "analysis/scale/load_draws.hpp"
#include "analysis/scale/load_state.hpp"
#include "analysis/scale/load_tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <queue>

namespace eyeroof::analysis {

Count EngineLoad::tokens() const {
    return std::accumulate(pieces.begin(), pieces.end(), decoding * checked,
                           [](Count sum, const PromptPiece& p) { return sum + p.fresh; });
}

namespace load {

namespace {

// What of a prompt fits so much room in a step; 0: it waits for another step.
Count piece_of(const Request& r, const Engine& engine, Count budget, bool first) {
    const Count rest = r.prompt - r.prefilled;
    if (engine.splits) {
        return std::min({rest, budget, engine.chunk});
    }
    return rest <= budget || first ? rest : 0;
}

// Times of the requests that count.
struct Measured {
    LoadTally ttft, tpot, wait;
    Count served = 0;

    void add(const Request& r, const Engine& engine, double now_s, Count wanted) {
        const double waited = std::max(r.begun_s - r.sent_s - engine.queue_host_s, 0.0);
        waits_[served < wanted / 2 ? 0 : 1] += waited;
        ++served;
        wait.add(waited);
        if (r.answer < 1) {
            return; // no first token
        }
        ttft.add(r.first_s - r.sent_s + engine.request_host_s);
        if (r.answer > 1) {
            tpot.add((now_s - r.first_s) / static_cast<double>(r.answer - 1));
        }
    }

    // A queue that grows makes the last requests wait longer than the first ones, by more than
    // chance.
    bool waits_grow(Count wanted) const {
        const auto half = static_cast<double>(wanted / 2);
        const double early = half > 0.0 ? waits_[0] / half : 0.0;
        return waits_[1] / (static_cast<double>(wanted) - half) > 1.5 * early;
    }

  private:
    double waits_[2] = {0.0, 0.0}; // of the earlier and the later half
};

class Simulation {
  public:
    Simulation(const Service& service, const Engine& engine, const Demand& demand)
        : service_(service), engine_(engine), demand_(demand),
          room_tokens_(service.next.most_requests * (demand.prompt + demand.answer)),
          draws_(demand, room_tokens_) {
        wanted_ = demand.requests > 0 ? demand.requests
                  : demand.recorded   ? static_cast<Count>(demand.sizes.size())
                  : open()            ? 1000
                                      : std::max<Count>(10 * demand.users, 32);
        // Until the servers are as full as the rate keeps them.
        skipped_ = demand.rate > 0.0 ? wanted_ / 10 : 0;
        add_servers(service.next, false);
        next_servers_ = servers_.size();
        if (service.prompts) {
            add_servers(*service.prompts, true);
        }
        if (open()) {
            plan_arrival();
        } else {
            begin_users();
        }
    }

    Result<LoadResult> run(const std::stop_token& stop) {
        for (Count events = 0; measured_.served < wanted_ && !(events_.empty() && marked_.empty());
             ++events) {
            if (events % 4096 == 0 && stop.stop_requested()) {
                return Result<LoadResult>::failure("cancelled", "the simulation was cancelled");
            }
            if (events >= kMostLoadEvents) {
                return Result<LoadResult>::failure(
                    "too-long",
                    fmt::format("the simulation takes more than {} events", kMostLoadEvents),
                    "fewer requests, or a larger --chunk");
            }
            if (!marked_.empty() && (events_.empty() || events_.top().at_s > now_s_)) {
                begin_steps();
                continue;
            }
            const Event event = events_.top();
            events_.pop();
            advance(event.at_s);
            handle(event);
        }
        return result();
    }

  private:
    bool open() const { return demand_.rate > 0.0 || demand_.recorded; }

    void add_servers(const ServerPool& pool, bool of_prompts) {
        for (Count i = 0; i < pool.servers; ++i) {
            servers_.emplace_back();
            servers_.back().of_prompts = of_prompts;
            servers_.back().load.checked = 1 + demand_.drafted;
        }
    }
    const ServerPool& pool_of(const ServerState& s) const {
        return s.of_prompts ? *service_.prompts : service_.next;
    }

    // Requests.

    Id add_request(double sent_s) {
        Id id = static_cast<Id>(requests_.size());
        if (free_.empty()) {
            requests_.emplace_back();
        } else {
            id = free_.back();
            free_.pop_back();
            requests_[id] = {};
        }
        Request& r = requests_[id];
        r.sent_s = sent_s;
        const RequestSize size = draws_.size();
        r.prompt = size.prompt;
        r.answer = size.answer;
        return id;
    }

    void plan_arrival() {
        if (demand_.recorded) {
            if (static_cast<std::size_t>(arrived_) < demand_.sizes.size()) {
                events_.push({demand_.sizes[static_cast<std::size_t>(arrived_)].at_s,
                              EventKind::arrives, 0, 0});
            }
            return;
        }
        // Those far behind the last that is measured do nothing but wait.
        if (arrived_ < std::min(3 * (wanted_ + skipped_), wanted_ + skipped_ + 1'000'000)) {
            last_arrival_s_ += draws_.until_next_s();
            events_.push({last_arrival_s_, EventKind::arrives, 0, 0});
        }
    }

    void begin_users() {
        for (Count i = 0; i < demand_.users; ++i) {
            const Id id = add_request(0.0);
            Request& r = requests_[id];
            const Count made = std::max<Count>(r.answer * i / demand_.users, 1);
            if (demand_.together || made >= r.answer || !reserve(id)) {
                send(id);
                continue;
            }
            ServerState& s = servers_[r.next_server]; // as far in its answer as its place says
            r.prefilled = r.prompt;
            r.begun_s = 0.0;
            r.measured = false;
            const double left =
                static_cast<double>(r.answer - made) / static_cast<double>(r.answer - 1);
            join(s, id,
                 std::max<Count>(std::llround(left * static_cast<double>(draws_.steps(r.answer))),
                                 1),
                 static_cast<double>(made));
            ++running_;
        }
    }

    void send(Id id) {
        if (engine_.queue_host_s > 0.0) {
            events_.push({requests_[id].sent_s + engine_.queue_host_s, EventKind::queued, id, 0});
        } else {
            queue(id);
        }
    }

    // Space in the cache of a server of next tokens.
    bool reserve(Id id) {
        Request& r = requests_[id];
        ServerState* least = nullptr;
        for (std::size_t i = 0; i < next_servers_; ++i) {
            ServerState& s = servers_[(turn_ + i) % next_servers_];
            if (s.held_tokens + r.tokens() <= room_tokens_ &&
                (least == nullptr || s.held < least->held)) {
                least = &s;
            }
        }
        if (least == nullptr) {
            return false;
        }
        r.next_server = static_cast<Id>(least - servers_.data());
        turn_ = (r.next_server + 1) % next_servers_;
        ++least->held;
        least->held_tokens += r.tokens();
        return true;
    }

    // Into the queue of a server that computes its prompt; of all where none has space.
    void queue(Id id) {
        if (!held_back_.empty() || !reserve(id)) {
            held_back_.push_back(id);
            return;
        }
        to_prompts(id);
    }

    void to_prompts(Id id) {
        ServerState* s = &servers_[requests_[id].next_server];
        if (service_.prompts) {
            const auto first = servers_.begin() + static_cast<std::ptrdiff_t>(next_servers_);
            s = &*std::ranges::min_element(first, servers_.end(), {}, &ServerState::requests);
            ++s->requests;
        }
        requests_[id].prefilled = std::min(demand_.cached, requests_[id].prompt - 1);
        s->waiting.push_back(id);
        cut(*s);
        mark(*s);
    }

    // Those who waited for space.
    void admit() {
        while (!held_back_.empty() && reserve(held_back_.front())) {
            const Id id = held_back_.front();
            held_back_.pop_front();
            to_prompts(id);
        }
    }

    // Next tokens of a request from the next step on; it ends after so many steps.
    void join(ServerState& s, Id id, Count steps, double made) {
        Request& r = requests_[id];
        r.made = (static_cast<double>(r.answer) - made) / static_cast<double>(steps);
        s.decoding.emplace_back(s.done + steps, id);
        std::ranges::push_heap(s.decoding, std::greater<>());
        s.seen += static_cast<double>(r.prompt) + made;
        s.growth += r.made;
        mark(s);
    }

    void end(ServerState& s, Id id) {
        Request& r = requests_[id];
        ++ended_;
        made_tokens_ += r.answer;
        --s.held;
        --running_;
        s.held_tokens -= r.tokens();
        if (r.measured && measured_.served < wanted_) {
            measured_.add(r, engine_, now_s_, wanted_);
        }
        free_.push_back(id);
        if (!open()) {
            again_.push_back(now_s_);
        }
    }

    // Steps.

    void mark(ServerState& s) {
        if (!s.marked) {
            s.marked = true;
            marked_.push_back(static_cast<Id>(&s - servers_.data()));
        }
    }

    // A request that came ends a stride at the next step.
    void cut(ServerState& s) {
        if (s.stride.steps <= 1) {
            return;
        }
        s.stride.steps = s.stride.steps_until(now_s_ - s.stride.begun_s);
        plan_end(s);
    }

    void plan_end(ServerState& s) {
        ++s.stride.version;
        events_.push({s.stride.begun_s + s.stride.time_s(s.stride.steps), EventKind::stride_ends,
                      static_cast<Id>(&s - servers_.data()), s.stride.version});
    }

    void add_pieces(ServerState& s) {
        const Count next = engine_.mixes ? s.load.decoding * s.load.checked : 0;
        Count budget = std::max<Count>(engine_.chunk * pool_of(s).replicas - next, 1);
        const auto add = [&](Id id) {
            Request& r = requests_[id];
            const Count fresh = piece_of(r, engine_, budget, s.load.pieces.empty());
            if (fresh <= 0) {
                return false;
            }
            r.begun_s = r.begun_s < 0.0 ? now_s_ : r.begun_s;
            s.load.pieces.push_back({fresh, r.prefilled});
            s.load.finished += r.prefilled + fresh == r.prompt ? 1 : 0;
            s.chosen.push_back(id);
            budget = std::max<Count>(budget - fresh, 0);
            return true;
        };
        for (std::size_t i = 0; i < s.filling.size() && budget > 0; ++i) {
            if (!add(s.filling[i])) {
                return;
            }
        }
        while (budget > 0 && !s.waiting.empty()) {
            ++running_;
            s.filling.push_back(s.waiting.front());
            s.waiting.pop_front();
            if (!add(s.filling.back())) {
                return; // in memory, and next
            }
        }
    }

    void begin_steps() {
        for (const Id id : marked_) {
            servers_[id].marked = false;
            if (servers_[id].stride.steps == 0) {
                begin_stride(servers_[id]);
            }
        }
        marked_.clear();
    }

    void begin_stride(ServerState& s) {
        EngineLoad& load = s.load;
        load.pieces.clear();
        load.finished = 0;
        s.chosen.clear();
        load.decoding = static_cast<Count>(s.decoding.size());
        add_pieces(s);
        if (!engine_.mixes && !load.pieces.empty()) {
            load.decoding = 0;
        }
        if (load.decoding == 0 && load.pieces.empty()) {
            return;
        }
        const auto sequences = static_cast<double>(std::max<Count>(load.decoding, 1));
        load.context = load.decoding > 0 ? s.seen / sequences : 0.0;
        Stride& stride = s.stride;
        stride.begun_s = now_s_;
        stride.steps = load.pieces.empty() ? s.decoding.front().first - s.done : 1;
        stride.first_s = step_s(s, load);
        stride.slope_s = 0.0;
        if (stride.steps > 1) {
            const double context = load.context;
            const auto more = static_cast<double>(stride.steps - 1);
            load.context += s.growth / sequences * more;
            stride.slope_s = std::max((step_s(s, load) - stride.first_s) / more, 0.0);
            load.context = context;
        }
        plan_end(s);
    }

    double step_s(const ServerState& s, const EngineLoad& load) const {
        return std::max(pool_of(s).clock(load), 1e-9);
    }

    void end_stride(ServerState& s) {
        s.busy_s += now_s_ - s.stride.begun_s;
        const Count steps = s.stride.steps;
        s.stride.steps = 0;
        if (s.load.decoding > 0) {
            s.done += steps;
            s.seen += s.growth * static_cast<double>(steps);
            end_answers(s);
        }
        for (const Id id : s.joining) {
            join(s, id, draws_.steps(requests_[id].answer), 1.0);
        }
        s.joining.clear();
        for (std::size_t c = 0; c < s.chosen.size(); ++c) {
            Request& r = requests_[s.chosen[c]];
            r.prefilled += s.load.pieces[c].fresh;
            if (r.prefilled == r.prompt) {
                std::erase(s.filling, s.chosen[c]);
                end_prompt(s, s.chosen[c]);
            }
        }
        s.chosen.clear();
        mark(s);
        admit();
        for (const double sent_s : again_) {
            send(add_request(sent_s));
        }
        again_.clear();
    }

    void end_answers(ServerState& s) {
        while (!s.decoding.empty() && s.decoding.front().first <= s.done) {
            const Id id = s.decoding.front().second;
            std::ranges::pop_heap(s.decoding, std::greater<>());
            s.decoding.pop_back();
            const Request& r = requests_[id];
            s.seen -= static_cast<double>(r.prompt + r.answer);
            s.growth -= r.made;
            end(s, id);
        }
        if (s.decoding.empty()) {
            s.seen = 0.0; // sums of many differences
            s.growth = 0.0;
        }
    }

    void end_prompt(ServerState& s, Id id) {
        if (!s.of_prompts) {
            first_token(id);
            return;
        }
        --s.requests;
        if (requests_[id].answer < 1) { // no server needs its cache
            first_token(id);
            return;
        }
        const double share = static_cast<double>(requests_[id].prompt) /
                             static_cast<double>(std::max<Count>(demand_.prompt, 1));
        events_.push({now_s_ + service_.transfer_s * share + engine_.apart_host_s,
                      EventKind::prompt_sent, id, 0});
    }

    void first_token(Id id) {
        Request& r = requests_[id];
        ServerState& s = servers_[r.next_server];
        r.first_s = now_s_;
        if (r.answer <= 1) {
            end(s, id);
            return;
        }
        if (s.stride.steps > 0) {
            s.joining.push_back(id);
            cut(s);
        } else {
            join(s, id, draws_.steps(r.answer), 1.0);
        }
    }

    void handle(const Event& event) {
        switch (event.kind) {
        case EventKind::arrives: {
            const Id id = add_request(now_s_);
            requests_[id].measured = arrived_++ >= skipped_;
            send(id);
            plan_arrival();
            break;
        }
        case EventKind::queued:
            queue(event.id);
            break;
        case EventKind::prompt_sent:
            first_token(event.id);
            break;
        case EventKind::stride_ends:
            if (servers_[event.id].stride.version == event.version &&
                servers_[event.id].stride.steps > 0) {
                end_stride(servers_[event.id]);
            }
            break;
        }
    }

    void advance(double to_s) {
        held_s_ += static_cast<double>(running_) * (to_s - now_s_);
        now_s_ = to_s;
    }

    LoadResult result() {
        LoadResult all;
        const double served_per_s = static_cast<double>(ended_) / now_s_;
        all.keeps_up = !open() || served_per_s >= 0.97 * static_cast<double>(arrived_) / now_s_ ||
                       !measured_.waits_grow(wanted_);
        all.ttft = measured_.ttft.percentiles();
        all.tpot = measured_.tpot.percentiles();
        all.wait = measured_.wait.percentiles();
        all.requests_per_s = served_per_s;
        all.tokens_per_s = static_cast<double>(made_tokens_) / now_s_;
        for (const ServerState& s : servers_) {
            const double running = s.stride.steps > 0 ? now_s_ - s.stride.begun_s : 0.0;
            (s.of_prompts ? all.prompts_busy : all.busy) +=
                (s.busy_s + running) / now_s_ / static_cast<double>(pool_of(s).servers);
        }
        all.mean_running = held_s_ / now_s_;
        return all;
    }

    const Service& service_;
    const Engine& engine_;
    const Demand& demand_;
    const Count room_tokens_; // of the cache of a server of `next`
    Draws draws_;
    std::vector<ServerState> servers_; // of `next`, then of `prompts`
    std::size_t next_servers_ = 0, turn_ = 0;
    std::vector<Request> requests_; // in the service
    std::vector<Id> free_;          // places in it
    std::deque<Id> held_back_;      // no server has space for them
    std::vector<double> again_;     // users who send their next request
    std::priority_queue<Event> events_;
    std::vector<Id> marked_;
    double now_s_ = 0.0, last_arrival_s_ = 0.0, held_s_ = 0.0;
    Count wanted_ = 0, skipped_ = 0, arrived_ = 0, ended_ = 0, made_tokens_ = 0;
    Count running_ = 0;
    Measured measured_;
};

} // namespace

} // namespace load

Result<LoadResult> simulate_load(const Service& service, const Engine& engine, const Demand& demand,
                                 std::stop_token stop) {
    const Count room = service.next.most_requests * (demand.prompt + demand.answer);
    const auto larger = [&](const RequestSize& r) { return r.prompt + r.answer > room; };
    if (service.next.most_requests < 1 || std::ranges::any_of(demand.sizes, larger)) {
        const auto most = std::ranges::max_element(
            demand.sizes, {}, [](const RequestSize& r) { return r.prompt + r.answer; });
        return Result<LoadResult>::failure(
            "no-room",
            fmt::format("the cache does not hold the {} tokens of one request",
                        most == demand.sizes.end() ? demand.prompt + demand.answer
                                                   : most->prompt + most->answer),
            "fewer tokens per request, or a device with more memory");
    }
    return load::Simulation(service, engine, demand).run(stop);
}

} // namespace eyeroof::analysis
