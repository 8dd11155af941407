// Any bytes through the importer that recognises them, and through each importer by force; and what
// comes of it as a network.
#include "formats/trace_network.hpp"
#include "tests/fuzz/profile_import.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void make_network(std::string_view bytes) {
    const auto input = eyeroof::profiles::input_of_text(std::string(bytes), "fuzz");
    auto profile = eyeroof::profiles::import_profile(input);
    if (!profile) {
        return;
    }
    const auto made = eyeroof::formats::network_of_trace(*std::move(profile), "fuzz");
    if (!made) {
        eyeroof::tests::require(made.diagnostics().has_errors());
        return;
    }
    for (const eyeroof::model::Layer& layer : made->network.layers) {
        eyeroof::tests::require(eyeroof::model::work_of(layer).ok() && layer.count >= 1);
    }
    eyeroof::tests::require(eyeroof::profiles::validate(made->profile).empty());
    eyeroof::tests::require(eyeroof::profiles::validate(made->step).empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    eyeroof::tests::import_anything(bytes);
    make_network(bytes);
    return 0;
}
