#include "model/accelerator/compute_in_memory.hpp"

#include "base/checked.hpp"
#include "base/plausible.hpp"
#include "model/accelerator/accelerator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr Count kMaxLines = Count{1} << 20;
constexpr double kMaxCycles = 1e6;
constexpr double kMaxUm2 = 1e10;

Count packed_bytes(Count words, int bits) {
    return std::max<Count>(1, ceil_div(words * bits, 8));
}

Store plain_store(Operand operand, Count bytes) {
    Store store;
    store.operands = {operand};
    store.capacity_bytes = bytes;
    store.may_bypass = false;
    return store;
}

Channel plain_channel(std::string name, Operand operand) {
    Channel channel;
    channel.name = std::move(name);
    channel.operands = {operand};
    channel.reduces = operand == Operand::output;
    // The sum of a column is there when the column has settled.
    channel.adds_at_once = operand == Operand::output;
    return channel;
}

// Registers that drive the rows, accumulators behind the ADCs, and the lines between them.
Level periphery_level(const ComputeInMemory& array, const ArrayStep& step,
                      const PerOperand<int>& word_bits) {
    const double evaluations = static_cast<double>(step.evaluations);
    Level level;
    level.name = array.name;
    const Count inputs = array.input_bytes > 0 ? array.input_bytes
                                               : packed_bytes(2 * array.parallel_rows,
                                                              word_bits[index(Operand::input)]);
    level.stores.push_back(plain_store(Operand::input, inputs));
    level.stores.back().prefetch = true; // the next inputs arrive while these are used
    level.stores.back().read_pj = evaluations * array.driver_pj;
    const Count sums = array.sum_bytes > 0 ? array.sum_bytes
                                           : packed_bytes(2 * step.weights_a_row,
                                                          word_bits[index(Operand::output)]);
    level.stores.push_back(plain_store(Operand::output, sums));
    level.stores.back().prefetch = true;
    level.stores.back().write_pj =
        static_cast<double>(step.weight_columns) * evaluations * (array.adc_pj + array.sum_pj);
    level.fanout = {{kRowAxis, array.parallel_rows}, {kColumnAxis, step.weights_a_row}};
    level.channels = {plain_channel(array.name + " rows", Operand::input),
                      plain_channel(array.name + " writes", Operand::weight),
                      plain_channel(array.name + " columns", Operand::output)};
    const double row_bytes =
        static_cast<double>(step.weights_a_row * word_bits[index(Operand::weight)]) / 8.0;
    level.channels[1].down_bytes_per_cycle = row_bytes * step.cycles / array.row_write_cycles;
    return level;
}

Level cell_level(const ComputeInMemory& array, const ArrayStep& step,
                 const PerOperand<int>& word_bits) {
    Level level;
    level.name = array.name + " cells";
    level.stores.push_back(plain_store(
        Operand::weight, packed_bytes(step.weights_a_position, word_bits[index(Operand::weight)])));
    level.stores.back().write_pj = static_cast<double>(step.weight_columns) * array.cell_write_pj;
    return level;
}

// The x with x * factor == product: the shortest one where rounding leaves several, so that what a
// file says comes back.
double unscaled(double product, double factor) {
    const double near = product / factor;
    if (!std::isfinite(near) || near == 0.0) {
        return near;
    }
    double shortest = near;
    const std::string text = fmt::format("{:.15g}", near);
    std::from_chars(text.data(), text.data() + text.size(), shortest);
    const double above = std::nextafter(near, kUnlimited);
    const double below = std::nextafter(near, 0.0);
    for (const double candidate : {shortest, near, above, below}) {
        if (candidate * factor == product) {
            return candidate;
        }
    }
    return near;
}

class ArrayChecker {
  public:
    ArrayChecker(const ComputeInMemory& array, const PerOperand<int>& word_bits)
        : array_(array), word_bits_(word_bits) {}

    Diagnostics run() {
        check_shape();
        check_cycles(array_.evaluation_cycles, "evaluation", 1e-6);
        check_cycles(array_.conversion_cycles, "conversion", 0.0);
        check_cycles(array_.row_write_cycles, "row_write", 1e-6);
        for (const auto& [pj, field] : {std::pair{array_.cell_pj, "cell_energy"},
                                        {array_.cell_write_pj, "cell_write_energy"},
                                        {array_.driver_pj, "driver_energy"},
                                        {array_.adc_pj, "adc_energy"},
                                        {array_.sum_pj, "sum_energy"}}) {
            require(pj >= 0.0 && pj <= kMaxPicojoules, "bad-energy",
                    fmt::format("{:g} pJ is no plausible energy", pj), field);
        }
        for (const auto& [um2, field] : {std::pair{array_.cell_um2, "cell_area"},
                                         {array_.adc_um2, "adc_area"},
                                         {array_.periphery_um2, "periphery_area"}}) {
            require(um2 >= 0.0 && um2 <= kMaxUm2, "bad-area",
                    fmt::format("{:g} um2 is no plausible area", um2), field);
        }
        return std::move(found_);
    }

  private:
    void require(bool ok, const char* code, std::string message, const std::string& field,
                 std::string hint = {}) {
        if (!ok) {
            found_.error(code, std::move(message), std::move(hint), {}, "array." + field);
        }
    }

