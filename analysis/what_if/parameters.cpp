#include "analysis/what_if/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace eyeroof::analysis {

namespace {

using model::Accelerator;
using model::Gpu;
using model::Machine;

Accelerator& accelerator(Machine& machine) {
    return std::get<Accelerator>(machine.kind);
}
Gpu& gpu(Machine& machine) {
    return std::get<Gpu>(machine.kind);
}
Count whole(double value) {
    return static_cast<Count>(std::llround(std::max(1.0, value)));
}

std::size_t index_of(model::Operand operand) {
    return model::index(operand);
}

std::vector<std::pair<std::string, int>> words_of(const Accelerator& machine,
                                                  model::OperandSet operands) {
    std::vector<std::pair<std::string, int>> words;
    for (const model::Operand o : model::kAllOperands) {
        if (operands.contains(o)) {
            words.emplace_back(operand_name(o), machine.word_bits[index(o)]);
        }
    }
    return words;
}

// "spad weight", "GLB input output": says which store of a level that has several.
std::string store_name(const Accelerator& machine, const model::Level& level,
                       const model::Store& store) {
    std::string name = level.name;
    if (level.stores.size() > 1) {
        for (const auto& [operand, bits] : words_of(machine, store.operands)) {
            name += " " + operand;
        }
    }
    return name;
}

// Rates of a store's ports, where they are limited.
void add_store_rates(std::vector<Parameter>& parameters, const Accelerator& machine,
                     std::size_t index, std::size_t s) {
    const model::Store& store = machine.levels[index].stores[s];
    const std::string name = store_name(machine, machine.levels[index], store);
    using Rate = double model::Store::*;
    for (const auto& [rate, word] :
         {std::pair<Rate, const char*>{&model::Store::read_bytes_per_cycle, "read"},
          {&model::Store::write_bytes_per_cycle, "write"}}) {
        if (!std::isfinite(store.*rate)) {
            continue;
        }
        Parameter parameter{"",
                            fmt::format("{} {} bandwidth", name, word),
                            "B/cycle",
                            store.*rate,
                            false,
                            [=, which = rate](Machine& m, double v) {
                                accelerator(m).levels[index].stores[s].*which = v;
                            }};
        parameter.units = {{"B/s", 1.0 / machine.clock_hz}};
        parameter.words = words_of(machine, store.operands);
        parameter.fields = {fmt::format("levels[{}].stores[{}].{}", index, s, word)};
        parameters.push_back(std::move(parameter));
    }
}

// The energy of a word, read and written alike, and the number of buffers.
void add_store_costs(std::vector<Parameter>& parameters, const Accelerator& machine,
                     std::size_t index, std::size_t s) {
    const model::Store& store = machine.levels[index].stores[s];
    const std::string name = store_name(machine, machine.levels[index], store);
    double most_pj = 0.0;
    for (const model::Operand o : model::kAllOperands) {
        most_pj = store.operands.contains(o) ? std::max(most_pj, store.read_pj_of(o)) : most_pj;
    }
    if (most_pj > 0.0) {
        Parameter energy{
            "", name + " energy", "J", most_pj * 1e-12, false, [=](Machine& m, double v) {
                model::Store& changed = accelerator(m).levels[index].stores[s];
                const double factor = v * 1e12 / most_pj;
                changed.read_pj *= factor;
                changed.write_pj *= factor;
                if (changed.update_pj) {
                    *changed.update_pj *= factor;
                }
                for (const model::Operand o : model::kAllOperands) {
                    for (auto* own : {&changed.own_read_pj, &changed.own_write_pj}) {
                        if ((*own)[index_of(o)]) {
                            *(*own)[index_of(o)] *= factor;
                        }
                    }
                }
            }};
        energy.tried = false;
        for (const char* field : {"energy", "read_energy", "write_energy"}) {
            energy.fields.push_back(fmt::format("levels[{}].stores[{}].{}", index, s, field));
        }
        parameters.push_back(std::move(energy));
    }
    if (store.capacity_bytes) {
        Parameter buffers{"",
                          name + " buffers",
                          "",
                          static_cast<double>(store.buffers),
                          true,
                          [=](Machine& m, double v) {
                              accelerator(m).levels[index].stores[s].buffers =
                                  static_cast<int>(std::min<Count>(whole(v), 16));
                          }};
        buffers.tried = false;
        buffers.fields = {fmt::format("levels[{}].stores[{}].buffers", index, s)};
        parameters.push_back(std::move(buffers));
    }
}

void add_stores(std::vector<Parameter>& parameters, const Accelerator& machine, std::size_t index) {
    const model::Level& level = machine.levels[index];
    for (std::size_t s = 0; s < level.stores.size(); ++s) {
        const model::Store& store = level.stores[s];
        if (!store.capacity_bytes) {
            add_store_rates(parameters, machine, index, s);
            continue;
        }
        Parameter parameter{"",
                            store_name(machine, level, store) + " capacity",
                            "B",
                            static_cast<double>(*store.capacity_bytes),
                            true,
                            [=](Machine& m, double v) {
                                accelerator(m).levels[index].stores[s].capacity_bytes = whole(v);
                            }};
        parameter.fields = {fmt::format("levels[{}].stores[{}].capacity", index, s)};
        parameter.words = words_of(machine, store.operands);
        parameters.push_back(std::move(parameter));
        add_store_rates(parameters, machine, index, s);
    }
}

// Turns a link of a DRAM standard; its bandwidth follows.
void turn_dram(Machine& machine, std::size_t level, std::size_t channel,
               const std::function<void(model::DramLink&)>& turn) {
    model::Channel& changed = accelerator(machine).levels[level].channels[channel];
    if (changed.dram) {
        turn(*changed.dram);
        changed.down_bytes_per_cycle =
            model::rate_of(*changed.dram).bytes_per_s() / accelerator(machine).clock_hz;
        changed.up_bytes_per_cycle = changed.down_bytes_per_cycle;
    }
}

void add_dram(std::vector<Parameter>& parameters, const Accelerator& machine, std::size_t index,
              std::size_t c) {
    const model::Channel& channel = machine.levels[index].channels[c];
    const std::string field = fmt::format("levels[{}].channels[{}].dram.", index, c);
    parameters.push_back({"",
                          channel.name + " channels",
                          "",
                          static_cast<double>(channel.dram->channels),
                          true,
                          [=](Machine& m, double v) {
                              turn_dram(m, index, c, [&](model::DramLink& link) {
                                  link.channels = std::min<Count>(whole(v), 4096);
                              });
                          },
                          {field + "channels"}});
    const Count run = channel.dram->run_bytes > 0
                          ? channel.dram->run_bytes
                          : model::dram_standard(channel.dram->standard)->row_bytes;
    parameters.push_back({"",
                          channel.name + " run",
                          "B",
                          static_cast<double>(run),
                          true,
                          [=](Machine& m, double v) {
                              turn_dram(m, index, c, [&](model::DramLink& link) {
                                  link.run_bytes = whole(v);
                                  link.by_mapping = false; // stated instead
                                  link.layout = {};
                              });
                          },
                          {field + "run"}});
    parameters.back().tried = false;
}

void add_channels(std::vector<Parameter>& parameters, const Accelerator& machine,
                  std::size_t index) {
    const model::Level& level = machine.levels[index];
    for (std::size_t c = 0; c < level.channels.size(); ++c) {
        const model::Channel& channel = level.channels[c];
        if (!std::isfinite(channel.down_bytes_per_cycle)) {
            continue;
        }
        const std::string name = channel.name.empty() ? level.name : channel.name;
        Parameter parameter{"",
                            name + " bandwidth",
                            "B/cycle",
                            channel.down_bytes_per_cycle,
                            false,
                            [=](Machine& m, double v) {
                                auto& changed = accelerator(m).levels[index].channels[c];
                                const double factor = v / changed.down_bytes_per_cycle;
                                changed.dram.reset(); // no longer what the standard gives
                                changed.down_bytes_per_cycle = v;
                                changed.up_bytes_per_cycle *= factor;
                                if (changed.wires) {
                                    changed.wires->link_bytes_per_cycle *= factor;
                                }
                            }};
        parameter.units = {{"B/s", 1.0 / machine.clock_hz}};
        parameter.words = words_of(machine, channel.operands);
        parameter.fields = {fmt::format("levels[{}].channels[{}].down", index, c),
                            fmt::format("levels[{}].channels[{}].up", index, c)};
        parameters.push_back(std::move(parameter));
        if (channel.dram) {
            add_dram(parameters, machine, index, c);
        }
    }
}

void add_level(std::vector<Parameter>& parameters, const Accelerator& machine, std::size_t index) {
    add_stores(parameters, machine, index);
    add_channels(parameters, machine, index);
    const model::Level& level = machine.levels[index];
    for (std::size_t a = 0; a < level.fanout.size(); ++a) {
        if (level.fanout[a].size > 1) {
            parameters.push_back(
                {"",
                 "axis " + level.fanout[a].name,
                 "",
                 static_cast<double>(level.fanout[a].size),
                 true,
                 [=](Machine& m, double v) {
                     model::Level& turned = accelerator(m).levels[index];
                     turned.fanout[a].size = whole(v);
                     for (model::Channel& channel : turned.channels) {
                         model::follow_wires(turned, channel);
                     }
                 },
                 {fmt::format("levels[{}].fanout.{}", index, level.fanout[a].name)}});
        }
    }
}

// What an array in memory follows from; its levels, clock, and MAC energy follow each time.
void turn_array(Machine& machine, const std::function<void(model::ComputeInMemory&)>& turn) {
    model::ComputeInMemory array = *accelerator(machine).array;
    turn(array);
    model::set_array(accelerator(machine), std::move(array));
}

template <class Number>
Parameter array_count(const char* name, Number model::ComputeInMemory::*member, const char* field,
                      const model::ComputeInMemory& array) {
    Parameter parameter{"",
                        name,
                        "",
                        static_cast<double>(array.*member),
                        true,
                        [member](Machine& m, double v) {
                            turn_array(m, [&](model::ComputeInMemory& turned) {
                                turned.*member =
                                    static_cast<Number>(std::min<Count>(whole(v), 1 << 20));
                            });
                        },
                        {field}};
    parameter.tried = false;
    return parameter;
}

void add_array_energy(std::vector<Parameter>& parameters, const char* name,
                      double model::ComputeInMemory::*member, const char* field,
                      const model::ComputeInMemory& array) {
    if (array.*member > 0.0) {
        Parameter parameter{
            "",
            name,
            "J",
            array.*member * 1e-12,
            false,
            [member](Machine& m, double v) {
                turn_array(m, [&](model::ComputeInMemory& turned) { turned.*member = v * 1e12; });
            },
            {field}};
        parameter.tried = false;
        parameters.push_back(std::move(parameter));
    }
}

Parameter word_parameter(const Accelerator& machine, model::Operand operand) {
    const std::string name = std::string(operand_name(operand));
    Parameter parameter{"",
                        name + " bits",
                        "",
                        static_cast<double>(machine.word_bits[index_of(operand)]),
                        true,
                        [operand](Machine& m, double v) {
                            accelerator(m).word_bits[index_of(operand)] =
                                static_cast<int>(std::min<Count>(whole(v), 1024));
                            turn_array(m, [](model::ComputeInMemory&) {});
                        },
                        {"words." + name}};
    parameter.tried = false;
    return parameter;
}

// Rows that drive a column stay all rows where they were.
void set_rows(model::ComputeInMemory& array, Count rows) {
    const bool all = array.parallel_rows == array.rows;
    array.rows = rows;
    array.parallel_rows = all ? rows : array.parallel_rows;
}

void add_array(std::vector<Parameter>& parameters, const Accelerator& machine) {
    using Array = model::ComputeInMemory;
    const Array& array = *machine.array;
    Parameter rows = array_count("array rows", &Array::rows, "array.rows", array);
    rows.set = [](Machine& m, double v) {
        turn_array(m, [&](Array& turned) { set_rows(turned, std::min<Count>(whole(v), 1 << 20)); });
    };
    parameters.push_back(std::move(rows));
    parameters.push_back(array_count("array columns", &Array::columns, "array.columns", array));
    for (Parameter& size : std::span(parameters).last(2)) {
        size.tried = true;
    }
    parameters.push_back(
        array_count("array parallel rows", &Array::parallel_rows, "array.parallel_rows", array));
    parameters.push_back(array_count("array columns per ADC", &Array::columns_per_adc,
                                     "array.columns_per_adc", array));
    parameters.push_back(
        array_count("array bits per cell", &Array::bits_per_cell, "array.bits_per_cell", array));
    parameters.push_back(
        array_count("array input bits", &Array::input_bits, "array.input_bits", array));
    parameters.push_back(array_count("array ADC bits", &Array::adc_bits, "array.adc_bits", array));
    parameters.push_back(word_parameter(machine, model::Operand::input));
    parameters.push_back(word_parameter(machine, model::Operand::weight));
    add_array_energy(parameters, "array cell energy", &Array::cell_pj, "array.cell_energy", array);
    add_array_energy(parameters, "array ADC energy", &Array::adc_pj, "array.adc_energy", array);
    add_array_energy(parameters, "array sum energy", &Array::sum_pj, "array.sum_energy", array);
    add_array_energy(parameters, "array driver energy", &Array::driver_pj, "array.driver_energy",
                     array);
}

Parameter clock_parameter(const Accelerator& machine) {
    return {"",
            "clock",
            "Hz",
            machine.array ? machine.array->clock_hz : machine.clock_hz,
            false,
            [](Machine& m, double v) {
                accelerator(m) = model::at_clock(std::move(accelerator(m)), v);
            },
            {"clock"}};
}

std::vector<Parameter> parameters(const Accelerator& machine) {
    std::vector<Parameter> all = {clock_parameter(machine)};
    const std::size_t described = machine.levels.size() - (machine.array ? 2 : 0);
    for (std::size_t i = 0; i < described; ++i) {
        add_level(all, machine, i);
    }
    if (machine.array) {
        add_array(all, machine);
    }
    if (machine.vector_unit) {
        all.push_back({"",
                       "vector lanes",
                       "",
                       static_cast<double>(machine.vector_unit->lanes),
                       true,
                       [](Machine& m, double v) { accelerator(m).vector_unit->lanes = whole(v); },
                       {"vector_unit.lanes"}});
    }
    for (std::size_t i = 0; i < described; ++i) {
        for (std::size_t s = 0; s < machine.levels[i].stores.size(); ++s) {
            add_store_costs(all, machine, i, s);
        }
    }
    if (machine.mac_pj > 0.0 && !machine.array) {
        Parameter mac{"",
                      "MAC energy",
                      "J",
                      machine.mac_pj * 1e-12,
                      false,
                      [](Machine& m, double v) { accelerator(m).mac_pj = v * 1e12; },
                      {"mac_energy"}};
        mac.tried = false;
        all.push_back(std::move(mac));
    }
    return all;
}

// The peak of each data type on its own: what wider units of one precision would bring.
void add_peaks(std::vector<Parameter>& parameters, const Gpu& machine) {
    for (const std::string_view name : model::data_type_names()) {
        const auto type = *model::data_type_from_name(name);
        if (machine.rate(type).flops_per_s > 0.0) {
            Parameter parameter{
                "",       std::string(name) + " peak",
                "FLOP/s", machine.rate(type).flops_per_s,
                false,    [type](Machine& m, double v) { gpu(m).rate(type).flops_per_s = v; }};
            parameter.units = {{"FLOP/cycle", machine.sms * model::pipe_clock_hz(machine, type)}};
            parameter.fields = {"peaks." + std::string(name)};
            parameters.push_back(std::move(parameter));
        }
    }
}

// The peaks that follow from what is changed, and the change's own fields.
std::vector<std::string> with_peaks(const Gpu& machine, std::vector<std::string> fields) {
    for (const std::string_view name : model::data_type_names()) {
        if (machine.rate(*model::data_type_from_name(name)).flops_per_s > 0.0) {
            fields.push_back("peaks." + std::string(name));
        }
    }
    return fields;
}

std::vector<Parameter> parameters(const Gpu& machine) {
    std::vector<Parameter> all;
    all.push_back({"", "SMs", "", static_cast<double>(machine.sms), true,
                   [](Machine& m, double v) {
                       const double factor = static_cast<double>(whole(v)) / gpu(m).sms;
                       gpu(m).sms = static_cast<int>(whole(v));
                       for (model::Rate& rate : gpu(m).rates) {
                           rate.flops_per_s *= factor; // each SM brings its own units
                       }
                   },
                   with_peaks(machine, {"sms"})});
    all.push_back({"", "boost clock", "Hz", machine.boost_hz, false,
                   [](Machine& m, double v) {
                       const double factor = v / gpu(m).boost_hz;
                       gpu(m).boost_hz = v;
                       gpu(m).tensor_hz *= factor;
                       gpu(m).base_hz *= factor;
                       for (model::Rate& rate : gpu(m).rates) {
                           rate.flops_per_s *= factor;
                       }
                   },
                   with_peaks(machine, {"clocks.boost", "clocks.tensor", "clocks.base"})});
    all.push_back({"",
                   "DRAM bandwidth",
                   "B/s",
                   machine.dram_bytes_per_s,
                   false,
                   [](Machine& m, double v) { gpu(m).dram_bytes_per_s = v; },
                   {"dram.bandwidth"}});
    if (machine.l2_bytes > 0.0) {
        all.push_back({"",
                       "L2 capacity",
                       "B",
                       machine.l2_bytes,
                       true,
                       [](Machine& m, double v) { gpu(m).l2_bytes = v; },
                       {"l2.capacity"}});
    }
    if (machine.l2_bytes_per_s > 0.0) {
        all.push_back({"",
                       "L2 bandwidth",
                       "B/s",
                       machine.l2_bytes_per_s,
                       false,
                       [](Machine& m, double v) { gpu(m).l2_bytes_per_s = v; },
                       {"l2.bandwidth"}});
    }
    if (machine.tdp_w > 0.0) {
        all.push_back({"",
                       "power limit",
                       "W",
                       machine.tdp_w,
                       false,
                       [](Machine& m, double v) {
                           constexpr double kLeastClock = 0.15; // of the boost clock; unsourced
                           gpu(m).capped = gpu(m).capped || v < gpu(m).tdp_w;
                           gpu(m).tdp_w = v;
                           if (gpu(m).capped) { // then below the base clock, too
                               gpu(m).base_hz = kLeastClock * gpu(m).boost_hz;
                           }
                       },
                       {"tdp", "clocks.base"}});
        all.back().tried = false;
    }
    add_peaks(all, machine);
    return all;
}

void give_keys(std::vector<Parameter>& parameters) {
    std::map<std::string, int> seen;
    for (Parameter& parameter : parameters) {
        parameter.key = parameter_key(parameter.name);
        const int times = ++seen[parameter.key];
        parameter.key += times > 1 ? fmt::format("-{}", times) : std::string{};
    }
}

} // namespace

std::string parameter_key(std::string_view name) {
    std::string key;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
        key += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '-';
    }
    return key;
}

std::vector<Parameter> parameters_of(const model::Machine& machine) {
    auto all = std::visit([](const auto& kind) { return parameters(kind); }, machine.kind);
    give_keys(all);
    return all;
}

std::vector<Parameter> tried_parameters(const model::Machine& machine) {
    auto all = parameters_of(machine);
    std::erase_if(all, [](const Parameter& parameter) { return !parameter.tried; });
    return all;
}

} // namespace eyeroof::analysis
