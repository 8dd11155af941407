#include "report/draw/plot_make.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/measured/lay_ceilings.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "base/ascii.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace eyeroof::report {

namespace {

constexpr const char* kMeasured = "measured";

// "NVIDIA A100-SXM4-40GB" as {nvidia, a100, sxm, 40gb}: lower case, generations of sockets dropped.
std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    std::string word;
    const auto end_word = [&] {
        if (word.starts_with("sxm")) {
            word = "sxm";
        }
        if (!word.empty()) {
            words.insert(word);
        }
        word.clear();
    };
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            word += lowered(c);
        } else {
            end_word();
        }
    }
    end_word();
    return words;
}

std::size_t common(const std::set<std::string>& device, const std::string& machine) {
    const auto words = words_of(machine);
    return static_cast<std::size_t>(
        std::count_if(words.begin(), words.end(),
                      [&](const std::string& word) { return device.contains(word); }));
}

} // namespace

std::string machine_of(const PlotInput& input, const profiles::RunInfo& run) {
    if (input.machines.empty()) {
        return {};
    }
    const auto device = words_of(run.gpu);
    const analysis::PlotMachine* best = &input.machines.front();
    std::size_t most = 0;
    for (const analysis::PlotMachine& machine : input.machines) {
        const std::size_t score =
            std::max(common(device, machine.id), common(device, machine.name));
        if (score > most) {
            most = score;
            best = &machine;
        }
    }
    return best->id;
}

void make_distinct(std::vector<model::Machine>& machines) {
    std::set<std::string> seen;
    for (model::Machine& machine : machines) {
        const std::string id = machine.id;
        for (int copy = 2; !seen.insert(machine.id).second; ++copy) {
            machine.id = id + "-" + std::to_string(copy);
        }
        machine.name += machine.id == id ? "" : machine.id.substr(id.size());
    }
}

namespace {

class Plot {
  public:
    Plot(const std::vector<model::Machine>& machines, std::vector<analysis::Report>& reports,
         const Measured& measured)
        : machines_(machines), reports_(reports), measured_(measured) {
        for (const model::Machine& machine : machines) {
            input.machines.push_back(analysis::roofs_of(machine));
        }
    }

    PlotInput input;
    Diagnostics notes;

    void add_all_ceilings() {
        for (const auto* list : {&measured_.profiles, &measured_.ceilings}) {
            for (const profiles::Profile& profile : *list) {
                if (!profile.ceilings.empty()) {
                    add_ceilings(input, place_of(profile), profile);
                }
            }
        }
    }

    // Launches of no layer, of how many steps, and of which run.
    struct Rest {
        profiles::Profile profile;
        double steps = 1.0;
        std::string run;
    };

    // Lays what belongs to each report over it, and gives the profiles that are left to be drawn.
    Result<std::vector<Rest>> lay_over() {
        std::vector<Rest> rest;
        for (std::size_t i = 0; i < measured_.profiles.size(); ++i) {
            if (report_of(place_of(measured_.profiles[i])) == nullptr) {
                rest.push_back({measured_.profiles[i], 1.0, run_of(i)});
            }
        }
        for (analysis::Report& report : reports_) {
            const auto own = profiles_of(report.machine.id);
            lay_all_ceilings(report);
            const analysis::Report bare = own.size() > 1 ? report : analysis::Report{};
            for (std::size_t i = 0; i < own.size(); ++i) {
                analysis::Report& below = i == 0 ? report : others_.emplace_back(bare, "").first;
                auto left = lay(below, own[i].first);
                if (!left) {
                    return left.diagnostics();
                }
                left->run = own[i].second;
                (i == 0 ? laid_[report.machine.id] : others_.back().second) = left->run;
                rest.push_back(*std::move(left));
            }
        }
        return rest;
    }

    void add_reports() {
        for (const analysis::Report& report : reports_) {
            if (const model::Machine* machine = machine_of_report(report)) {
                const std::size_t first = input.points.size();
                add_report(input, *machine, report);
                name_run(first, laid_[report.machine.id], "");
            }
        }
        for (const auto& [report, run] : others_) {
            if (const model::Machine* machine = machine_of_report(report)) {
                PlotInput both; // the prediction is there already
                add_report(both, *machine, report);
                const std::size_t first = input.points.size();
                std::copy_if(both.points.begin(), both.points.end(),
                             std::back_inserter(input.points),
                             [](const PlotPoint& point) { return point.measured; });
                name_run(first, run, run);
            }
        }
    }