    void check_cycles(double cycles, const char* field, double least) {
        require(cycles >= least && cycles <= kMaxCycles, "bad-cycles",
                fmt::format("{:g} cycles is no plausible time", cycles), field);
    }

    void check_shape() {
        require(array_.clock_hz >= kMinClockHz && array_.clock_hz <= kMaxClockHz, "bad-clock",
                fmt::format("{:g} Hz is no plausible clock", array_.clock_hz), "clock");
        require(array_.rows >= 1 && array_.rows <= kMaxLines, "bad-rows",
                fmt::format("an array has 1 to {} rows", kMaxLines), "rows");
        require(array_.columns >= 1 && array_.columns <= kMaxLines, "bad-columns",
                fmt::format("an array has 1 to {} columns", kMaxLines), "columns");
        require(array_.parallel_rows >= 1 && array_.parallel_rows <= array_.rows,
                "bad-parallel-rows",
                fmt::format("{} rows cannot drive the columns of {} rows", array_.parallel_rows,
                            array_.rows),
                "parallel_rows", "give 1 to the number of rows");
        require(array_.columns_per_adc >= 1 && array_.columns_per_adc <= array_.columns,
                "bad-adc-share",
                fmt::format("{} columns cannot share an ADC in an array of {}",
                            array_.columns_per_adc, array_.columns),
                "columns_per_adc", "give 1 to the number of columns");
        require(array_.bits_per_cell >= 1 && array_.bits_per_cell <= 16, "bad-cell",
                "a cell stores 1 to 16 bits", "bits_per_cell");
        require(array_.input_bits >= 1 && array_.input_bits <= 16, "bad-driver",
                "1 to 16 bits of an input drive a row at a time", "input_bits");
        require(array_.adc_bits >= 1 && array_.adc_bits <= 24, "bad-adc", "an ADC has 1 to 24 bits",
                "adc");
        const bool shape = array_.bits_per_cell >= 1 && array_.input_bits >= 1;
        if (shape && array_.columns >= 1 && array_.rows >= 1 && array_.parallel_rows >= 1) {
            const ArrayStep step = step_of(array_, word_bits_);
            require(step.weight_columns <= array_.columns, "no-weight-fits",
                    fmt::format("a weight takes {} columns, the array has {}", step.weight_columns,
                                array_.columns),
                    "columns", "give the array more columns, or its cells more bits");
        }
    }

    const ComputeInMemory& array_;
    const PerOperand<int>& word_bits_;
    Diagnostics found_;
};

} // namespace

ArrayStep step_of(const ComputeInMemory& array, const PerOperand<int>& word_bits) {
    ArrayStep step;
    step.weight_columns = ceil_div(word_bits[index(Operand::weight)], array.bits_per_cell);
    step.evaluations = ceil_div(word_bits[index(Operand::input)], array.input_bits);
    step.weights_a_row = std::max<Count>(1, array.columns / step.weight_columns);
    step.weights_a_position = std::max<Count>(1, array.rows / array.parallel_rows);
    step.cycles = static_cast<double>(step.evaluations) *
                  (array.evaluation_cycles +
                   static_cast<double>(array.columns_per_adc) * array.conversion_cycles);
    const double largest = static_cast<double>(array.parallel_rows) *
                           (std::exp2(array.bits_per_cell) - 1.0) *
                           (std::exp2(array.input_bits) - 1.0);
    step.exact_adc_bits = static_cast<int>(std::ceil(std::log2(largest + 1.0)));
    return step;
}

void set_array(Accelerator& machine, ComputeInMemory array) {
    if (machine.array && machine.levels.size() >= 2) {
        machine.levels.resize(machine.levels.size() - 2);
    }
    const ArrayStep step = step_of(array, machine.word_bits);
    const double before_hz = machine.array ? machine.clock_hz : array.clock_hz;
    machine.clock_hz = array.clock_hz / step.cycles;
    for_each_per_cycle(machine,
                       [&](double& figure, bool) { figure *= before_hz / machine.clock_hz; });
    machine.levels.push_back(periphery_level(array, step, machine.word_bits));
    machine.levels.push_back(cell_level(array, step, machine.word_bits));
    machine.mac_pj = static_cast<double>(step.weight_columns * step.evaluations) * array.cell_pj;
    machine.array = std::move(array);
}

Accelerator without_array(const Accelerator& machine) {
    Accelerator described = machine;
    if (machine.array) {
        described.levels.resize(machine.levels.size() - 2);
        const double factor = machine.array->clock_hz / machine.clock_hz;
        for_each_per_cycle(described,
                           [&](double& figure, bool) { figure = unscaled(figure, factor); });
        described.clock_hz = machine.array->clock_hz;
        described.mac_pj = 0.0;
    }
    return described;
}

std::optional<ArrayArea> area_of(const ComputeInMemory& array) {
    if (array.cell_um2 <= 0.0) {
        return std::nullopt;
    }
    return ArrayArea{array.cell_um2 * static_cast<double>(array.rows) *
                         static_cast<double>(array.columns),
                     array.adc_um2 * std::ceil(static_cast<double>(array.columns) /
                                               static_cast<double>(array.columns_per_adc)),
                     array.periphery_um2};
}

Diagnostics validate(const ComputeInMemory& array, const PerOperand<int>& word_bits) {
    return ArrayChecker(array, word_bits).run();
}

} // namespace eyeroof::model
