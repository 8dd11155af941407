#include "report/draw/mapping_scene.hpp"

#include "report/draw/mapping_sections.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

using model::Accelerator;

namespace {

MappingScene accelerator_scene(const model::Machine& machine, const analysis::LayerReport& layer,
                               std::size_t nest, double width) {
    MappingScene scene;
    MappingPage page(width);
    const auto& accelerator = std::get<Accelerator>(machine.kind);
    const auto problems = model::problems_of(layer.layer);
    if (!problems || nest >= layer.mappings.size() || nest >= problems->size()) {
        page.line("This layer does not run on the array: only its memory traffic counts.");
        scene.drawing = page.finish("No mapping");
        return scene;
    }
    const ArrayWork work = array_work((*problems)[nest], accelerator, layer.mappings[nest]);
    add_array(page, work, scene);
    add_buffers(page, accelerator, layer);
    add_nest(page, accelerator, layer.mappings[nest]);
    scene.drawing = page.finish(scene.summary);
    return scene;
}

MappingScene gpu_scene(const model::Gpu& gpu, const analysis::LayerReport& layer, double width) {
    MappingScene scene;
    MappingPage page(width);
    page.heading("Kernel");
    page.line(layer.mapping_text);
    if (!layer.kernel || !layer.kernel->product) {
        page.line(
            layer.kernel && layer.kernel->mapping
                ? "Its tiles are no tiles of the result and cannot be drawn on it: they cover "
                  "transformed inputs, or several products in turn. Step 4 counts them."
                : "No product: elements stream through all SMs.",
            0.0, ColourRole::faint);
        scene.drawing = page.finish("Kernel: " + layer.mapping_text);
        return scene;
    }
    add_tiles(page, *layer.kernel->product, *layer.kernel->mapping);
    add_waves(page, *layer.kernel->waves, gpu.sms, scene);
    scene.drawing = page.finish(scene.summary);
    return scene;
}

} // namespace

MappingScene make_mapping_scene(const model::Machine& machine, const analysis::LayerReport& layer,
                                std::size_t nest, double width) {
    if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
        return gpu_scene(*gpu, layer, width);
    }
    return accelerator_scene(machine, layer, nest, width);
}

} // namespace eyeroof::report
