// One host object of CUPTI: a chip, the metrics chosen on it, their configuration and evaluation.
#pragma once

#include "profiles/cupti/cupti_api.hpp"

#include <cstdint>
#include <vector>

namespace eyeroof::profiles {

class CuptiConfig {
  public:
    explicit CuptiConfig(const CuptiApi& api) : api_(api) {}
    CuptiConfig(const CuptiConfig&) = delete;
    CuptiConfig& operator=(const CuptiConfig&) = delete;
    ~CuptiConfig() { close(); }

    // `availability` may be null: then every counter of the chip counts as available.
    CUptiResult open(const std::string& chip, const std::uint8_t* availability);
    bool has_metric(const std::string& metric) const;
    // Chooses the metrics and builds their configuration image.
    CUptiResult add(const std::vector<std::string>& metrics);
    void close();

    const std::vector<std::uint8_t>& image() const { return image_; }
    std::size_t passes() const { return passes_; }
    // Names as CUPTI takes them; valid as long as this object.
    std::vector<const char*>& names() { return names_; }
    // Values of one range in the order of add().
    CUptiResult evaluate(const std::vector<std::uint8_t>& counter_data, std::size_t range,
                         std::vector<double>& values);

  private:
    const CuptiApi& api_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
    std::vector<std::string> metrics_;
    std::vector<const char*> names_;
    std::vector<std::uint8_t> image_;
    std::size_t passes_ = 0;
};

} // namespace eyeroof::profiles
