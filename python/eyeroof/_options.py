"""Options of the commands as typed keywords; python/make_options.py writes this file."""

from __future__ import annotations

import os
from typing import Any, Literal, Mapping, Sequence, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
Number = Union[int, float]
Quantity = Union[int, float, str]  # a number, or a text with its unit: "1.26 ms"
Several = Union[str, int, float, Sequence[Union[str, int, float]]]
Changes = Union[str, Sequence[str], Mapping[str, Any]]
DataType = Literal["fp64",
                   "fp32",
                   "tf32",
                   "fp16",
                   "bf16",
                   "fp8",
                   "mxfp8",
                   "mxfp6",
                   "fp4",
                   "mxfp4",
                   "nvfp4",
                   "int32",
                   "int16",
                   "int8",
                   "int4"]


class Scenario(TypedDict, total=False):
    # Print a result although some operators have no cost model
    allow_uncosted: bool
    # Attention as written in the network, or as one fused kernel [fused on GPUs; written in
    # traces and on accelerators]
    attention: Literal["written", "fused"]
    # Batch size of a step [the network's own]
    batch: int
    # GPU clocks after the power limiter has settled (minutes), or in short bursts [settled in
    # training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # Fuse pointwise operators and reductions, as torch.compile does
    compiled: bool
    # Timeloop constraints that searched mappings satisfy
    constraints: Path
    # Copies in each step: none, the batch (inputs and outputs), or all (weights too); staged
    # copies go to a CUDA graph's own buffers on the device [none]
    copies: Literal["none", "batch", "all", "staged", "staged-all"]
    # Access counting: eyeroof's, or Timeloop's [eyeroof]
    counting: Literal["eyeroof", "timeloop"]
    # Dataflow that the mapping follows; free: none [the machine's first]
    dataflow: Literal["ws", "os", "is", "nlr", "rs", "rs-plus", "free"]
    # Density (share of nonzero values), for machines that exploit zeros:
    # weights=0.4,inputs=0.6[,outputs=0.6], or a table by name or file
    density: Path
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Accelergy energy reference table (ERT) of a Timeloop architecture
    energies: Path
    # Loop bounds of searched mappings: perfect (divisors only), or any with a partial last trip
    # [perfect]
    factors: Literal["perfect", "any"]
    # Host that launches a GPU's kernels [the usual one of such a GPU]
    host: str
    # Launch speed relative to --host; `eyeroof measure host` infers it from a measured time [1]
    host_speed: Quantity
    # Run ReLU in place where no other operator needs its input
    in_place: bool
    # How kernels are launched: eager framework calls, a stream of back-to-back launches, a CUDA
    # graph, or none (kernel time only) [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Run only the layers whose name matches
    layers: str
    # Memory layout of convolution tensors [channels-last for convolutions below 32 bits]
    layout: Literal["channels-last", "channels-first"]
    # Library or framework and its version, such as 'cublas 10' or 'TRTLLM 1.0' [the most likely]
    library: str
    # Mapping policy or mapping file: auto (published rules on row-stationary machines, the search
    # elsewhere), dataflow (rules, no search), best (search with proof), or a mapping file of
    # eyeroof or Timeloop [auto]
    mapping: Literal["auto", "dataflow", "best"]
    # Objective of the search: latency, energy, edp (their product), or powers such as
    # energy^2*latency [edp; latency where the machine names no energies]
    objective: str
    # Operators to run: all of them, fused (batch norms folded, activations in the layer before),
    # or only convolutions and GEMMs [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Optimizer of a training step [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # Copy from pageable memory: half the rate, and the host waits
    pageable: bool
    # Inference or training, which adds gradients and the weight update [inference]
    phase: Literal["inference", "training"]
    # Cap a GPU's power, as in 300W: its clocks fall until it keeps the cap [the board's limit]
    power_cap: Quantity
    # Repeat the question of an answer or scenario file: a JSON answer of eyeroof, or a file with
    # a scenario; - reads standard input; options change it
    scenario: Path
    # Most nodes that the search of a layer visits; 0: no limit. A search that ends there reports
    # its optimality gap [200000; 1500000 with --mapping best; none with --time-limit]
    search_nodes: int
    # Change a parameter of the machine, such as dram-bandwidth='1.2 TB/s' or clock=x2
    # (repeatable)
    set: Changes
    # Precision of gradients and optimizer states: usual for the types, 16-bit with an fp32 copy
    # of the weights, with fp32 gradients, without a copy, or 8-bit states [usual]
    states: Literal["usual", "mixed", "fp32-gradients", "pure", "8bit"]
    # Streams for independent operators [1]
    streams: int
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Most seconds for all searches together; results then depend on the load of this computer
    # [none]
    time_limit: Number


class BoundOptions(Scenario, total=False):
    # Measured time of a step to explain
    measured: Quantity


class ClaimsOptions(TypedDict, total=False):
    # Add the figures of every claim (text)
    details: bool
    # List the claims without running them
    list: bool
    # Check only this claim, and show its figures (repeatable)
    only: Union[str, Sequence[str]]


class CollectiveOptions(TypedDict, total=False):
    # Algorithm; auto: the fastest that the fabric's library offers [auto]
    algorithm: Literal["auto", "ring", "tree", "double-tree", "halving-doubling", "hierarchical", "in-switch", "server", "sharded-server", "one-shot", "two-shot"]
    # Measured times beside the prediction: a table as `validate --scale` reads it; without --size
    # its sizes
    beside: Path
    # Number of devices, next to each other (2 to 10000000) [8]
    devices: int
    # With --software: calls replayed in a CUDA graph, or each from the host [graph]
    launch: Literal["graph", "eager"]
    # Sizes of the whole array: S, S,T,… or FROM..TO by doubling [1 KiB..1 GiB]
    size: Several
    # Framework whose own all-reduces are also tried, of those that the fabric names; with a
    # version: sglang-0.5.10
    software: str
    # Software transport of messages, of those that the fabric names [its first]
    transport: str


