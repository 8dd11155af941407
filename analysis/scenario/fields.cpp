#include "analysis/scenario/fields.hpp"

#include "analysis/scenario/field_forms.hpp"
#include "analysis/scenario/power_cap.hpp"
#include "base/ascii.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using namespace analysis::fields; // NOLINT(google-build-using-namespace): the forms of this folder

namespace {

constexpr std::int64_t kMostStreams = 64;

constexpr std::initializer_list<Operators> kOperators = {Operators::all, Operators::fused,
                                                         Operators::products};
constexpr std::initializer_list<Regime> kRegimes = {
    Regime::usual, Regime::mixed, Regime::fp32_gradients, Regime::pure, Regime::eight_bit};
constexpr std::initializer_list<Copies> kCopies = {Copies::none, Copies::batch, Copies::all,
                                                   Copies::staged, Copies::staged_all};
constexpr std::initializer_list<AttentionForm> kAttentionForms = {AttentionForm::written,
                                                                  AttentionForm::fused};
constexpr std::initializer_list<model::Layout> kLayouts = {model::Layout::channels_last,
                                                           model::Layout::channels_first};
constexpr std::initializer_list<model::Launch> kLaunches = {
    model::Launch::eager, model::Launch::stream, model::Launch::graph, model::Launch::none};

Texts data_types() {
    const auto names = model::data_type_names();
    return {names.begin(), names.end()};
}

ScenarioField batch_field() {
    return count_field(
        "batch", FieldGroup::what, "Batch size of a step [the network's own]", 1,
        model::kMaxDimension,
        [](const Scenario& s) { return s.batch ? Texts{fmt::format("{}", *s.batch)} : Texts{}; },
        [](Scenario& s, std::optional<std::int64_t> value) { s.batch = value; });
}

ScenarioField phase_field() {
    return choice_field(
        "phase", FieldGroup::what, {"inference", "training"},
        "Inference or training, which adds gradients and the weight update [inference]",
        [](const Scenario& s) { return Texts{s.training ? "training" : "inference"}; },
        [](Scenario& s, const std::string* word) {
            const bool training = word != nullptr && *word == "training";
            s.training = !training    ? std::optional<TrainingOptions>{}
                         : s.training ? s.training
                                      : std::optional(TrainingOptions{});
        });
}

ScenarioField optimizer_field() {
    ScenarioField made = choice_field(
        "optimizer", FieldGroup::what, {"sgd", "sgd_momentum", "adam"},
        "Optimizer of a training step [sgd_momentum]",
        [](const Scenario& s) { return s.training ? Texts{s.training->optimizer} : Texts{}; }, {});
    made.set = [choices = made.choices](Scenario& s, const Texts& texts) {
        if (texts.empty()) {
            return Diagnostics{};
        }
        if (!s.training) {
            return refused("optimizer", "inference has no optimizer", "add --phase training");
        }
        if (std::find(choices.begin(), choices.end(), texts.front()) == choices.end()) {
            return refused("optimizer", fmt::format("'{}' is not an optimizer", texts.front()),
                           suggestion(texts.front(), choices));
        }
        s.training->optimizer = texts.front();
        return Diagnostics{};
    };
    return made;
}

ScenarioField type_field() {
    ScenarioField made = choice_field(
        "dtype", FieldGroup::what, data_types(),
        "Data type of weights and activations [as in the network]",
        [](const Scenario& s) {
            return s.data_type ? Texts{std::string(model::data_type_name(*s.data_type))} : Texts{};
        },
        {});
    made.set = [](Scenario& s, const Texts& texts) {
        s.data_type =
            texts.empty() ? std::nullopt : model::data_type_from_name(lowered(texts.front()));
        if (!texts.empty() && !s.data_type) {
            return refused("dtype", fmt::format("'{}' is not a data type", texts.front()),
                           suggestion(texts.front(), data_types()));
        }
        return Diagnostics{};
    };
    return made;
}

void add_what(std::vector<ScenarioField>& all) {
    all.push_back(text_field("network", FieldGroup::what, "NETWORK|FILE",
                             "Catalog name (eyeroof net list) or network file",
                             &Scenario::network));
    all.push_back(
        list_field("dim", FieldGroup::what, "NAME=SIZE",
                   "Set a size that the network leaves open, or one of its parameters (repeatable)",
                   &Scenario::sizes));
    all.push_back(batch_field());
    all.push_back(phase_field());
    all.push_back(optimizer_field());
    all.push_back(type_field());
    all.push_back(choice_field(
        "states", FieldGroup::what, words_of(kRegimes, regime_name),
        "Precision of gradients and optimizer states: usual for the types, 16-bit with an fp32 "
        "copy of the weights, with fp32 gradients, without a copy, or 8-bit states [usual]",
        [](const Scenario& s) { return Texts{std::string(regime_name(s.states))}; },
        [](Scenario& s, const std::string* word) {
            s.states = word == nullptr ? Regime::usual : named(kRegimes, regime_name, *word);
        }));
    all.push_back(choice_field(
        "operators", FieldGroup::what, words_of(kOperators, operators_name),
        "Operators to run: all of them, fused (batch norms folded, activations in the layer "
        "before), or only convolutions and GEMMs [all; fused for inference on accelerators]",
        [](const Scenario& s) {
            return s.operators ? Texts{std::string(operators_name(*s.operators))} : Texts{};
        },
        [](Scenario& s, const std::string* word) {
            s.operators = word == nullptr ? std::optional<Operators>{}
                                          : std::optional(named(kOperators, operators_name, *word));
        }));
    all.push_back(choice_field(
        "attention", FieldGroup::what, words_of(kAttentionForms, attention_name),
        "Attention as written in the network, or as one fused kernel [fused on GPUs; written in "
        "traces and on accelerators]",
        [](const Scenario& s) {
            return s.attention ? Texts{std::string(attention_name(*s.attention))} : Texts{};
        },
        [](Scenario& s, const std::string* word) {
            s.attention = word == nullptr
                              ? std::optional<AttentionForm>{}
                              : std::optional(named(kAttentionForms, attention_name, *word));
        }));
    all.push_back(text_field("density", FieldGroup::what, "SHARES|NAME|FILE",
                             "Density (share of nonzero values), for machines that exploit zeros: "
                             "weights=0.4,inputs=0.6[,outputs=0.6], or a table by name or file",
                             &Scenario::density));
    all.push_back(flag_field("in-place", FieldGroup::what,
                             "Run ReLU in place where no other operator needs its input",
                             &Scenario::in_place));
    all.push_back(field(
        "layers", FieldGroup::what, FieldKind::text, "REGEX",
        "Run only the layers whose name matches",
        [](const Scenario& s) { return s.layers ? Texts{*s.layers} : Texts{}; },
        [](Scenario& s, const Texts& texts) {
            s.layers = texts.empty() || texts.front().empty() ? std::optional<std::string>{}
                                                              : std::optional(texts.front());
            return Diagnostics{};
        }));
    all.push_back(flag_field("allow-uncosted", FieldGroup::what,
                             "Print a result although some operators have no cost model",
                             &Scenario::allow_uncosted));
}

ScenarioField host_speed_field() {
    return number_field(
        "host-speed", FieldGroup::where, "TIMES",
        "Launch speed relative to --host; `eyeroof measure host` infers it from a measured time "
        "[1]",
        &Scenario::host_speed,
        {1.0, 0.001, 1000.0, "a host's speed",
         "a number from 0.001 to 1000, such as 2 for half the time a launch"});
}

ScenarioField clocks_field() {
    return choice_field(
        "clocks", FieldGroup::where, {"settled", "burst"},
        "GPU clocks after the power limiter has settled (minutes), or in short bursts [settled in "
        "training and serving, else burst]",
        [](const Scenario& s) {
            return s.settled_clocks ? Texts{*s.settled_clocks ? "settled" : "burst"} : Texts{};
        },
        [](Scenario& s, const std::string* word) {
            s.settled_clocks =
                word == nullptr ? std::optional<bool>{} : std::optional(*word == "settled");
        });
}

// A change of the machine, under which its clocks have settled.
ScenarioField power_cap_field() {
    return field(
        kPowerCap.data(), FieldGroup::where, FieldKind::text, "POWER",
        "Cap a GPU's power, as in 300W: its clocks fall until it keeps the cap [the board's limit]",
        [](const Scenario& s) {
            const auto at = std::ranges::find_if(s.changes, is_power_cap);
            return at == s.changes.end() ? Texts{} : Texts{*power_cap_of(*at)};
        },
        [](Scenario& s, const Texts& texts) {
            std::erase_if(s.changes, is_power_cap);
            if (!texts.empty()) {
                s.changes.push_back(std::string(kPowerCap) + "=" + texts.front());
            }
            return Diagnostics{};
        });
}

void add_where(std::vector<ScenarioField>& all) {
    all.push_back(text_field("on", FieldGroup::where, "MACHINE|FILE",
                             "Catalog name (eyeroof hw list) or machine file", &Scenario::machine));
    all.push_back(list_field("set", FieldGroup::where, "KEY=VALUE",
                             "Change a parameter of the machine, such as dram-bandwidth='1.2 TB/s' "
                             "or clock=x2 (repeatable)",
                             &Scenario::changes));
    all.push_back(text_field("energies", FieldGroup::where, "FILE",
                             "Accelergy energy reference table (ERT) of a Timeloop architecture",
                             &Scenario::energies));
    all.push_back(text_field("host", FieldGroup::where, "MACHINE",
                             "Host that launches a GPU's kernels [the usual one of such a GPU]",
                             &Scenario::host));
    all.push_back(host_speed_field());
    all.push_back(clocks_field());
    all.push_back(power_cap_field());
}

void add_software(std::vector<ScenarioField>& all) {
    all.push_back(text_field("library", FieldGroup::software, "NAME",
                             "Library or framework and its version, such as 'cublas 10' or 'TRTLLM "
                             "1.0' [the most likely]",
                             &Scenario::library));
    all.push_back(choice_field(
        "layout", FieldGroup::software, words_of(kLayouts, model::layout_name),
        "Memory layout of convolution tensors [channels-last for convolutions below 32 bits]",
        [](const Scenario& s) {
            return s.layout ? Texts{std::string(model::layout_name(*s.layout))} : Texts{};
        },
        [](Scenario& s, const std::string* word) {
            s.layout = word == nullptr ? std::nullopt : model::layout_from_name(*word);
        }));
    all.push_back(flag_field("compiled", FieldGroup::software,
                             "Fuse pointwise operators and reductions, as torch.compile does",
                             &Scenario::compiled));
}

void add_launch(std::vector<ScenarioField>& all) {
    all.push_back(choice_field(
        "launch", FieldGroup::launch, words_of(kLaunches, model::launch_name),
        "How kernels are launched: eager framework calls, a stream of back-to-back launches, a "
        "CUDA graph, or none (kernel time only) [eager]",
        [](const Scenario& s) { return Texts{std::string(model::launch_name(s.launch))}; },
        [](Scenario& s, const std::string* word) {
            s.launch = word == nullptr ? Scenario{}.launch : *model::launch_from_name(*word);
        }));
    all.push_back(count_field(
        "streams", FieldGroup::launch, "Streams for independent operators [1]", 1, kMostStreams,
        [](const Scenario& s) { return Texts{fmt::format("{}", s.streams)}; },
        [](Scenario& s, std::optional<std::int64_t> value) {
            s.streams = static_cast<int>(value.value_or(1));
        }));
    all.push_back(choice_field(
        "copies", FieldGroup::launch, words_of(kCopies, copies_name),
        "Copies in each step: none, the batch (inputs and outputs), or all (weights too); staged "
        "copies go to a CUDA graph's own buffers on the device [none]",
        [](const Scenario& s) { return Texts{std::string(copies_name(s.copies))}; },
        [](Scenario& s, const std::string* word) {
            s.copies = word == nullptr ? Copies::none : named(kCopies, copies_name, *word);
        }));
    all.push_back(flag_field("pageable", FieldGroup::launch,
                             "Copy from pageable memory: half the rate, and the host waits",
                             &Scenario::pageable));
}

} // namespace

std::string_view field_group_title(FieldGroup group) {
    switch (group) {
    case FieldGroup::what:
        return "Workload";
    case FieldGroup::where:
        return "Machine";
    case FieldGroup::software:
        return "Software";
    case FieldGroup::launch:
        return "Kernel launch";
    case FieldGroup::mapping:
        return "Mapping onto accelerators";
    }
    return "";
}

std::string ScenarioField::json_key() const {
    std::string key = name == "on" ? "machine" : name == "dim" ? "sizes" : name;
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
}

const std::vector<ScenarioField>& scenario_fields() {
    static const std::vector<ScenarioField> all = [] {
        std::vector<ScenarioField> made;
        add_what(made);
        add_where(made);
        add_software(made);
        add_launch(made);
        add_mapping(made);
        return made;
    }();
    return all;
}

const ScenarioField* find_field(std::string_view name) {
    for (const ScenarioField& known : scenario_fields()) {
        if (known.name == name || known.json_key() == name) {
            return &known;
        }
    }
    return nullptr;
}

} // namespace eyeroof::analysis
