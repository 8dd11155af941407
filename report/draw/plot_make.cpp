#include "report/draw/plot_make.hpp"

#include "analysis/measured/lay_ceilings.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "base/ascii.hpp"

#include <algorithm>
#include <cctype>
#include <set>

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

    // Lays what belongs to each report over it, and gives the profiles that are left to be drawn.
    Result<std::vector<profiles::Profile>> lay_over() {
        std::vector<profiles::Profile> rest;
        for (const profiles::Profile& profile : measured_.profiles) {
            if (report_of(place_of(profile)) == nullptr) {
                rest.push_back(profile);
            }
        }
        for (analysis::Report& report : reports_) {
            const auto own = profiles_of(report.machine.id);
            lay_all_ceilings(report);
            if (own.empty()) {
                continue;
            }
            const auto all = profiles::merge(own);
            if (!all) {
                return Result<std::vector<profiles::Profile>>(all.diagnostics());
            }
            notes.append(all.diagnostics());
            const auto laid =
                analysis::lay_profile(report, *all, family_of(*all), measured_.assignments);
            if (!laid) {
                return Result<std::vector<profiles::Profile>>(laid.diagnostics());
            }
            notes.append(laid.diagnostics());
            rest.push_back(profiles::keep_launches(*all, laid->unmatched));
        }
        return Result<std::vector<profiles::Profile>>(std::move(rest));
    }

    void add_reports() {
        for (const analysis::Report& report : reports_) {
            for (const model::Machine& machine : machines_) {
                if (machine.id == report.machine.id) {
                    add_report(input, machine, report);
                }
            }
        }
    }

    Result<Done> add_kernels(const profiles::Profile& profile) {
        const std::string machine = place_of(profile);
        if (find_machine(input, machine) == nullptr) {
            return Result<Done>::failure("no-roofs", "the measurement has no roofs of its own",
                                         "name the machine that it was taken on");
        }
        auto added = add_profile(input, machine, profile, {}, family_of(profile));
        if (added) {
            notes.append(added.diagnostics());
        }
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
    std::vector<profiles::Profile> profiles_of(const std::string& machine) const {
        std::vector<profiles::Profile> own;
        for (const profiles::Profile& profile : measured_.profiles) {
            if (place_of(profile) == machine) {
                own.push_back(profile);
            }
        }
        return own;
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
        return profiles::find_family(measured_.families, profile.run);
    }

    const std::vector<model::Machine>& machines_;
    std::vector<analysis::Report>& reports_;
    const Measured& measured_;
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
    for (const profiles::Profile& profile : *rest) {
        if (const auto added = plot.add_kernels(profile); !added) {
            return Result<PlotInput>(added.diagnostics());
        }
        if (title.empty()) {
            title = profile.run.command.empty() ? "Profile" : profile.run.command;
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