class DiffOptions(TypedDict, total=False):
    # How launches of two runs are matched: by kernel name, operator, NVTX range, or layer
    # (operator and shape). Kernel names differ between GPUs and libraries [layer for two PyTorch
    # traces, else kernel]
    by: Literal["kernel", "operator", "range", "layer"]
    # Exit 1 when this condition holds, such as 'net.time_change > 0.05' or
    # 'any.utilization_change < -0.1'
    fail_if: str


class ExamOptions(Scenario, total=False):
    # Add what would help: larger parameters and ideal steps on accelerators; padding, batch,
    # wave-filling sizes, and fusion on GPUs
    advice: bool
    # Accelergy area reference table (ART), in place of the estimates of levels of the same name
    areas: Path
    # Manual assignments of kernels to layers (YAML)
    assign: Path
    # Measured ceilings of the first machine, as measure --overlay or --save writes them
    # (repeatable)
    ceilings: Union[Path, Sequence[Path]]
    # Area of an accelerator's chip by component, and its power while the network runs
    chip: bool
    # Count compute cycles as SCALE-Sim does, and show the difference
    compat: Literal["scalesim"]
    # Scale from one to all of a machine's outermost instances, such as Simba's chiplets; a
    # package of unequal cores needs no option
    cores: bool
    # Add reasons, mappings, and traffic (text)
    details: bool
    # Exit 1 when this condition holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY, joined by and, or; a wrong key lists all
    fail_if: str
    # Latency of a hop between neighboring cores [0]
    hop: Quantity
    # Bandwidth between groups of cores in a pipeline [no limit]
    link: Quantity
    # Unequal cores: most equal parts that a layer is divided into [4] (1 to 16)
    parts: int
    # Process node in nm, interpolated between those of the table [the machine's process_nm, or
    # the published chip's] (1 to 1000)
    process: Number
    # Measurements of the first machine, in any format that import reads (repeatable)
    profile: Union[Path, Sequence[Path]]
    # Exit 1 when a searched mapping is not proven optimal
    require_proof: bool
    # Bandwidth of the memory that all cores share [no limit]
    shared_memory: Quantity
    # Layers whose seven steps are shown: all, or those with the largest savings (text) [auto: up
    # to two layers]
    steps: Literal["auto", "all", "worst"]
    # Log of `eyeroof tune`, whose best is shown beside the prediction (repeatable)
    tuned: Union[Path, Sequence[Path]]


class FuseOptions(TypedDict, total=False):
    # Print a result although some operators have no cost model
    allow_uncosted: bool
    # Attention as written in the network, or as one fused kernel [fused on GPUs; written in
    # traces and on accelerators]
    attention: Literal["written", "fused"]
    # Bandwidth of outer memory, such as 25GB/s [the machine's]
    bandwidth: Quantity
    # Batch size of a step [the network's own]
    batch: int
    # Size of the on-chip buffer, such as 512KiB [the machine's]
    buffer: Quantity
    # Show the least traffic of buffers, 1 KiB to 256 MiB
    curve: bool
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Accelergy energy reference table (ERT) of a Timeloop architecture
    energies: Path
    # Run only the layers whose name matches
    layers: str
    # Objective: least traffic or least latency [traffic]
    least: Literal["traffic", "latency"]
    # Operators to run: all of them, fused (batch norms folded, activations in the layer before),
    # or only convolutions and GEMMs [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Repeat the question of an answer or scenario file: a JSON answer of eyeroof, or a file with
    # a scenario; - reads standard input; options change it
    scenario: Path
    # Change a parameter of the machine, such as dram-bandwidth='1.2 TB/s' or clock=x2
    # (repeatable)
    set: Changes
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int


class HwCalibrateOptions(TypedDict, total=False):
    # Data type of --sustained [fp32]
    dtype: DataType
    # With carried-over: do not fit what kernels wait for before their pipes are full
    keep_starts: bool
    # With carried-over: share of a GPU's distance from the others that is its own (0 to 1)
    own_offset: Number
    # With carried-over: cost of moving a constant by a factor of e (0 to 1000000) [0.02]
    pull: Number
    # With carried-over: rounds of the search (1 to 1000) [12]
    rounds: int
    # Source that the constants cite
    source: str
    # Sustained rate, such as '14 TFLOP/s'
    sustained: str
    # How times without a `launch` column were measured: eager framework calls, back-to-back
    # launches, a node of a CUDA graph, or the kernel alone (none) [none]
    timing: Literal["eager", "stream", "graph", "none"]


class ImportOptions(TypedDict, total=False):
    # Print a result although some operators have no cost model
    allow_uncosted: bool
    # Manual assignments of kernels to layers (YAML)
    assign: Path
    # Attention as written in the network, or as one fused kernel [fused on GPUs; written in
    # traces and on accelerators]
    attention: Literal["written", "fused"]
    # Batch size of a step [the network's own]
    batch: int
    # Keep at most N
    count: int
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Format of the input, where the content does not identify it
    input_format: Literal["eyeroof-profile", "rocpd-sqlite", "nsight-systems-sqlite", "kineto-json", "nsight-compute-csv", "rocprofv3-csv", "rocprofv3-json", "plain-csv"]
    # Add counters of the second file to the first
    join: bool
    # Keep only kernels whose name matches
    kernel: str
    # Run only the layers whose name matches
    layers: str
    # Take shapes from a cuBLAS, cuBLASLt, or cuDNN log of the same run
    log: Path
    # Match kernels to the layers of this network
    match: Path
    # Keep launches in NVTX ranges that contain this text
    nvtx: str
    # Operators to run: all of them, fused (batch norms folded, activations in the layer before),
    # or only convolutions and GEMMs [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Optimizer of a training step [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # Inference or training, which adds gradients and the weight update [inference]
    phase: Literal["inference", "training"]
    # Write the result as a profile (.jsonl, .gz)
    save: Path
    # Repeat the question of an answer or scenario file: a JSON answer of eyeroof, or a file with
    # a scenario; - reads standard input; options change it
    scenario: Path
    # Skip the first N that match
    skip: int
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int


