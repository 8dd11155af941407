#include "formats/trace_gpu.hpp"

#include "base/ascii.hpp"
#include "hwdb/catalog.hpp"
#include "profiles/import/importer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace eyeroof::formats {

namespace {

// Runs of letters and digits, in lower case.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        const char low = lowered(c);
        const bool plain = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9');
        if (plain) {
            words.back() += low;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) {
        words.pop_back();
    }
    return words;
}

bool has_word(const std::vector<std::string>& words, std::string_view start) {
    return std::ranges::any_of(words, [&](const std::string& w) { return w.starts_with(start); });
}

// What says the card's form or memory, and not its model.
bool is_form(const std::string& word) {
    const bool memory = word.ends_with("gb") && word[0] >= '0' && word[0] <= '9';
    return memory || word.starts_with("sxm") || word == "pcie" || word == "nvl" ||
           word == "server" || word == "die";
}

struct Fit {
    double score = 0.0;
    std::size_t words = 0; // of the model
};

std::optional<Fit> fit_of(const std::string& id, const model::Gpu& gpu,
                          const profiles::RunInfo& run) {
    const auto named = words_of(run.gpu);
    Fit fit;
    for (const std::string& word : words_of(id)) {
        if (is_form(word)) {
            const std::string_view form = word.starts_with("sxm") ? "sxm" : std::string_view(word);
            fit.score += has_word(named, form) ? 2.0 : 0.0;
            continue;
        }
        if (std::ranges::find(named, word) == named.end()) {
            return std::nullopt;
        }
        ++fit.words;
    }
    if (fit.words == 0 || (run.sm_count > 0 && gpu.sms > 0 && run.sm_count != gpu.sms)) {
        return std::nullopt;
    }
    const bool plain = !has_word(named, "pcie") && !has_word(named, "nvl");
    fit.score += plain && has_word(words_of(id), "sxm") ? 1.0 : 0.0;
    if (run.memory_bytes > 0.0 && gpu.dram_bytes > 0.0) {
        fit.score -= 4.0 * std::abs(std::log(run.memory_bytes / gpu.dram_bytes));
    }
    return fit;
}

// GPUs of the catalog with as many SMs and as much memory, for a name that is of several.
std::string gpus_like(const profiles::RunInfo& run, hwdb::Folders folders) {
    constexpr double kAlike = 0.15; // of the memory
    std::string list;
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
        if (entry.family != "gpus" || run.sm_count <= 0) {
            continue;
        }
        const auto machine = hwdb::load_machine(entry.id, folders);
        const auto* gpu = machine ? std::get_if<model::Gpu>(&machine->kind) : nullptr;
        const bool alike = gpu != nullptr && gpu->sms == run.sm_count &&
                           (run.memory_bytes <= 0.0 || gpu->dram_bytes <= 0.0 ||
                            std::abs(std::log(run.memory_bytes / gpu->dram_bytes)) < kAlike);
        list += alike ? fmt::format("{}--on {}", list.empty() ? "" : ", ", entry.id) : "";
    }
    return list;
}

Result<std::string> unknown_gpu(const profiles::RunInfo& run, hwdb::Folders folders) {
    constexpr double kGiga = 1e9;
    const std::string alike = gpus_like(run, folders);
    const std::string facts = run.sm_count > 0 ? fmt::format(" ({} SMs or CUs, {:.0f} GB)",
                                                             run.sm_count, run.memory_bytes / kGiga)
                                               : std::string();
    return Result<std::string>::failure(
        "unknown-gpu",
        run.gpu.empty() ? std::string("the trace does not say its GPU")
                        : fmt::format("no GPU of the catalog is '{}'{}, the name in the trace",
                                      run.gpu.substr(0, 80), facts),
        alike.empty() ? std::string("name the machine: `eyeroof hw list` has them")
                      : "name the machine; as many units and as much memory have: " + alike);
}

} // namespace

Result<std::string> gpu_of_run(const profiles::RunInfo& run, hwdb::Folders folders) {
    std::string best;
    Fit most;
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
        const auto named = words_of(run.gpu);
        const auto id = words_of(entry.id);
        if (entry.family != "gpus" || id.empty() ||
            std::ranges::find(named, id.front()) == named.end()) {
            continue; // its file need not be read
        }
        const auto machine = hwdb::load_machine(entry.id, folders);
        const auto* gpu = machine ? std::get_if<model::Gpu>(&machine->kind) : nullptr;
        const auto fit = gpu != nullptr ? fit_of(entry.id, *gpu, run) : std::nullopt;
        const bool better = fit && (best.empty() || fit->words > most.words ||
                                    (fit->words == most.words && fit->score > most.score));
        if (better) {
            best = entry.id;
            most = *fit;
        }
    }
    if (best.empty()) {
        return unknown_gpu(run, folders);
    }
    return best;
}

Result<std::string> gpu_of_trace(const std::string& path, hwdb::Folders folders) {
    const auto input = profiles::input_of_file(path);
    if (!input) {
        return Result<std::string>(input.diagnostics());
    }
    profiles::RunInfo run = profiles::run_of_head(*input);
    if (run.gpu.empty()) { // it stands further behind
        const auto profile = profiles::import_profile(*input);
        if (!profile) {
            return Result<std::string>(profile.diagnostics());
        }
        run = profile->run;
    }
    return gpu_of_run(run, folders);
}

bool same_gpu(const profiles::RunInfo& run, const std::string& machine, hwdb::Folders folders) {
    const auto loaded = hwdb::load_machine(machine, folders);
    const auto* gpu = loaded ? std::get_if<model::Gpu>(&loaded->kind) : nullptr;
    return gpu != nullptr && !run.gpu.empty() && fit_of(loaded->id, *gpu, run).has_value();
}

} // namespace eyeroof::formats
