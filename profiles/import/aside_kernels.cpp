#include "profiles/import/aside_kernels.hpp"

namespace eyeroof::profiles {

void AsideKernels::add(const AsideKernel& kernel) {
    if (!file_ && !failed_) {
        file_.reset(std::tmpfile());
    }
    failed_ = failed_ || !file_ || std::fwrite(&kernel, sizeof kernel, 1, file_.get()) != 1;
}

bool AsideKernels::each(const std::function<void(const AsideKernel&)>& use) {
    if (failed_ || !file_) {
        return !failed_;
    }
    std::rewind(file_.get());
    AsideKernel kernel;
    while (std::fread(&kernel, sizeof kernel, 1, file_.get()) == 1) {
        use(kernel);
    }
    return std::ferror(file_.get()) == 0;
}

} // namespace eyeroof::profiles
