// Reads and writes the fitted constants of serving libraries' kernels: kernels/, a
// file for each family of machines that run the same kernels, and "other" for all.
#pragma once

#include "hwdb/folders.hpp"
#include "hwdb/yaml.hpp"
#include "model/gpu/library_cells.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace eyeroof::hwdb {

Result<model::LibraryCells> read_kernels(Document& document);

// YAML that read_kernels turns into the same again, to three digits, shapes to a hundredth.
std::string write_kernels(const model::LibraryCells& cells, const std::string& family);

// Of the GPU's family and of all, of the first folder that has them; none where no folder has.
Result<model::MachineKernels> load_kernels(const model::Gpu& gpu, const std::string& id,
                                           Folders folders);

// The same when it is asked for; one for all GPUs of that name and those folders.
std::shared_ptr<const model::KernelShelf>
kernel_shelf(const model::Gpu& gpu, const std::string& id,
             const std::vector<std::filesystem::path>& folders);

} // namespace eyeroof::hwdb