class ImproveOptions(Scenario, total=False):
    # Multiples of the batch size to try [1 2 4] (1 to 4096)
    batches: int
    # Steps of a training epoch, to cost a pruning schedule (1 to 1e+12)
    epoch_steps: int
    # Memory for tensors [the machine's, less 0.5 GB for the process]
    memory: Quantity
    # Inference: share of the weights that pruning keeps, in blocks of 64 x 64 (0.01 to 1)
    pruned_to: Quantity


class ManualOptions(TypedDict, total=False):
    # Print a table of all options and their commands, as Markdown
    options: bool
    # Print the JSON schema of an answer
    schema: Literal["bound", "capacity", "chip", "claims", "clusters", "collective", "copies", "cores", "diff", "exam", "exams", "front", "fuse", "fuse-curve", "host-speed", "hw-check", "improve", "launches", "layer-search", "machine", "machines", "map", "memory", "net", "nets", "networks", "offload", "pairs", "placement", "published", "reach", "roofline", "run-diff", "scale", "scalesim", "serve", "sparse", "sparse-curve", "split", "timeline", "tune", "upgrade", "validation"]
    # Write the JSON schemas of all answers to this directory
    schemas: Path


class MapOptions(TypedDict, total=False):
    # Print a result although some operators have no cost model
    allow_uncosted: bool
    # Attention as written in the network, or as one fused kernel [fused on GPUs; written in
    # traces and on accelerators]
    attention: Literal["written", "fused"]
    # Batch size of a step [the network's own]
    batch: int
    # Plot each layer's least traffic over buffer capacity; the machine's LEVEL is marked
    capacity_curve: str
    # Show bounds of steps 1 to 6: the machine's, and those that the fastest mapping reaches
    chain: bool
    # Timeloop constraints that searched mappings satisfy
    constraints: Path
    # Access counting: eyeroof's, or Timeloop's [eyeroof]
    counting: Literal["eyeroof", "timeloop"]
    # Dataflow that the mapping follows; free: none [the machine's first]
    dataflow: Literal["ws", "os", "is", "nlr", "rs", "rs-plus", "free"]
    # Density (share of nonzero values), for machines that exploit zeros:
    # weights=0.4,inputs=0.6[,outputs=0.6], or a table by name or file
    density: Path
    # Add loop nests and search effort
    details: bool
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Accelergy energy reference table (ERT) of a Timeloop architecture
    energies: Path
    # Loop bounds of searched mappings: perfect (divisors only), or any with a partial last trip
    # [perfect]
    factors: Literal["perfect", "any"]
    # Exit 1 when this condition holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY, joined by and, or; a wrong key lists all
    fail_if: str
    # Run only the layers whose name matches
    layers: str
    # Least share of the PEs that a mapping may use (0 to 1)
    min_utilization: Quantity
    # Objective of the search: latency, energy, edp (their product), or powers such as
    # energy^2*latency [edp; latency where the machine names no energies]
    objective: str
    # Operators to run: all of them, fused (batch norms folded, activations in the layer before),
    # or only convolutions and GEMMs [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Optimizer of a training step [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # Find each layer's Pareto front of latency and energy
    pareto: bool
    # Inference or training, which adds gradients and the weight update [inference]
    phase: Literal["inference", "training"]
    # Draw an SVG: the front, the curve, or how all strategies converge on the first layer that
    # matches
    plot: Path
    # Write the first layer's mapping, for exam --mapping
    save_mapping: Path
    # Write the first layer's mapping in Timeloop's format
    save_timeloop: Path
    # Repeat the question of an answer or scenario file: a JSON answer of eyeroof, or a file with
    # a scenario; - reads standard input; options change it
    scenario: Path
    # Most nodes that the search of a layer visits; 0: no limit. A search that ends there reports
    # its optimality gap [200000; 1500000 with --mapping best; none with --time-limit]
    search_nodes: int
    # Seed of the random strategies [1]
    seed: int
    # Change a parameter of the machine, such as dram-bandwidth='1.2 TB/s' or clock=x2
    # (repeatable)
    set: Changes
    # Search strategy; only exact and exhaustive prove their result [exact]
    strategy: Literal["exact", "random", "random-pruned", "exhaustive", "annealing", "genetic"]
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Most seconds for all searches together; results then depend on the load of this computer
    # [none]
    time_limit: Number
    # Drop points this close to another, as a share [0: none] (0 to 10)
    tolerance: Quantity


class MeasureCpuOptions(TypedDict, total=False):
    # Measure only the ceilings
    no_layers: bool
    # Write the ceilings as YAML, for exam and roofline --ceilings
    overlay: Path
    # Write the measurement as a profile (.jsonl, .gz)
    save: Path
    # Threads; 0: all processors [0] (0 to 4096)
    threads: int
    # Least duration of a trial, s [0.005] (0.0001 to 60)
    trial_time: Number
    # Trials of each loop, of which the best counts [25] (1 to 1000)
    trials: int


