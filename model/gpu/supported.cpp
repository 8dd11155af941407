#include "model/gpu/supported.hpp"

#include "model/gpu/predict.hpp"

#include <fmt/format.h>

#include <array>

namespace eyeroof::model {

std::string supported_types(const Gpu& gpu) {
    std::string types;
    for (const std::string_view name : data_type_names()) {
        if (gpu.rate(*data_type_from_name(name)).flops_per_s > 0.0) {
            types += (types.empty() ? "" : ", ") + std::string(name);
        }
    }
    return types;
}

bool needs_units(const Gpu& gpu, const Layer& layer) {
    return kernel_class_of(gpu, layer) != KernelClass::memory;
}

Diagnostics check_supported(const Network& network, const std::string& name, const Gpu& gpu) {
    struct Missing {
        std::string first;
        std::size_t layers = 0;
    };
    std::array<Missing, kDataTypes> missing;
    for (const Layer& layer : network.layers) {
        const DataType type = layer.types.input;
        if (gpu.rate(type).flops_per_s <= 0.0 && needs_units(gpu, layer)) {
            Missing& of_type = missing[static_cast<std::size_t>(type)];
            of_type.first = of_type.layers++ == 0 ? layer.name : of_type.first;
        }
    }
    Diagnostics found;
    for (std::size_t i = 0; i < kDataTypes; ++i) {
        const auto& [first, layers] = missing[i];
        if (layers > 0) {
            const std::string more =
                layers == 1 ? " is" : fmt::format(" and {} more are", layers - 1);
            found.error("unsupported-type",
                        fmt::format("{} has no units for {}, of which {}{}", name,
                                    data_type_name(static_cast<DataType>(i)), first, more),
                        fmt::format("it has {}: choose one with --dtype, or another machine",
                                    supported_types(gpu)));
        }
    }
    return found;
}

} // namespace eyeroof::model
