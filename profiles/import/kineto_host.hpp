// The host's side of a PyTorch trace: operators, annotations, modules, and launch calls, and which
// of them a launch came from.
#pragma once

#include "profiles/import/kineto_events.hpp"
#include "profiles/import/kineto_leaf.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace eyeroof::profiles {

class HostEvents {
  public:
    // `names` gets what the events name; the numbers of spans and origins are its.
    explicit HostEvents(ProfileBuilder& names) : names_(names), leaves_(names), modules_(names) {}

    // Each returns the bytes that the event takes.
    std::size_t take_call(const TraceEvent& event);
    std::size_t take_span(const TraceEvent& event);

    void sort(); // after the last event, before what follows

    std::size_t call_count() const { return calls_.size(); }
    std::size_t thread_count() const { return spans_.size(); }
    const Call& call(std::size_t place) const { return calls_[place]; }
    // Place of the last call with this correlation.
    std::optional<std::size_t> place_of(std::int64_t correlation) const;
    // The operator that an External id names; nullptr for none.
    const Named* named(std::int64_t id) const;
    // Number of the step that holds this moment, else kNone.
    std::int32_t step_at(double us) const { return steps_.at(us); }

    // Where the launches of each thread's questions come from, in order of time.
    using UseOrigin = std::function<void(std::uint32_t asked, const Origin&)>;
    void answer(std::vector<std::vector<Question>> questions, const UseOrigin& use);
    void give_gradients(std::vector<Origin>& origins) const { modules_.give_gradients(origins); }

    // The outermost operators that say their work and take time; and those at the top that have
    // tensors where nothing within says its work.
    using UseOperator = std::function<void(const Span&, const Origin&)>;
    void each_operator(const UseOperator& use);

    void release_spans(); // and what numbers their threads
    void release();       // all but the steps

  private:
    std::size_t thread_of(const std::string& name, std::uint32_t& thread); // its bytes if it is new
    void tell_work(Span& span);
    void answer_thread(const std::deque<Span>& spans, std::vector<Question>& questions,
                       const UseOrigin& use);
    Origin origin_of(const std::deque<Span>& spans, const std::vector<std::size_t>& open) const;

    ProfileBuilder& names_;
    LeafFinder leaves_;
    ModuleFinder modules_;
    std::unordered_map<std::string, std::uint32_t> threads_;
    std::vector<std::deque<Span>> spans_; // by thread
    std::deque<Call> calls_;
    std::deque<Named> named_;
    StepWindows steps_;
    std::vector<std::uint8_t> works_; // by number of names_'s operator
    std::int64_t calls_so_far_ = 0;
};

} // namespace eyeroof::profiles