class MeasureGpuOptions(TypedDict, total=False):
    # Folder with libcublasLt
    cublas: Path
    # GPU, as CUDA counts them [0] (0 to 1023)
    device: int
    # Library of measuring kernels
    kernels: Path
    # Measure only the ceilings
    no_layers: bool
    # Write the ceilings as YAML, for exam and roofline --ceilings
    overlay: Path
    # Write the measurement as a profile (.jsonl, .gz)
    save: Path
    # Least duration of a trial, s [0.02] (0.0001 to 60)
    trial_time: Number
    # Trials of each ceiling, of which the best counts [15] (1 to 1000)
    trials: int


class MeasureHostOptions(Scenario, total=False):
    # Measured time of the program, launched as --launch says [eager]
    measured: Quantity


class MemoryOptions(Scenario, total=False):
    # With --stream: bandwidth to the host, each direction [the machine's PCIe]
    link: Quantity
    # Memory for tensors [the machine's, less 0.5 GB for the process]
    memory: Quantity
    # Exclude the workspace of convolutions
    no_workspace: bool
    # Keep this operand on the host, as much of it as does not fit, and copy it layer by layer
    # beside the kernels: weights in inference, activations in training
    stream: Literal["weights", "activations"]


class NetConvertOptions(TypedDict, total=False):
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Merge two GEMMs and the softmax between them into one attention layer
    fuse_attention: bool


class NetShowOptions(TypedDict, total=False):
    # Batch size of a step [the network's own] (1 to 1000000000)
    batch: int
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes


class ProfileOptions(TypedDict, total=False):
    # Collector library to inject into the program
    collector: Path
    # Collect at most N
    count: int
    # Folder with libcupti and libnvperf_host
    cupti: Path
    # Profile only kernels whose name matches
    kernel: str
    # Counters to collect: bytes and time in one pass, operations too, or bytes of shared memory
    # [roofline]
    metrics: Literal["roofline", "roofline-full", "roofline-shared"]
    # Folder of metric files
    metrics_dir: Path
    # Skip the check for a GPU before the program starts
    no_device_check: bool
    # Profile launches in NVTX ranges that contain this
    nvtx: str
    # Profile to write (.jsonl, .gz) [profile.jsonl]
    save: Path
    # Skip the first N that match (0 to 1000000000)
    skip: int
    # Collect times only; needs no permission and one run
    timing_only: bool
    # Launches between two reads of the counters [512] (1 to 2000)
    window: int


class RooflineOptions(Scenario, total=False):
    # Manual assignments of kernels to layers (YAML)
    assign: Path
    # Measured ceilings of the first machine, as measure --overlay or --save writes them
    # (repeatable)
    ceilings: Union[Path, Sequence[Path]]
    # Meaning of colors; share: of the time; type: of the data; module: beginnings of the names
    # [auto: machines, where there are several]
    color_by: Literal["auto", "limiter", "machine", "share", "type", "module"]
    # Show only points whose name matches
    filter: str
    # Hide predicted or measured points
    hide: Literal["predicted", "measured"]
    # Label the points that take the most time [yes]
    labels: bool
    # Draw the seven steps of this layer
    ladder: str
    # Memory level of the operational intensity, or all [the outermost]
    level: str
    # Measurements of the first machine, in any format that import reads (repeatable)
    profile: Union[Path, Sequence[Path]]
    # Show only this roof (repeatable), or none; the JSON output has the ids [those that the
    # points need]
    roof: Union[str, Sequence[str]]
    # Mark the point of this id (repeatable)
    select: Union[str, Sequence[str]]
    # Draw what a session of eyeroof-gui shows; its view replaces the view options here
    session: Path
    # Size of the picture in pixels [1000x640]
    size: str
    # Colors of the SVG; auto follows the reader's setting [light]
    theme: Literal["light", "dark", "auto"]
    # Show only the N names that take the most time (1 to 1000000)
    top: int
    # Show the heaviest names, up to this share of the time (0 to 100)
    top_share: Quantity
    # Range of operational intensities [all points]
    x_range: str
    # Range of FLOP/s [all points]
    y_range: str
    # Tint where memory, either, or arithmetic bounds below the roofs
    zones: bool


