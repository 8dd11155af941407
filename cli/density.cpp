#include "cli/density.hpp"

#include "model/base/suggest.hpp"
#include "study/exam/examine.hpp"
#include "study/sparse/densities.hpp"
#include "study/sparse/levels_exam.hpp"
#include "study/sparse/machine.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::cli {

namespace {

using model::sparse::Densities;
using Shares = std::vector<Densities>;

model::Result<double> share_of(const std::string& part, std::string_view text) {
    double value = -1.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value >= 0.0 && value <= 1.0)) {
        return model::Result<double>::failure(
            "density", fmt::format("--density: '{}' gives no share", part),
            "a density is the share of words that are not zero, 0 to 1, as in weights=0.4");
    }
    return value;
}

// "weights=0.4,inputs=0.6": outputs are as inputs where they are not told.
model::Result<Densities> named_shares(const std::string& text) {
    static const std::vector<std::string> names = {"inputs", "weights", "outputs"};
    Densities shares;
    std::optional<double> outputs;
    model::Diagnostics found;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        const std::string part = text.substr(from, to - from);
        from = to + 1;
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string name = part.substr(0, equals);
        const auto value = share_of(part, equals < part.size() ? part.substr(equals + 1) : "");
        found.append(value.diagnostics());
        if (name == "inputs") {
            shares.input = value ? *value : 1.0;
        } else if (name == "weights") {
            shares.weight = value ? *value : 1.0;
        } else if (name == "outputs") {
            outputs = value ? *value : 1.0;
        } else {
            found.error("density", fmt::format("--density: there are no '{}'", name),
                        model::suggestion(name, names));
        }
    }
    shares.output = outputs.value_or(shares.input);
    return found.has_errors() ? model::Result<Densities>(std::move(found))
                              : model::Result<Densities>(shares);
}

model::Result<Shares> shares_of(Context& context, const std::string& density,
                                const model::Network& network) {
    if (density.find('=') != std::string::npos) {
        const auto one = named_shares(density);
        return one ? model::Result<Shares>(Shares(network.layers.size(), *one))
                   : model::Result<Shares>(one.diagnostics());
    }
    const auto file =
        study::find_sparse_file(density, context.machine_dirs(), "densities", "density table");
    if (!file) {
        return file.diagnostics();
    }
    const auto table = study::load_densities(*file);
    return table ? study::densities_of(*table, network)
                 : model::Result<Shares>(table.diagnostics());
}

// What a file of the folder `sparse` says of the machine, by its name; or that file itself.
model::Result<study::SparseLevels> levels_of(Context& context, const std::string& name,
                                             const model::Machine& machine) {
    auto sparse = study::load_sparse_machine(name, context.machine_dirs());
    auto* levels = sparse ? std::get_if<study::SparseLevels>(&sparse->kind) : nullptr;
    if (levels == nullptr) {
        model::Diagnostics found;
        found.error("no-zeros-skipped",
                    fmt::format("no file says what {} does about zeros by level", machine.name),
                    "hwdb/sparse/eyeriss-v2.yaml is one; other machines that skip zeros: eyeroof "
                    "sparse --help");
        return found;
    }
    levels->machine = machine; // as --set left it
    return std::move(*levels);
}

} // namespace

void add_density(CLI::App& app, std::string& density) {
    app.add_option("--density", density,
                   "Shares of words that are not zero, on machines that do something about zeros "
                   "(eyeriss-v2): weights=0.4,inputs=0.6[,outputs=0.6], or a table by name or file")
        ->type_name("SHARES|NAME|FILE");
}

model::Result<study::Report> run_with_density(Context& context, const std::string& density,
                                              const model::Network& network,
                                              const std::string& machine_name,
                                              const model::Machine& machine,
                                              const study::StudyOptions& options) {
    const auto levels = levels_of(context, machine_name, machine);
    const auto prepared = study::prepared(network, study::settled(options, machine));
    if (!levels || !prepared) {
        return levels ? prepared.diagnostics() : levels.diagnostics();
    }
    const auto shares = shares_of(context, density, *prepared);
    if (!shares) {
        return shares.diagnostics();
    }
    context.report(shares.diagnostics());
    return study::run_sparse(network, *levels, *shares, options, context.stop(),
                             context.progress());
}

} // namespace eyeroof::cli
