// Fitted constants of the kernels of serving libraries, and the time of a call by them.
// Made by hwdb from kernels/, fitted by analysis/calibrate; read by kernel_of.
#pragma once

#include "base/result.hpp"
#include "model/gpu/library_call.hpp"
#include "model/gpu/serving_library.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::model {

// Of one machine beside the others of its family: how much longer its calls take (ln), and where
// measured / predicted lies for eight rows of ten. `host_s`: what a framework's call of the kernel
// takes on the host of its rows; 0: all were timed in graphs.
struct CellMachine {
    double offset = 0.0;
    double low = 0.8, high = 1.25;
    double host_s = 0.0;

    bool operator==(const CellMachine&) const = default;
};

//   time = (sum a_i added_i + (sum (c_j joined_j)^p)^(1/p)) exp(shape + offset)
// parts: parts_of; shape: the sum over the axes of what is fitted at their knots, straight between.
// A call without a graph also waits for its host: (time^8 + host^8)^(1/8).
struct LibraryCell {
    std::vector<double> added, joined; // a, c
    double power = 2.0;                // p, from 1 (one after the other) to 8 (the longest alone)
    std::vector<double> shape;         // ln, at all knots of all axes; empty: none was fitted
    std::map<std::string, CellMachine> machines;
    double low = 0.7, high = 1.4;    // of all machines' rows
    int rows = 0;                    // of the fit
    double mape = 0.0, median = 0.0; // on shapes that a fit of the other half has not seen
    std::string versions;            // of the library, as the rows say: "0.24.0, 0.25.0"
    // Shares of the board's power limit, where the rows state power: of a waiting device, then of
    // each of `joined` at the data sheet's rate.
    std::vector<double> watts;

    bool operator==(const LibraryCell&) const = default;
};

// "gemm||fp8|sglang|": operator, network, type, library, kernel; an empty word holds all.
std::string cell_key(const LibraryCall& call);

// What distance from the rows adds to their errors, ln, root of the squares: of a machine, of a
// version, and of a library without rows, and of each axis along which no row lies. Of each kind of
// call, from rows that fits without them predicted: eight of ten are inside.
struct CellDistance {
    double machine = 0.1, version = 0.1, library = 0.35, size = 0.2;

    bool operator==(const CellDistance&) const = default;
};

struct LibraryCells {
    std::string source;
    std::map<std::string, LibraryCell, std::less<>> cells;
    std::array<CellDistance, kLibraryKinds> distances{}; // by LibraryKind

    bool operator==(const LibraryCells&) const = default;
};

// Machines that run the same kernels: "sm_100" (compute capability 10.x), "sm_90", "gfx950".
std::string kernel_family(const Gpu& gpu);
inline constexpr const char* kOtherFamily = "other"; // constants of all families together

struct FoundCell {
    const LibraryCell* cell = nullptr;
    std::string key;
    bool exact = true; // of the call's own library
};
// The nearest: the kernel's own, of its library, of its type in any library; nothing where no
// library was measured on the operator and type.
std::optional<FoundCell> find_cell(const LibraryCells& cells, const LibraryCall& call);

// A quantile of measured / predicted, wider by what distance adds (ln, root of the squares).
double widened(double quantile, double by);

// Seconds by the cell, without the machine's offset.
double cell_seconds(const LibraryCell& cell, const CallParts& parts, LibraryKind kind);
// The values of all hats of the kind's axes, in the order of LibraryCell::shape.
std::vector<double> shape_weights(const CallParts& parts, LibraryKind kind);

// Mean power of a call that takes `time_s`, a share of the board's limit:
//   (x^-6 + 1)^(-1/6), x = w_0 + sum w_j joined_j / time
double power_share(const std::vector<double>& watts, const CallParts& parts, double time_s);
// With the host that calls it; 0: in a graph.
double with_host(double kernel_s, double host_s);

struct LibraryTime {
    double time_s = 0.0, low_s = 0.0, high_s = 0.0;
    double energy_j = 0.0; // of the board; 0: no power of such calls was measured
    std::string key;       // of the cell
    std::string versions;
    bool machine_measured = false;
    bool exact = false; // by rows of the call's own library, no older than its version

    bool operator==(const LibraryTime&) const = default;
};
// The constants of a machine: those of its family first, then those of all; and its name in them.
struct MachineKernels {
    std::vector<std::shared_ptr<const LibraryCells>> families;
    std::string machine;
};

// The same, read at the first question: most questions name no serving library.
class KernelShelf {
  public:
    using Read = std::function<Result<MachineKernels>()>;

    explicit KernelShelf(Read read) : read_(std::move(read)) {}
    const Result<MachineKernels>& kernels() const;

  private:
    Read read_;
    mutable std::once_flag once_;
    mutable std::optional<Result<MachineKernels>> kernels_;
};

// Nothing where the operator is unknown or was not measured.
std::optional<LibraryTime> library_time(const Gpu& gpu, const MachineKernels& kernels,
                                        const LibraryCall& call);

// The call that the library makes of a layer; nothing where it names no serving library, or none
// that runs the layer.
std::optional<LibraryCall> call_of(const Layer& layer, const ServingLibrary& library);
// Nothing where the library's own kernels were not measured. Operands that are quantized already
// save the time of the library's cast.
std::optional<LibraryTime> layer_time(const Gpu& gpu, const MachineKernels& kernels,
                                      const Layer& layer, const ServingLibrary& library);
// "vllm 0.24.0, 0.25.0, FLASHINFER": whose rows the constants come from.
std::string served_text(const LibraryTime& time);

} // namespace eyeroof::model