class ScaleOptions(TypedDict, total=False):
    # All-reduce algorithm for gradients; auto: the fastest without servers [auto]
    algorithm: Literal["auto", "ring", "tree", "double-tree", "halving-doubling", "hierarchical", "in-switch", "server", "sharded-server", "one-shot", "two-shot"]
    # Print a result although some operators have no cost model
    allow_uncosted: bool
    # Asynchronous workers with parameter servers: throughput and staleness
    asynchronous: bool
    # Attention as written in the network, or as one fused kernel [fused on GPUs; written in
    # traces and on accelerators]
    attention: Literal["written", "fused"]
    # Decoders: attention kernel; FlashAttention 2 is slower than the newest on Hopper and
    # Blackwell, FlashAttention 1 in Triton on every GPU [newest]
    attention_kernel: Literal["newest", "flash2", "triton"]
    # Decoders: precision of attention; auto: 16 bits beside narrower GEMMs [auto]
    attention_type: Literal["auto", "bf16", "fp16", "fp8"]
    # Batch of the single-device baseline of the speedups [the most that fit]
    baseline_batch: int
    # Batch size of a step [the network's own]
    batch: int
    # Batch size on each device, for weak scaling [up to 32, what fits]
    batch_per_device: int
    # Bucket size of gradients in data-parallel training [25 MB]
    bucket: Quantity
    # GPU clocks after the power limiter has settled (minutes), or in short bursts [settled in
    # training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # Fuse pointwise operators and reductions, as torch.compile does
    compiled: bool
    # Compression of gradients [none]
    compress: Literal["none", "fp16", "int8", "onebit", "topk"]
    # Decoders: degree of context parallelism (1 to 1000000) [1]
    context: int
    # Add steps, memory, and messages of every count (text)
    details: bool
    # Device counts: N, N,M,… or FROM..TO by doubling [8..1024]
    devices: Several
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Decoders: send a token's copy to each of its experts (alltoall), or to each device or node
    # that has any of them (flex: DeepEP, HybridEP) [flex]
    dispatcher: Literal["alltoall", "flex"]
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Decoders: degree of expert parallelism (1 to 1000000) [1]
    expert: int
    # Decoders: devices that divide each expert [as --tensor] (1 to 1000000)
    expert_tensor: int
    # Fabric that connects the devices: a name of hwdb/fabrics, or a file [the usual one of --on;
    # unequal devices: each GPU's PCIe, through the host]
    fabric: Path
    # Host that launches a GPU's kernels [the usual one of such a GPU]
    host: str
    # With --offload: memory bandwidth of a node's host (unsourced default)
    host_bandwidth: Quantity
    # Launch speed relative to --host; `eyeroof measure host` infers it from a measured time [1]
    host_speed: Quantity
    # Decoders: model chunks on each pipeline stage (1 to 1000000) [1]
    interleave: int
    # Standard deviation of a worker's step time over its mean; a step waits for the slowest (0 to
    # 1)
    jitter: Number
    # Share of gradients that topk sends (1e-06 to 1) [0.01]
    kept: Number
    # How kernels are launched: eager framework calls, a stream of back-to-back launches, a CUDA
    # graph, or none (kernel time only) [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Run only the layers whose name matches
    layers: str
    # Memory layout of convolution tensors [channels-last for convolutions below 32 bits]
    layout: Literal["channels-last", "channels-first"]
    # Decoders: sequence length in tokens (1 to 100000000) [the network's]
    length: int
    # Library or framework and its version, such as 'cublas 10' or 'TRTLLM 1.0' [the most likely]
    library: str
    # Decoders: train low-rank adapters of this rank (LoRA); weights are frozen, and have neither
    # gradients nor optimizer states (1 to 65536)
    lora: str
    # With --lora: adapt all linear layers but routed experts, or those of attention [all]
    lora_modules: Literal["all", "attention"]
    # Measured samples/s of one device at --baseline-batch; kernel times are scaled to it (1e-06
    # to 1e+12)
    measured_rate: Number
    # Decoders: microbatch size in sequences (1 to 1000000) [1]
    microbatch: int
    # Unequal devices: microbatches of a training step in a pipeline [8] (1 to 4096)
    microbatches: int
    # Node counts, instead of --devices: N, N,M,… or FROM..TO by doubling
    nodes: Several
    # With --offload nvme: bandwidth of a node's drives (unsourced default)
    nvme_bandwidth: Quantity
    # Decoders: keep the optimizer in the host's memory or on NVMe, and update there [none]
    offload: Literal["none", "host", "nvme"]
    # Operators to run: all of them, fused (batch norms folded, activations in the layer before),
    # or only convolutions and GEMMs [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Optimizer of a training step [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # Decoders: axes in which neighboring devices differ, nearest first: pipeline stages or
    # replicas outermost [tp-cp-ep-dp-pp]
    order: Literal["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"]
    # Overlap gradient buckets with the backward pass [on]
    overlap: Literal["on", "off"]
    # Decoders: overlap all-to-alls of experts with another microbatch's kernels; auto: without
    # full recomputation, and with --interleave where stages are several [auto]
    overlap_expert: Literal["auto", "off", "on"]
    # Decoders: overlap tensor-parallel communication with GEMMs; auto: with sequence parallelism
    # and 8-bit GEMMs, as recipes of Megatron-Bridge [auto]
    overlap_tensor: Literal["auto", "off", "on"]
    # Devices per node, instead of the fabric's
    per_node: int
    # Inference or training, which adds gradients and the weight update [inference]
    phase: Literal["inference", "training"]
    # Decoders: degree of pipeline parallelism; data parallelism takes the rest (1 to 1000000) [1]
    pipeline: int
    # Also write the plan of the most devices, and the options of Megatron-LM and DeepSpeed that
    # say the same
    plan_file: Path
    # Cap a GPU's power, as in 300W: its clocks fall until it keeps the cap [the board's limit]
    power_cap: Quantity
    # Decoders: activation recomputation in the backward pass [none]
    recompute: Literal["none", "selective", "full"]
    # Samples of the whole run, for its time, energy, and cost
    samples: Number
    # Repeat the question of an answer or scenario file: a JSON answer of eyeroof, or a file with
    # a scenario; - reads standard input; options change it
    scenario: Path
    # Search for the best parallel plan: for decoders within memory, for other networks data or
    # model parallel by layer
    search: bool
    # Most nodes that the search of a layer visits; 0: no limit. A search that ends there reports
    # its optimality gap [200000; 1500000 with --mapping best; none with --time-limit]
    search_nodes: int
    # Decoders: sequence parallelism, norms and residuals divided by --tensor too [on with 8-bit
    # and 4-bit GEMMs]
    sequence: bool
    # Parameter servers (1 to 65536) [1]
    servers: int
    # Change a parameter of the machine, such as dram-bandwidth='1.2 TB/s' or clock=x2
    # (repeatable)
    set: Changes
    # Decoders: pipeline stages with equal blocks, or balanced with embedding and head [even]
    stages: Literal["even", "balanced"]
    # Precision of gradients and optimizer states: usual for the types, 16-bit with an fp32 copy
    # of the weights, with fp32 gradients, without a copy, or 8-bit states [usual]
    states: Literal["usual", "mixed", "fp32-gradients", "pure", "8bit"]
    # Streams for independent operators [1]
    streams: int
    # Decoders: degree of tensor parallelism (1 to 1000000) [1]
    tensor: int
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Software transport of messages, of those that the fabric names [its first]
    transport: str
    # ZeRO stage: shard the optimizer (1), also gradients (2), also weights (3) (0 to 3)
    zero: int


