// Configuration and evaluation of counters by NVIDIA's PerfWorks host library (libnvperf_host):
// what the older Profiling API of CUPTI needs, which Volta and CUDA before 12.6 U2 have and nothing
// else.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace eyeroof::profiles {

class Perfworks {
  public:
    // The library from `folder`, else as load_cupti looks for it. Error "unavailable".
    static Result<std::unique_ptr<Perfworks>> open(const std::string& folder = {});
    Perfworks(const Perfworks&) = delete;
    Perfworks& operator=(const Perfworks&) = delete;
    ~Perfworks();

    // 0, or PerfWorks' own status. `availability` may be null: then every counter of the chip
    // counts as available.
    int choose_chip(const std::string& chip, const std::uint8_t* availability);
    bool has_metric(const std::string& metric) const;
    // Chooses the metrics; builds the configuration image and the prefix of the counter data.
    int add(const std::vector<std::string>& metrics);

    const std::vector<std::uint8_t>& config_image() const;
    const std::vector<std::uint8_t>& counter_data_prefix() const;
    std::size_t passes() const;
    // Ranges that a counter-data image holds.
    std::size_t ranges(const std::vector<std::uint8_t>& counter_data) const;
    // Values of one range of a counter-data image, in the order of add().
    int evaluate(const std::vector<std::uint8_t>& counter_data, std::size_t range,
                 std::vector<double>& values);

  private:
    struct State;
    explicit Perfworks(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace eyeroof::profiles