    Result<Done> add_kernels(const Rest& rest) {
        const std::string machine = place_of(rest.profile);
        if (find_machine(input, machine) == nullptr) {
            return Result<Done>::failure("no-roofs", "the measurement has no roofs of its own",
                                         "name the machine that it was taken on");
        }
        const std::size_t first = input.points.size();
        auto added = add_profile(input, machine, rest.profile, {}, family_of(rest.profile));
        if (added) {
            notes.append(added.diagnostics());
        }
        for (std::size_t i = first; i < input.points.size(); ++i) {
            input.points[i].count /= rest.steps;
        }
        name_run(first, rest.run, rest.run);
        return added;
    }

  private:
    std::string place_of(const profiles::Profile& profile) const {
        const std::string likely = machine_of(input, profile.run);
        return likely.empty() ? kMeasured : likely;
    }
    analysis::Report* report_of(const std::string& machine) const {
        const auto found =
            std::find_if(reports_.begin(), reports_.end(), [&](const analysis::Report& report) {
                return report.machine.id == machine;
            });
        return found == reports_.end() ? nullptr : &*found;
    }
    const model::Machine* machine_of_report(const analysis::Report& report) const {
        const auto found =
            std::find_if(machines_.begin(), machines_.end(), [&](const model::Machine& machine) {
                return machine.id == report.machine.id;
            });
        return found == machines_.end() ? nullptr : &*found;
    }
    // Of one run alone nothing need be said.
    std::string run_of(std::size_t profile) const {
        return measured_.profiles.size() > 1 && profile < measured_.runs.size()
                   ? measured_.runs[profile]
                   : std::string();
    }
    // The runs of a machine: all profiles of one name, one run each where they have names.
    using Run = std::pair<std::vector<profiles::Profile>, std::string>;
    std::vector<Run> profiles_of(const std::string& machine) const {
        std::vector<Run> own;
        for (std::size_t i = 0; i < measured_.profiles.size(); ++i) {
            if (place_of(measured_.profiles[i]) != machine) {
                continue;
            }
            if (own.empty() || !run_of(i).empty()) {
                own.emplace_back(std::vector<profiles::Profile>{}, run_of(i));
            }
            own.back().first.push_back(measured_.profiles[i]);
        }
        return own;
    }
    // One run over a report: what is left of it.
    Result<Rest> lay(analysis::Report& report, const std::vector<profiles::Profile>& run) {
        const auto all = profiles::merge(run);
        if (!all) {
            return all.diagnostics();
        }
        notes.append(all.diagnostics());
        const auto laid =
            analysis::lay_profile(report, *all, family_of(*all), measured_.assignments);
        if (!laid) {
            return laid.diagnostics();
        }
        notes.append(laid.diagnostics());
        return Rest{profiles::keep_launches(*all, laid->unmatched),
                    analysis::measured_steps(report), ""};
    }
    // Points from `first` on are of that run; `suffix` keeps their ids apart from another run's.
    void name_run(std::size_t first, const std::string& run, const std::string& suffix) {
        for (std::size_t i = first; i < input.points.size(); ++i) {
            PlotPoint& point = input.points[i];
            if (point.measured) {
                point.run = run;
                point.id += suffix.empty() ? "" : "@" + suffix;
            }
        }
    }
    void lay_all_ceilings(analysis::Report& report) const {
        for (const profiles::Profile& profile : measured_.ceilings) {
            for (const model::Machine& machine : machines_) {
                if (machine.id == report.machine.id && place_of(profile) == machine.id) {
                    analysis::lay_ceilings(report, machine, profile.ceilings);
                }
            }
        }
    }
    const profiles::MetricFamily* family_of(const profiles::Profile& profile) const {
        return profiles::family_of_profile(measured_.families, profile);
    }

    const std::vector<model::Machine>& machines_;
    std::vector<analysis::Report>& reports_;
    const Measured& measured_;
    std::vector<std::pair<analysis::Report, std::string>> others_; // further runs, laid over copies
    std::map<std::string, std::string> laid_; // by machine: the run that its report has
};

} // namespace

Result<PlotInput> make_plot(std::string title, const std::vector<model::Machine>& machines,
                            std::vector<analysis::Report>& reports, const Measured& measured) {
    Plot plot(machines, reports, measured);
    plot.add_all_ceilings();
    const auto rest = plot.lay_over();
    if (!rest) {
        return Result<PlotInput>(rest.diagnostics());
    }
    plot.add_reports();
    for (const auto& left : *rest) {
        if (const auto added = plot.add_kernels(left); !added) {
            return Result<PlotInput>(added.diagnostics());
        }
        if (title.empty()) {
            const std::string& command = left.profile.run.command;
            title = command.empty() ? "Profile" : command;
        }
    }
    plot.input.title = std::move(title);
    for (const analysis::PlotMachine& machine : plot.input.machines) {
        plot.input.title +=
            (&machine == &plot.input.machines.front() ? " on " : " and ") + machine.name;
    }
    return {std::move(plot.input), std::move(plot.notes)};
}

} // namespace eyeroof::report