class ServeOptions(TypedDict, total=False):
    # Probability that a drafted token is accepted (0 to 1) [0.7]
    acceptance: Number
    # Print a result although some operators have no cost model
    allow_uncosted: bool
    # Output tokens of a request (1 to 10000000) [256]
    answer: int
    # Attention as written in the network, or as one fused kernel [fused on GPUs; written in
    # traces and on accelerators]
    attention: Literal["written", "fused"]
    # Type of cached keys and values [16 bits; trtllm: fp8 beside --dtype fp8]
    cache_type: str
    # Tokens of each prompt that the prefix cache holds, which are not computed (0 to 10000000)
    cached_prompt: int
    # Most tokens of a step [the engine's] (64 to 10000000)
    chunk: int
    # GPU clocks after the power limiter has settled (minutes), or in short bursts [settled in
    # training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # Fuse pointwise operators and reductions, as torch.compile does
    compiled: bool
    # Replicas of attention that share the experts (attention data parallelism) [1, or --expert
    # over --tensor] (1 to 4096)
    data: int
    # With --prefill-groups: tensor groups that compute next tokens (1 to 4096)
    decode_groups: int
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Decoder that drafts tokens on the same devices; own: a layer of the decoder itself (MTP)
    # [n-grams, without cost]
    draft: str
    # Speculative decoding: tokens drafted per step and request [with --draft: 4] (1 to 64)
    draft_tokens: int
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Serving engine, which sets batching, host time, memory, and kernels: a name of hwdb/engines,
    # with or without its version, or a file [vllm]
    engine: Path
    # Degree of expert parallelism, over the server's tensor x data devices (1 to 4096) [1]
    expert: int
    # Fabric that connects the devices: a name of hwdb/fabrics, or a file [the usual one of --on;
    # unequal devices: each GPU's PCIe, through the host]
    fabric: Path
    # Host that launches a GPU's kernels [the usual one of such a GPU]
    host: str
    # Launch speed relative to --host; `eyeroof measure host` infers it from a measured time [1]
    host_speed: Quantity
    # How kernels are launched: eager framework calls, a stream of back-to-back launches, a CUDA
    # graph, or none (kernel time only) [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Memory layout of convolution tensors [channels-last for convolutions below 32 bits]
    layout: Literal["channels-last", "channels-first"]
    # Library or framework and its version, such as 'cublas 10' or 'TRTLLM 1.0' [the most likely]
    library: str
    # Memory share of weights and cache [the engine's] (0.1 to 1)
    memory_share: Number
    # Also write the best point, and the options of vLLM, SGLang, and TensorRT-LLM that say the
    # same
    plan_file: Path
    # Cap a GPU's power, as in 300W: its clocks fall until it keeps the cap [the board's limit]
    power_cap: Quantity
    # With --prefill-groups: their replicas of attention [--data] (1 to 4096)
    prefill_data: int
    # With --prefill-groups: their degree of expert parallelism [--expert] (1 to 4096)
    prefill_expert: int
    # Tensor groups that compute prompts alone (disaggregated prefill) (1 to 4096)
    prefill_groups: int
    # With --prefill-groups: their degree of tensor parallelism [--tensor] (1 to 4096)
    prefill_tensor: int
    # Prompt tokens of a request (1 to 10000000) [1024]
    prompt: int
    # Simulate arrivals at these rates, requests/s; max: the largest rate whose 95th percentiles
    # meet the limits; recorded: at the times of --requests-file
    rate: Several
    # Concurrent requests [powers of two up to what fits] (1 to 1000000)
    requests: Several
    # Simulated requests: CSV with prompt, answer, and arrival_s [all alike]
    requests_file: Path
    # Repeat the question of an answer or scenario file: a JSON answer of eyeroof, or a file with
    # a scenario; - reads standard input; options change it
    scenario: Path
    # Seed of the simulated arrivals [1]
    seed: int
    # Servers that share the simulated requests, each of --tensor x --data devices (1 to 100000)
    # [1]
    servers: int
    # Change a parameter of the machine, such as dram-bandwidth='1.2 TB/s' or clock=x2
    # (repeatable)
    set: Changes
    # Requests to simulate [1000, 10 per user, or all of the file] (1 to 1000000000)
    simulate: int
    # Coefficient of variation of simulated prompts and outputs (log-normal) (0 to 10)
    spread: Number
    # Users start evenly spread, or all together [spread]
    start: Literal["spread", "together"]
    # Streams for independent operators [1]
    streams: int
    # Degrees of tensor parallelism to try (1 to 4096) [1]
    tensor: Several
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Limit of the time per output token (TPOT)
    tpot: Quantity
    # Limit of the time to first token (TTFT)
    ttft: Quantity
    # Simulate N users, each of whom sends the next request after the last response (1 to 100000)
    users: Several
    # Storage type of weights, where narrower than the arithmetic [--dtype]
    weight_type: str


class SweepOptions(Scenario, total=False):
    # Print the Pareto front of these columns (max:COLUMN where more is better), in addition to
    # what -o gets
    pareto: Several
    # Draw all points and the front as SVG
    plot: Path
    # Resume the file of -o where it ends
    resume: bool
    # Evaluate only part I of N, for `sweep merge`
    shard: str


