// One question on variants of its machine: the common engine of what-if analyses.
#pragma once

#include "analysis/exam/run.hpp"
#include "analysis/what_if/parameters.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace eyeroof::analysis {

// `factor` times the present value; counts take at least one more.
double turned_value(const Parameter& parameter, double factor);

// How a variant is examined. The default maps accelerators by the dataflow's rules, without a
// search. Beside a report of other mappings, give what made that report.
using Examine = std::function<Result<Report>(const Question&, const std::stop_token&)>;

class Trials {
  public:
    // Examines the machine as it is. Errors: those of run().
    static Result<Trials> of(const Question& asked, std::stop_token stop, Examine examine = {});

    const Question& question() const { return question_; }
    const Report& now() const { return now_; }
    bool stopped() const { return stop_.stop_requested(); }

    // The report of the machine with these changes; nullopt where it is not legal or cannot run the
    // network.
    std::optional<Report> with(const std::vector<Change>& changes) const;
    // Time before over time after, with the parameter at that value; nullopt as above.
    std::optional<double> speedup(const Parameter& parameter, double value) const;

  private:
    Trials(Question question, Report now, std::stop_token stop, Examine examine)
        : question_(std::move(question)), now_(std::move(now)), stop_(std::move(stop)),
          examine_(std::move(examine)) {}

    Question question_;
    Report now_;
    std::stop_token stop_;
    Examine examine_;
};

} // namespace eyeroof::analysis
