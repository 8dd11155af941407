// A machine description that uses every key of the format, for the tests of its reader.
// Used by tests/hwdb only.
// Describes no real machine.
#pragma once

#include <string_view>

namespace eyeroof::tests {

inline constexpr std::string_view kSmall = R"(eyeroof: machine/1
kind: accelerator
name: Small
sources: {paper: "A paper"}
source: paper
confidence: paper
clock: 200 MHz
clocks: {link: 60 MHz}
peak: 0.8 GMAC/s
words: {input: 8 bit, weight: 8 bit, output: {value: 20 bit, confidence: derived}}
pipeline_stages: 3
max_filter: {height: 12, width: 32}
mac_energy: 6.1 pJ
levels:
  - name: DRAM
    stores: [{operands: all, capacity: unlimited, read_energy: 200 pJ, write_energy: 210 pJ, update_energy: 190 pJ}]
    channels:
      - {name: link, operands: all, clock: link, down: 64 bit/cycle, half_duplex: true, cast: unicast,
         zero_coding: {packet: 64 bit, nonzeros: 3}}
  - name: GLB
    confidence: recalled
    words: {output: 20 bit}
    stores:
      - {operands: [input, output], capacity: 100 KiB, bank: 4 KiB, buffers: 2, prefetch: true, read: 480 MB/s,
         write: 8 B/cycle, energy: 6 pJ, source: "Somebody said so", note: once}
      - {operands: weight, capacity: 224 words, leakage: 2 mW, may_bypass: false}
    channels:
      - {name: w, operands: [input, weight], down: 4 words/cycle, cast: hierarchical_mesh,
         forwards: true, reduces: false, hop_energy: 2 pJ}
      - {name: o, operands: output, down: 4 words/cycle, up: unlimited, cast: broadcast}
    fanout: {y: 2, x: {value: 2, source: "Another one"}}
    keeps_between_layers: true
dataflows:
  - {kind: rs, spatial: {x: [P, K], y: R}, whole: R, stationary: none, repeats_on_one_axis: true, free_banks: 1}
  - {kind: ws, spatial: {x: K, y: C}, image: {channels: 4, spatial: {x: K, y: [C, S]}}}
vector_unit: {lanes: 16, level: GLB, read: 16 B/cycle, write: 960 MB/s, operation_energy: 0.5 pJ,
  rates: {softmax: 0.25, gelu: 0.5}, overlaps: false}
mac_leakage: 0.25 pJ/cycle
gates_idle: true
process_nm: 65
)";

// One with an array that computes in memory, with every key of it.
inline constexpr std::string_view kSmallArray = R"(eyeroof: machine/1
kind: accelerator
name: Small array
source: "A paper of its own"
confidence: paper
clock: 14 MHz
words: {input: 4 bit, weight: 4 bit, output: 16 bit}
levels:
  - name: DRAM
    stores: [{operands: all, capacity: unlimited, leakage: 0.7 pJ/cycle}]
    channels:
      - name: pins
        operands: all
        dram: {standard: ddr4-3200, channels: 2, run: 64 B, one_bank_group: true}
        cast: multicast
  - name: buffer
    stores: [{operands: all, capacity: 64 KiB}]
    channels:
      - {name: bus, operands: [input, weight], down: 28 MB/s, half_duplex: true, cast: multicast, adds_at_once: true}
      - {name: sums, operands: output, network: {topology: ring, link: 2 B/cycle, link_energy: 0.5 pJ}, cast: unicast}
    fanout: {macro: 3}
array:
  name: CIM
  rows: 4
  columns: 8
  bits_per_cell: 2
  parallel_rows: 2
  input_bits: 2
  columns_per_adc: 4
  adc_bits: 5
  evaluation_cycles: 3
  conversion_cycles: 1
  row_write_cycles: 28
  cell_energy: 0.5 pJ
  cell_write_energy: 250 fJ
  driver_energy: 3 pJ
  adc_energy: 5 pJ
  sum_energy: 1 pJ
  inputs: 4 B
  sums: 16 B
  cell_um2: 2
  adc_um2: {value: 100, confidence: derived}
  periphery_um2: 50
dataflows:
  - {kind: ws, spatial: {row: [C, R, S], column: K}}
)";

} // namespace eyeroof::tests