class TimelineOptions(Scenario, total=False):
    # With --compare-copies: a host processor that does it alone
    against: str
    # Compare all ways to copy data to the device
    compare_copies: bool
    # Compare all ways to launch the kernels, including one persistent kernel that packs them
    compare_launches: bool
    # With --compare-copies: number of steps [1] (1 to 1000000000)
    repeat: int


class TuneOptions(TypedDict, total=False):
    # Best candidates that are measured again at the end (0 to 1000) [5]
    again: int
    # C++ compiler [c++, g++ or clang++]
    compiler: Path
    # Processor to pin kernels to [the last one] (0 to 4095)
    cpu: int
    # Add the search space, the closed form's choice, and the bounds of the best candidate (text)
    details: bool
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Weight of parameter values that are new in a batch (0 to 100) [0.3]
    diversity: Number
    # Run the whole network in the end, with the tuned kernels and with oneDNN, which the compiler
    # must find, turn about on this processor
    end_to_end: bool
    # Share of a batch that is chosen at random (0 to 1) [0.05]
    epsilon: Number
    # Features that the learned strategy uses [all]
    features: Literal["all", "knobs", "loops", "steps", "loops+steps", "knobs+loops", "knobs+steps"]
    # Trials between two fits of the model (1 to 4096) [16]
    fit_every: int
    # Compiler flags [-O2 -march=native; none with --target gpu]
    flags: str
    # With --target gpu: index of the GPU [0] (0 to 1023)
    gpu: int
    # Threads of a kernel (1 to 1024) [1]
    kernel_threads: int
    # Regular expression over layer names
    layers: str
    # Seconds after which a candidate, a compiler or a reference is ended (0.01 to 86400) [20]
    limit: Number
    # Log of every trial; a later run resumes from it
    log: Path
    # Loss of the boosted trees [regression]
    loss: Literal["regression", "rank"]
    # Which synthetic target [1]
    machine_seed: int
    # Standard deviation of the synthetic target's noise (0 to 1) [0.05]
    noise: Number
    # With --target gpu: libnvrtc.so [found by name]
    nvrtc: Path
    # Seconds of repeated runs of a candidate (0 to 3600) [0.25]
    repeat_time: Number
    # Learn only the residual of the closed form [yes]
    residual: bool
    # Seed of the search [1]
    seed: int
    # Search strategy [learned]
    strategy: Literal["random", "grid", "genetic", "anneal", "analytic", "learned"]
    # Target that measures candidates: this processor, an NVIDIA GPU, or a closed-form model [cpu]
    target: Literal["cpu", "model", "gpu"]
    # Statistic of the repeated runs [median]
    time: Literal["median", "least"]
    # Seconds for each layer's search
    time_limit: Number
    # Log of another layer or machine to learn from first (repeatable)
    transfer: Union[Path, Sequence[Path]]
    # Candidates to measure for each layer (1 to 1000000) [128]
    trials: int
    # Weight of the deviation among four fits in a score (0 to 10)
    uncertainty: Number


class UpgradeOptions(TypedDict, total=False):
    # Age of the owned GPUs; the value not yet written off is shown
    age: Number
    # Print a result although some operators have no cost model
    allow_uncosted: bool
    # Output tokens of a request (1 to 10000000) [256]
    answer: int
    # Attention as written in the network, or as one fused kernel [fused on GPUs; written in
    # traces and on accelerators]
    attention: Literal["written", "fused"]
    # Batch size of a step [the network's own]
    batch: int
    # Budget of a purchase, less resale; of rents for the job, else for a year
    budget: Number
    # Purchase price of a new GPU, as in 30k or $30,000
    buy: Number
    # GPU clocks after the power limiter has settled (minutes), or in short bursts [settled in
    # training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # CO2 emissions of electricity, as in 0.4 (kg/kWh), '56 g/kWh', or France [0.4]
    co2: Quantity
    # Fuse pointwise operators and reductions, as torch.compile does
    compiled: bool
    # Number of old GPUs (1 to 1000000)
    count: int
    # Deadline of the job, as in 14d or 2 weeks
    deadline: Quantity
    # Add layers and assumptions (text, Markdown, HTML)
    details: bool
    # Set a size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Serving engine on both sides, as in serve [vllm]
    engine: Path
    # Exit 1 when this condition holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY, joined by and, or; a wrong key lists all
    fail_if: str
    # The whole question as a file: fleet, workloads, candidates, and terms; - reads standard
    # input; options change it
    fleet: Path
    # --compiled of the old GPU alone
    from_compiled: bool
    # --dtype of the old GPU alone
    from_dtype: DataType
    # Fabric of the old GPUs, where one does not hold the network [the usual node of such GPUs]
    from_fabric: Path
    # --host of the old GPU alone
    from_host: str
    # --host-speed of the old GPU alone
    from_host_speed: Quantity
    # --launch of the old GPU alone
    from_launch: Literal["eager", "stream", "graph", "none"]
    # --layout of the old GPU alone
    from_layout: Literal["channels-last", "channels-first"]
    # --library of the old GPU alone
    from_library: str
    # Rent of an old GPU, USD/h; 0 means --owned
    from_per_hour: Number
    # --power-cap of the old GPU alone
    from_power_cap: Quantity
    # --set of the old GPU alone
    from_set: Changes
    # Host that launches a GPU's kernels [the usual one of such a GPU]
    host: str
    # Monthly cost of an owned GPU's share of server, space, and staff, USD [0]
    host_per_month: Number
    # Launch speed relative to --host; `eyeroof measure host` infers it from a measured time [1]
    host_speed: Quantity
    # Run ReLU in place where no other operator needs its input
    in_place: bool
    # Use the largest batch, a power of two, that fits both GPUs
    largest_batch: bool
    # How kernels are launched: eager framework calls, a stream of back-to-back launches, a CUDA
    # graph, or none (kernel time only) [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Run only the layers whose name matches
    layers: str
    # Memory layout of convolution tensors [channels-last for convolutions below 32 bits]
    layout: Literal["channels-last", "channels-first"]
    # Library or framework and its version, such as 'cublas 10' or 'TRTLLM 1.0' [the most likely]
    library: str
    # Your throughput on the new GPU
    measured_new: Quantity
    # Your throughput on the old GPU, as in 820/s; it sets the old time and narrows the interval
    measured_old: Quantity
    # Operators to run: all of them, fused (batch norms folded, activations in the layer before),
    # or only convolutions and GEMMs [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Optimizer of a training step [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # The old GPUs are paid for and cost power, not rent
    owned: bool
    # Inference or training, which adds gradients and the weight update [inference]
    phase: Literal["inference", "training"]
    # Cap a GPU's power, as in 300W: its clocks fall until it keeps the cap [the board's limit]
    power_cap: Quantity
    # Power that all GPUs may draw, at their board limits times PUE, as in 20kW; for the cheapest
    # mix of --count GPUs
    power_limit: Quantity
    # Electricity, as in 0.12 or 0.12/kWh [0.12]
    power_price: Number
    # Table of rents, a YAML file of one seller (repeatable) [prices.yaml of the catalog];
    # verdicts compare GPUs within one table
    prices: Union[Path, Sequence[Path]]
    # Prompt tokens of a request (1 to 10000000) [1024]
    prompt: int
    # Power usage effectiveness (PUE) of the data center [1.4]
    pue: Number
    # Requests of a server at a time [as many as do most within the limits] (1 to 1000000)
    requests: int
    # Resale price of an old GPU [0]
    resale: Number
    # Samples of the job, as in 1.3e9
    samples: Quantity
    # Repeat the question of an answer or scenario file: a JSON answer of eyeroof, or a file with
    # a scenario; - reads standard input; options change it
    scenario: Path
    # Change a parameter of the machine, such as dram-bandwidth='1.2 TB/s' or clock=x2
    # (repeatable)
    set: Changes
    # Precision of gradients and optimizer states: usual for the types, 16-bit with an fp32 copy
    # of the weights, with fp32 gradients, without a copy, or 8-bit states [usual]
    states: Literal["usual", "mixed", "fp32-gradients", "pure", "8bit"]
    # Streams for independent operators [1]
    streams: int
    # Also at these batches, such as 1,8,64
    sweep_batch: int
    # Also at these data types, old:new, such as fp16:tf32,fp16:bf16
    sweep_dtype: str
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Speedup that the upgrade must reach [what the prices require]
    threshold: Number
    # --compiled of the new GPU alone
    to_compiled: bool
    # --dtype of the new GPU alone
    to_dtype: DataType
    # Fabric of the new GPUs, where one does not hold the network [the usual node of such GPUs]
    to_fabric: Path
    # --host of the new GPU alone
    to_host: str
    # --host-speed of the new GPU alone
    to_host_speed: Quantity
    # --launch of the new GPU alone
    to_launch: Literal["eager", "stream", "graph", "none"]
    # --layout of the new GPU alone
    to_layout: Literal["channels-last", "channels-first"]
    # --library of the new GPU alone
    to_library: str
    # Rent of a new GPU, USD/h
    to_per_hour: Number
    # --power-cap of the new GPU alone
    to_power_cap: Quantity
    # --set of the new GPU alone
    to_set: Changes
    # Limit of the time per output token, as in 50 ms
    tpot: Quantity
    # Limit of the time to the first token, as in 500 ms
    ttft: Quantity
    # Share of the hours in which the GPUs work, as in 0.7 or 70 % [0.7]
    utilization: Quantity
    # Horizon of the purchase, as in 3 or 36 months [3]
    years: Number


class ValidateOptions(TypedDict, total=False):
    # Validate published speedups of whole networks: model, evidence, and both, with families,
    # sources, and GPUs held out
    evidence: bool
    # Exit 1 when this condition holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY, joined by and, or; a wrong key lists all
    fail_if: str
    # With --pairs: also write how far predicted speedups hold for whole networks, a transfer.yaml
    # for a machine folder
    fit: Path
    # Read a table of calls of serving libraries' kernels: op,gpu,dtype,library,kernel,measured_ms
    # and the operator's sizes; with --format csv each row's prediction
    kernels: bool
    # With --pairs: How kernels are launched: eager framework calls, a stream of back-to-back
    # launches, a CUDA graph, or none (kernel time only) [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Validate published figures of accelerators, not a table
    machines: bool
    # With --machines: by the dataflow's own rules, or the best that is found [dataflow]
    mapping: Literal["dataflow", "best"]
    # Read a table of whole steps: network,gpu,measured_s and optionally
    # phase,optimizer,dtype,batch,launch,family
    networks: bool
    # Use constants fitted on GPUs with another die
    never_seen: bool
    # Read a table of speedups: network,from,to,speedup and optionally
    # to_network,to_items,phase,optimizer,from_dtype,to_dtype,family,match
    pairs: bool
    # Validate published runs of many devices, in a table or the catalog's own: training steps,
    # servers, and collectives
    scale: bool
    # Source of the table, for --fit
    source: str
    # How times without a `launch` column were measured: eager framework calls, back-to-back
    # launches, a node of a CUDA graph, or the kernel alone (none) [none]
    timing: Literal["eager", "stream", "graph", "none"]
    # Number of worst rows to show [10]
    worst: int
