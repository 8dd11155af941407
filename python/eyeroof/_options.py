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
    # Answer although some operators cannot be costed
    allow_uncosted: bool
    # Attention as the network spells it out, or as one kernel [written; fused where compiled]
    attention: Literal["written", "fused"]
    # Samples of a step [the network's own]
    batch: int
    # Clocks of a GPU whose power limiter has settled, as in a run of minutes, or of short bursts
    # [settled in training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # Pointwise operators and reductions fused, as a compiler does
    compiled: bool
    # Timeloop constraints that searched mappings keep
    constraints: Path
    # What moves between host and device in each step: nothing, input and output, or the weights
    # too; staged: inputs into a captured graph's own buffers on the device, or weights too [none]
    copies: Literal["none", "batch", "all", "staged", "staged-all"]
    # How accesses are counted: by eyeroof, or as Timeloop does [eyeroof]
    counting: Literal["eyeroof", "timeloop"]
    # Dataflow whose rules the mapping follows, or none [the machine's first]
    dataflow: Literal["ws", "os", "is", "nlr", "rs", "rs-plus", "free"]
    # Shares of nonzero values, on machines that exploit zeros:
    # weights=0.4,inputs=0.6[,outputs=0.6], or a table by name or file
    density: Path
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Accelergy's table of energies (ERT) for a Timeloop architecture
    energies: Path
    # Loop trips of searches: divisors only, or any with a partial last trip [perfect]
    factors: Literal["perfect", "any"]
    # What launches a GPU's kernels [the server of the GPU's years]
    host: str
    # How many times faster the host and its framework launch kernels than --host does; `eyeroof
    # measure host` infers it from a measured time [1]
    host_speed: Quantity
    # relu overwrites its input where no other operator needs it
    in_place: bool
    # How kernels are launched: by a framework's calls, back to back, as a captured graph, or
    # kernels alone without a host [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Only layers whose name matches
    layers: str
    # Order of a convolution's tensors in memory [channels-last where convolutions are below 32
    # bits]
    layout: Literal["channels-last", "channels-first"]
    # Library or framework with its version, such as 'cublas 10' or 'TRTLLM 1.0' [the likeliest]
    library: str
    # auto: by a row-stationary machine's published rules, the mapper's best elsewhere; dataflow:
    # by the dataflow's rules, without a search; best: by search, with a certificate; or a mapping
    # file, eyeroof's or Timeloop's [auto]
    mapping: Literal["auto", "dataflow", "best"]
    # What a search minimizes: latency, energy, edp (their product), or powers such as
    # energy^2*latency [edp; latency where the machine names no energies]
    objective: str
    # Every operator by itself; batch norms folded and activations fused into the layer before; or
    # convolutions and GEMMs alone [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Update of the weights in training [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # Copies from memory that is not pinned: half the rate, and the host waits
    pageable: bool
    # What a step is: the layers, or training: they, their gradients, and the update of the
    # weights [inference]
    phase: Literal["inference", "training"]
    # Ask an answer's question again: a JSON answer of eyeroof, or a file with a scenario; - reads
    # standard input; options given beside it change it
    scenario: Path
    # Nodes that the search of a layer looks at, at most; 0: no limit. The best so far is shown
    # with its gap, the same on every machine [200000; 1500000 with --mapping best; none with
    # --time-limit]
    search_nodes: int
    # Change the machine: dram-bandwidth='1.2 TB/s', clock=x2 (repeatable)
    set: Changes
    # How training keeps gradients and states: as the types suggest; 16-bit with an fp32 copy;
    # with fp32 gradients; without a copy; states of 8 bits [usual]
    states: Literal["usual", "mixed", "fp32-gradients", "pure", "8bit"]
    # Streams for operators that do not depend on each other [1]
    streams: int
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Seconds that all searches may take together; the answer then depends on how busy the machine
    # is [none]
    time_limit: Number


class BoundOptions(Scenario, total=False):
    # Explain this time of a step
    measured: Quantity


class ClaimsOptions(TypedDict, total=False):
    # In text output, the figures of every claim
    details: bool
    # Names and claims, without running anything
    list: bool
    # Only this claim, with its figures (repeatable)
    only: Union[str, Sequence[str]]


class CollectiveOptions(TypedDict, total=False):
    # How; auto: the least of those that the fabric's library has [auto]
    algorithm: Literal["auto", "ring", "tree", "double-tree", "halving-doubling", "hierarchical", "in-switch", "server", "sharded-server", "one-shot", "two-shot"]
    # How many, next to each other (2 to 10000000) [8]
    devices: int
    # Bytes of the whole array: S, S,T,… or FROM..TO by doubling [1 KiB..1 GiB]
    size: Several
    # Framework whose own all-reduces are tried too, of those that the fabric names
    software: str
    # How messages pass the software, of those that the fabric names [its first]
    transport: str


class DiffOptions(TypedDict, total=False):
    # Two runs: what launches belong together by; names of kernels differ between GPUs and
    # libraries, those of operators and ranges do not; layer: by operator and shape [layer of two
    # PyTorch traces, else kernel]
    by: Literal["kernel", "operator", "range", "layer"]
    # Exit with 1 when this holds: 'net.time_change > 0.05', 'any.utilization_change < -0.1'
    fail_if: str


class ExamOptions(Scenario, total=False):
    # Also what would help: on accelerators more of each parameter and each step for nothing, on
    # GPUs padding, batch, wave-filling sizes and fusing
    advice: bool
    # Accelergy's table of areas (ART), in place of the estimates of levels of the same name
    areas: Path
    # Assignments of kernels to layers by hand (YAML)
    assign: Path
    # Measured ceilings of the first machine, as measure --overlay or --save writes them
    # (repeatable)
    ceilings: Union[Path, Sequence[Path]]
    # Area of an accelerator's chip by component, and its power while the network runs
    chip: bool
    # Count compute cycles as another tool does, and show the difference
    compat: Literal["scalesim"]
    # One, some and all of a machine's outermost instances, such as Simba's chiplets; a package of
    # unequal cores needs no option
    cores: bool
    # In text output also every step's reason, mapping and traffic
    details: bool
    # Exit 1 when this holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY compared with a number, joined by and, or; a wrong key
    # lists all
    fail_if: str
    # Time of a hop between neighboring cores [0]
    hop: Quantity
    # Rate between groups of cores in a pipeline [no limit]
    link: Quantity
    # Of unequal cores: equal parts that a layer is divided into, at most [4] (1 to 16)
    parts: int
    # Process in nm, between two of the table by interpolation [the machine's process_nm, or the
    # published chip's] (1 to 1000)
    process: Number
    # Measurements of the first machine, in any format that import reads (repeatable)
    profile: Union[Path, Sequence[Path]]
    # Exit with 1 when a searched mapping is not proven optimal
    require_proof: bool
    # Rate of the memory that all cores share [no limit]
    shared_memory: Quantity
    # Layers whose seven steps are shown in text: all, or those of the largest savings [auto: of
    # up to two layers]
    steps: Literal["auto", "all", "worst"]
    # Log of `eyeroof tune`: its best beside what is predicted (repeatable)
    tuned: Union[Path, Sequence[Path]]


class FuseOptions(TypedDict, total=False):
    # Answer although some operators cannot be costed
    allow_uncosted: bool
    # Attention as the network spells it out, or as one kernel [written; fused where compiled]
    attention: Literal["written", "fused"]
    # Another link, such as 25GB/s
    bandwidth: Quantity
    # Samples of a step [the network's own]
    batch: int
    # Another size of the store, such as 512KiB
    buffer: Quantity
    # Least traffic for buffers from 1 KiB to 256 MiB
    curve: bool
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Accelergy's table of energies (ERT) for a Timeloop architecture
    energies: Path
    # Only layers whose name matches
    layers: str
    # What is to be least [traffic]
    least: Literal["traffic", "latency"]
    # Every operator by itself; batch norms folded and activations fused into the layer before; or
    # convolutions and GEMMs alone [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Ask an answer's question again: a JSON answer of eyeroof, or a file with a scenario; - reads
    # standard input; options given beside it change it
    scenario: Path
    # Change the machine: dram-bandwidth='1.2 TB/s', clock=x2 (repeatable)
    set: Changes
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int


class HwCalibrateOptions(TypedDict, total=False):
    # Data type of --sustained [fp32]
    dtype: DataType
    # What the constants shall name as their data
    source: str
    # A sustained rate, such as '14 TFLOP/s'
    sustained: str
    # How times without a `launch` column were taken: an eager framework's call, back-to-back
    # launches, the kernel alone, or a node of a captured graph [stream]
    timing: Literal["eager", "stream", "kernel", "graph"]


class ImportOptions(TypedDict, total=False):
    # Answer although some operators cannot be costed
    allow_uncosted: bool
    # Assignments of kernels to layers by hand (YAML)
    assign: Path
    # Attention as the network spells it out, or as one kernel [written; fused where compiled]
    attention: Literal["written", "fused"]
    # Samples of a step [the network's own]
    batch: int
    # Keep at most N
    count: int
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Format, when content does not tell it
    input_format: Literal["eyeroof-profile", "nsight-systems-sqlite", "kineto-json", "nsight-compute-csv", "rocprofv3-csv", "rocprofv3-json", "plain-csv"]
    # Give the second file's counters to the first file's launches
    join: bool
    # Keep kernels whose name matches
    kernel: str
    # Only layers whose name matches
    layers: str
    # Shapes from a log of cuBLAS, cuBLASLt or cuDNN of the same run
    log: Path
    # Say which kernels belong to which layer of a network
    match: Path
    # Keep launches in ranges that contain this text
    nvtx: str
    # Every operator by itself; batch norms folded and activations fused into the layer before; or
    # convolutions and GEMMs alone [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Update of the weights in training [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # What a step is: the layers, or training: they, their gradients, and the update of the
    # weights [inference]
    phase: Literal["inference", "training"]
    # Keep the result as a profile (.jsonl, .gz)
    save: Path
    # Ask an answer's question again: a JSON answer of eyeroof, or a file with a scenario; - reads
    # standard input; options given beside it change it
    scenario: Path
    # Leave out the first N that match
    skip: int
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int


class ImproveOptions(Scenario, total=False):
    # Multiples of the batch to try [1 2 4] (1 to 4096)
    batches: int
    # Steps of an epoch of training, for what a pruning schedule costs (1 to 1e+12)
    epoch_steps: int
    # Bytes for tensors [the machine's, less 0.5 GB for a process]
    memory: Quantity
    # Inference: share of the weights, in blocks of 64 x 64, that pruning leaves (0.01 to 1)
    pruned_to: Quantity


class ManualOptions(TypedDict, total=False):
    # A table of all options and their commands, as Markdown
    options: bool


class MapOptions(TypedDict, total=False):
    # Answer although some operators cannot be costed
    allow_uncosted: bool
    # Attention as the network spells it out, or as one kernel [written; fused where compiled]
    attention: Literal["written", "fused"]
    # Samples of a step [the network's own]
    batch: int
    # The least traffic to memory of every layer that matches against the capacity of a buffer;
    # that of the machine's LEVEL is marked
    capacity_curve: str
    # The machine's bounds of steps 1 to 6 beside what the fastest mapping reaches of each
    chain: bool
    # Timeloop constraints that searched mappings keep
    constraints: Path
    # How accesses are counted: by eyeroof, or as Timeloop does [eyeroof]
    counting: Literal["eyeroof", "timeloop"]
    # Dataflow whose rules the mapping follows, or none [the machine's first]
    dataflow: Literal["ws", "os", "is", "nlr", "rs", "rs-plus", "free"]
    # Shares of nonzero values, on machines that exploit zeros:
    # weights=0.4,inputs=0.6[,outputs=0.6], or a table by name or file
    density: Path
    # Also the loop nest of every layer (text) and what each search took
    details: bool
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Accelergy's table of energies (ERT) for a Timeloop architecture
    energies: Path
    # Loop trips of searches: divisors only, or any with a partial last trip [perfect]
    factors: Literal["perfect", "any"]
    # Exit 1 when this holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY compared with a number, joined by and, or; a wrong key
    # lists all
    fail_if: str
    # Only layers whose name matches
    layers: str
    # Only mappings that use at least this share of the units (0 to 1)
    min_utilization: Quantity
    # What a search minimizes: latency, energy, edp (their product), or powers such as
    # energy^2*latency [edp; latency where the machine names no energies]
    objective: str
    # Every operator by itself; batch norms folded and activations fused into the layer before; or
    # convolutions and GEMMs alone [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Update of the weights in training [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # The front of latency and energy of every layer that matches
    pareto: bool
    # What a step is: the layers, or training: they, their gradients, and the update of the
    # weights [inference]
    phase: Literal["inference", "training"]
    # Draw an SVG: the front, the curve, or how all strategies converge on the first layer that
    # matches
    plot: Path
    # Write the first layer's mapping, as exam --mapping takes it
    save_mapping: Path
    # Write the first layer's mapping as Timeloop reads it
    save_timeloop: Path
    # Ask an answer's question again: a JSON answer of eyeroof, or a file with a scenario; - reads
    # standard input; options given beside it change it
    scenario: Path
    # Nodes that the search of a layer looks at, at most; 0: no limit. The best so far is shown
    # with its gap, the same on every machine [200000; 1500000 with --mapping best; none with
    # --time-limit]
    search_nodes: int
    # Seed of the random strategies [1]
    seed: int
    # Change the machine: dram-bandwidth='1.2 TB/s', clock=x2 (repeatable)
    set: Changes
    # How to search; only exact and exhaustive prove their answer [exact]
    strategy: Literal["exact", "random", "random-pruned", "exhaustive", "annealing", "genetic"]
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Seconds that all searches may take together; the answer then depends on how busy the machine
    # is [none]
    time_limit: Number
    # Leave out points of a front or curve that are this share near another [0: all] (0 to 10)
    tolerance: Quantity


class MeasureCpuOptions(TypedDict, total=False):
    # Only the ceilings
    no_layers: bool
    # Write the ceilings as YAML, for exam and roofline --ceilings
    overlay: Path
    # Keep the measurement as a profile (.jsonl, .gz)
    save: Path
    # Threads; 0: all processors [0] (0 to 4096)
    threads: int
    # Seconds that a trial lasts at least [0.005] (0.0001 to 60)
    trial_time: Number
    # Trials of each loop; the best counts [25] (1 to 1000)
    trials: int


class MeasureGpuOptions(TypedDict, total=False):
    # Folder with libcublasLt
    cublas: Path
    # GPU, as CUDA counts them [0] (0 to 1023)
    device: int
    # The library that measures
    kernels: Path
    # Only the ceilings
    no_layers: bool
    # Write the ceilings as YAML, for exam and roofline --ceilings
    overlay: Path
    # Keep the measurement as a profile (.jsonl, .gz)
    save: Path
    # Seconds that a trial lasts at least [0.02] (0.0001 to 60)
    trial_time: Number
    # Trials of each ceiling; the best counts [15] (1 to 1000)
    trials: int


class MeasureHostOptions(Scenario, total=False):
    # The program's time, eager unless --launch says
    measured: Quantity


class MemoryOptions(Scenario, total=False):
    # Bytes for tensors [the machine's, less 0.5 GB for a process]
    memory: Quantity
    # Leave out what convolutions need beside their tensors
    no_workspace: bool


class NetConvertOptions(TypedDict, total=False):
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Two products and a softmax between them as one layer of attention
    fuse_attention: bool


class NetShowOptions(TypedDict, total=False):
    # Samples of a step [the network's own] (1 to 1000000000)
    batch: int
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes


class ProfileOptions(TypedDict, total=False):
    # The library that is injected
    collector: Path
    # Collect at most N
    count: int
    # Folder with libcupti and libnvperf_host
    cupti: Path
    # Only kernels whose name matches
    kernel: str
    # Counters: bytes and time in one pass, or operations too [roofline]
    metrics: Literal["roofline", "roofline-full"]
    # Folder of metric files
    metrics_dir: Path
    # Do not ask the driver for a GPU beforehand
    no_device_check: bool
    # Only launches in NVTX ranges that contain this text
    nvtx: str
    # The profile (.jsonl, .gz) [profile.jsonl]
    save: Path
    # Leave out the first N that match
    skip: int
    # No counters: needs no permission, one run
    timing_only: bool
    # Launches between two readings of the counters [512] (1 to 2000)
    window: int


class RooflineOptions(Scenario, total=False):
    # Assignments of kernels to layers by hand (YAML)
    assign: Path
    # Measured ceilings of the first machine, as measure --overlay or --save writes them
    # (repeatable)
    ceilings: Union[Path, Sequence[Path]]
    # What colors and shapes show [auto: machines when there are several]
    color_by: Literal["auto", "limiter", "machine"]
    # Only points whose name matches
    filter: str
    # Leave out predicted or measured points
    hide: Literal["predicted", "measured"]
    # Name the heaviest points [yes]
    labels: bool
    # Draw the seven steps of this layer instead
    ladder: str
    # Memory level whose bytes give the intensity, or all [the outermost]
    level: str
    # Measurements of the first machine, in any format that import reads (repeatable)
    profile: Union[Path, Sequence[Path]]
    # Show this roof and no others than those named (repeatable), or none; JSON has their ids
    # [those that the points need]
    roof: Union[str, Sequence[str]]
    # Mark the point of this id (repeatable)
    select: Union[str, Sequence[str]]
    # Draw what a session of eyeroof-gui shows; its view replaces the view options
    session: Path
    # Size of the picture in pixels [1000x640]
    size: str
    # Colors of the SVG; auto follows the reader's setting [light]
    theme: Literal["light", "dark", "auto"]
    # Only the N names that take most of the time (1 to 1000000)
    top: int
    # Only the heaviest names that make up this percentage of the time (0 to 100)
    top_share: Quantity
    # Intensities to show [what there is]
    x_range: str
    # FLOP/s to show [what there is]
    y_range: str


class ScaleOptions(TypedDict, total=False):
    # Answer although some operators cannot be costed
    allow_uncosted: bool
    # Workers do not wait for each other: throughput and staleness with parameter servers
    asynchronous: bool
    # Attention as the network spells it out, or as one kernel [written; fused where compiled]
    attention: Literal["written", "fused"]
    # Decoders: FlashAttention 2 is slower on Hopper and Blackwell than their newest [newest]
    attention_kernel: Literal["newest", "flash2"]
    # Decoders: type of attention; auto: 16 bits beside narrower products [auto]
    attention_type: Literal["auto", "bf16", "fp16", "fp8"]
    # Samples of the one device that speed-ups are over [the most that fit]
    baseline_batch: int
    # Samples of a step [the network's own]
    batch: int
    # Samples of a step on each device (weak scaling) [up to 32, what fits]
    batch_per_device: int
    # Gradients are gathered to so much before they leave [25 MB]
    bucket: Quantity
    # Clocks of a GPU whose power limiter has settled, as in a run of minutes, or of short bursts
    # [settled in training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # How gradients are summed; auto: the least of all but servers [auto]
    collective: Literal["auto", "ring", "tree", "double-tree", "halving-doubling", "hierarchical", "in-switch", "server", "sharded-server", "one-shot", "two-shot"]
    # Pointwise operators and reductions fused, as a compiler does
    compiled: bool
    # What gradients are sent as [none]
    compress: Literal["none", "fp16", "int8", "onebit", "topk"]
    # Decoders: devices that share a sequence's words (1 to 1000000) [1]
    context: int
    # In text output, every count's steps, memory, volumes
    details: bool
    # How many: N, N,M,… or FROM..TO by doubling [8..1024]
    devices: Several
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Decoders: devices that share the experts (1 to 1000000) [1]
    expert: int
    # What joins the devices: a name of hwdb/fabrics, or a file [devices that differ: each GPU's
    # PCIe, through the host; one device needs none]
    fabric: Path
    # What launches a GPU's kernels [the server of the GPU's years]
    host: str
    # How many times faster the host and its framework launch kernels than --host does; `eyeroof
    # measure host` infers it from a measured time [1]
    host_speed: Quantity
    # Decoders: chunks of blocks on each stage (1 to 1000000) [1]
    interleave: int
    # Deviation of a worker's time over its mean: the slowest is waited for (0 to 1)
    jitter: Number
    # Share of the gradients that topk sends (1e-06 to 1) [0.01]
    kept: Number
    # How kernels are launched: by a framework's calls, back to back, as a captured graph, or
    # kernels alone without a host [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Only layers whose name matches
    layers: str
    # Order of a convolution's tensors in memory [channels-last where convolutions are below 32
    # bits]
    layout: Literal["channels-last", "channels-first"]
    # Decoders: tokens of a sequence (1 to 100000000) [2048]
    length: int
    # Library or framework with its version, such as 'cublas 10' or 'TRTLLM 1.0' [the likeliest]
    library: str
    # Samples/s that one device was measured to do at --baseline-batch: kernels are scaled to it
    # (1e-06 to 1e+12)
    measured_rate: Number
    # Decoders: sequences at a time (1 to 1000000) [1]
    microbatch: int
    # Devices that differ: batches of a training step in a pipeline [8] (1 to 4096)
    microbatches: int
    # Nodes, instead of --devices
    nodes: int
    # Every operator by itself; batch norms folded and activations fused into the layer before; or
    # convolutions and GEMMs alone [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Update of the weights in training [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # Whether buckets leave while the backward pass goes on [on]
    overlap: Literal["on", "off"]
    # Decoders: whether tensor parallel messages leave while products go on [off]
    overlap_tensor: Literal["off", "on"]
    # Devices of a node, instead of the fabric's
    per_node: int
    # What a step is: the layers, or training: they, their gradients, and the update of the
    # weights [inference]
    phase: Literal["inference", "training"]
    # Decoders: stages of blocks; data parallel takes the rest (1 to 1000000) [1]
    pipeline: int
    # Decoders: what the backward pass computes again [none]
    recompute: Literal["none", "selective", "full"]
    # Samples of the whole run: time, energy, money
    samples: Number
    # Ask an answer's question again: a JSON answer of eyeroof, or a file with a scenario; - reads
    # standard input; options given beside it change it
    scenario: Path
    # Find the best strategy: of decoders the plan under memory, of other networks data or model
    # parallel for each layer
    search: bool
    # Nodes that the search of a layer looks at, at most; 0: no limit. The best so far is shown
    # with its gap, the same on every machine [200000; 1500000 with --mapping best; none with
    # --time-limit]
    search_nodes: int
    # Decoders: norms and residuals shared by --tensor too
    sequence: bool
    # Parameter servers (1 to 65536) [1]
    servers: int
    # Change the machine: dram-bandwidth='1.2 TB/s', clock=x2 (repeatable)
    set: Changes
    # Decoders: stages of as many blocks each, or with the head counted as blocks [even]
    stages: Literal["even", "balanced"]
    # How training keeps gradients and states: as the types suggest; 16-bit with an fp32 copy;
    # with fp32 gradients; without a copy; states of 8 bits [usual]
    states: Literal["usual", "mixed", "fp32-gradients", "pure", "8bit"]
    # Streams for operators that do not depend on each other [1]
    streams: int
    # Decoders: devices that share every product (1 to 1000000) [1]
    tensor: int
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # How messages pass the software, of those that the fabric names [its first]
    transport: str
    # ZeRO stage: 1 optimizer, 2 and gradients, 3 and weights divided over devices (0 to 3)
    zero: int


class ServeOptions(TypedDict, total=False):
    # Answer although some operators cannot be costed
    allow_uncosted: bool
    # Tokens of an answer (1 to 10000000) [256]
    answer: int
    # Attention as the network spells it out, or as one kernel [written; fused where compiled]
    attention: Literal["written", "fused"]
    # Type of cached keys and values [16 bits; trtllm: fp8 beside --dtype fp8]
    cache_type: str
    # Tokens of a step at most [vllm: 2048; else 8192] (64 to 10000000)
    chunk: int
    # Clocks of a GPU whose power limiter has settled, as in a run of minutes, or of short bursts
    # [settled in training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # Pointwise operators and reductions fused, as a compiler does
    compiled: bool
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Serving engine: how a step is filled, its host time, its all-reduce [vllm]
    engine: Literal["vllm", "sglang", "trtllm"]
    # Devices that share the experts (1 to 4096) [1]
    expert: int
    # What joins devices: a name of hwdb/fabrics, or a file; one device needs none
    fabric: Path
    # What launches a GPU's kernels [the server of the GPU's years]
    host: str
    # How many times faster the host and its framework launch kernels than --host does; `eyeroof
    # measure host` infers it from a measured time [1]
    host_speed: Quantity
    # How kernels are launched: by a framework's calls, back to back, as a captured graph, or
    # kernels alone without a host [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Order of a convolution's tensors in memory [channels-last where convolutions are below 32
    # bits]
    layout: Literal["channels-last", "channels-first"]
    # Library or framework with its version, such as 'cublas 10' or 'TRTLLM 1.0' [the likeliest]
    library: str
    # Of a device's memory, for weights and cache (0.1 to 1) [0.9]
    memory_share: Number
    # Tokens of a prompt (1 to 10000000) [1024]
    prompt: int
    # Simulate requests that arrive at these rates a second; max: the largest whose 95th
    # percentiles keep the limits
    rate: Several
    # Requests at once [powers of two up to what fits]
    requests: int
    # Ask an answer's question again: a JSON answer of eyeroof, or a file with a scenario; - reads
    # standard input; options given beside it change it
    scenario: Path
    # Of simulated arrivals [1]
    seed: int
    # Change the machine: dram-bandwidth='1.2 TB/s', clock=x2 (repeatable)
    set: Changes
    # Whether users began long ago, evenly spread, or begin at once [spread]
    start: Literal["spread", "together"]
    # Streams for operators that do not depend on each other [1]
    streams: int
    # Devices that share every product: degrees to try (1 to 4096) [1]
    tensor: Several
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Most time per token after it
    tpot: Quantity
    # Most time to the first token
    ttft: Quantity
    # Simulate so many users who ask again as soon as they have their answer (1 to 100000)
    users: Several
    # Type that weights are kept in, where narrower than the arithmetic [--dtype]
    weight_type: str


class SweepOptions(Scenario, total=False):
    # Print the points that no other beats in these columns (max:COLUMN for more is better),
    # beside what -o gets
    pareto: Several
    # All points and the front as SVG
    plot: Path
    # Go on with the file of -o where it ends
    resume: bool
    # Only part I of N parts, for `sweep merge`
    shard: str


class TimelineOptions(Scenario, total=False):
    # With --compare-copies: a host processor that does it alone
    against: str
    # All ways to bring the data to the device, side by side
    compare_copies: bool
    # All ways to launch the kernels, side by side, and all of them packed in one persistent
    # kernel
    compare_launches: bool
    # With --compare-copies: the time of N steps [1] (1 to 1000000000)
    repeat: int


class TuneOptions(TypedDict, total=False):
    # Best candidates that are measured again in the end (0 to 1000) [5]
    again: int
    # C++ compiler [c++, g++ or clang++]
    compiler: Path
    # Processor to pin kernels to [the last one] (0 to 4095)
    cpu: int
    # In text output, the space, the closed form's choice, the bounds of the best
    details: bool
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Worth of knob values new to a batch (0 to 100) [0.3]
    diversity: Number
    # Share of a batch that is drawn at random (0 to 1) [0.05]
    epsilon: Number
    # What the learned strategy sees of a candidate [all]
    features: Literal["all", "knobs", "loops", "steps", "loops+steps", "knobs+loops", "knobs+steps"]
    # Trials between two fits (1 to 4096) [16]
    fit_every: int
    # Its flags [-O2 -march=native]; with --target gpu NVRTC's [none]
    flags: str
    # With --target gpu: which one [0] (0 to 1023)
    gpu: int
    # Threads that a kernel may use (1 to 1024) [1]
    kernel_threads: int
    # Regular expression over layer names
    layers: str
    # Seconds after which a candidate, a compiler or a reference is ended (0.01 to 86400) [20]
    limit: Number
    # Keeps every trial, and goes on from there when run again
    log: Path
    # Of the trees [regression]
    loss: Literal["regression", "rank"]
    # Which stand-in [1]
    machine_seed: int
    # Deviation of a stand-in's measurements (0 to 1) [0.05]
    noise: Number
    # With --target gpu: libnvrtc.so [found by its name]
    nvrtc: Path
    # Seconds for a candidate's repeats (0 to 3600) [0.25]
    repeat_time: Number
    # Whether trees learn only what the closed form misses [yes]
    residual: bool
    # Of the search [1]
    seed: int
    # How candidates are chosen [learned]
    strategy: Literal["random", "grid", "genetic", "anneal", "analytic", "learned"]
    # What measures: this processor, an NVIDIA GPU, or a closed form as a stand-in [cpu]
    target: Literal["cpu", "model", "gpu"]
    # Which of the repeats counts [median]
    time: Literal["median", "least"]
    # Seconds for each layer's search
    time_limit: Number
    # Log to learn from before (repeatable)
    transfer: Union[Path, Sequence[Path]]
    # XGBoost's where it was found, or eyeroof's own [auto]
    trees: Literal["auto", "xgboost", "own"]
    # Candidates to measure, of each layer (1 to 1000000) [128]
    trials: int
    # Deviations of four fits that are added to a score (0 to 10)
    uncertainty: Number


class UpgradeOptions(TypedDict, total=False):
    # Age of the owned GPUs: what is not written off yet is shown
    age: Number
    # Answer although some operators cannot be costed
    allow_uncosted: bool
    # Attention as the network spells it out, or as one kernel [written; fused where compiled]
    attention: Literal["written", "fused"]
    # Samples of a step [the network's own]
    batch: int
    # Most to spend on a purchase, less resale
    budget: Number
    # Price of a new GPU: it is bought, as in 30k or $30,000
    buy: Number
    # Clocks of a GPU whose power limiter has settled, as in a run of minutes, or of short bursts
    # [settled in training and serving, else burst]
    clocks: Literal["settled", "burst"]
    # CO2 of a kWh, kg [0.4]
    co2: Number
    # Pointwise operators and reductions fused, as a compiler does
    compiled: bool
    # How many of the old GPUs there are (1 to 1000000)
    count: int
    # When that job must be done, as in 14d or 2 weeks
    deadline: Quantity
    # In text, Markdown, and HTML also the layers, and all that stands behind the figures
    details: bool
    # Size that the network leaves open, or one of its parameters (repeatable)
    dim: Changes
    # Data type of weights and activations [as in the network]
    dtype: DataType
    # Exit 1 when this holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY compared with a number, joined by and, or; a wrong key
    # lists all
    fail_if: str
    # The whole question as a file: what is there, what runs, candidates, terms; options beside it
    # change it; - reads standard input
    fleet: Path
    # --compiled of the old GPU alone
    from_compiled: bool
    # --dtype of the old GPU alone
    from_dtype: DataType
    # What joins the old GPUs where one does not hold the network [the usual node of such GPUs]
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
    # Rent of an old GPU, USD an hour; 0 as --owned
    from_per_hour: Number
    # --set of the old GPU alone
    from_set: Changes
    # What launches a GPU's kernels [the server of the GPU's years]
    host: str
    # An owned GPU's share of its server, space, and people, USD a month [0]
    host_per_month: Number
    # How many times faster the host and its framework launch kernels than --host does; `eyeroof
    # measure host` infers it from a measured time [1]
    host_speed: Quantity
    # relu overwrites its input where no other operator needs it
    in_place: bool
    # At the largest batch, a power of two, that fits both GPUs
    largest_batch: bool
    # How kernels are launched: by a framework's calls, back to back, as a captured graph, or
    # kernels alone without a host [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Only layers whose name matches
    layers: str
    # Order of a convolution's tensors in memory [channels-last where convolutions are below 32
    # bits]
    layout: Literal["channels-last", "channels-first"]
    # Library or framework with its version, such as 'cublas 10' or 'TRTLLM 1.0' [the likeliest]
    library: str
    # The same on the new GPU
    measured_new: Quantity
    # Your own throughput on the old GPU, as in 820/s: it sets its time and narrows the interval
    measured_old: Quantity
    # Every operator by itself; batch norms folded and activations fused into the layer before; or
    # convolutions and GEMMs alone [all; fused for inference on accelerators]
    operators: Literal["all", "fused", "products"]
    # Update of the weights in training [sgd_momentum]
    optimizer: Literal["sgd", "sgd_momentum", "adam"]
    # The old GPUs are paid for: they cost power, no rent
    owned: bool
    # What a step is: the layers, or training: they, their gradients, and the update of the
    # weights [inference]
    phase: Literal["inference", "training"]
    # Electricity, as in 0.12 or 0.12/kWh [0.12]
    power_price: Number
    # Power of the building over that of its computers [1.4]
    pue: Number
    # What an old GPU sells for [0]
    resale: Number
    # Samples of a job, as in 1.3e9
    samples: Quantity
    # Ask an answer's question again: a JSON answer of eyeroof, or a file with a scenario; - reads
    # standard input; options given beside it change it
    scenario: Path
    # Change the machine: dram-bandwidth='1.2 TB/s', clock=x2 (repeatable)
    set: Changes
    # How training keeps gradients and states: as the types suggest; 16-bit with an fp32 copy;
    # with fp32 gradients; without a copy; states of 8 bits [usual]
    states: Literal["usual", "mixed", "fp32-gradients", "pure", "8bit"]
    # Streams for operators that do not depend on each other [1]
    streams: int
    # Also at these batches, such as 1,8,64
    sweep_batch: int
    # Also at these data types, old:new, such as fp16:tf32,fp16:bf16
    sweep_dtype: str
    # Threads to use; the answer does not depend on it [all] (0 to 4096)
    threads: int
    # Speed-up that must be reached (default: what the prices need)
    threshold: Number
    # --compiled of the new GPU alone
    to_compiled: bool
    # --dtype of the new GPU alone
    to_dtype: DataType
    # What joins the new GPUs where one does not hold the network [the usual node of such GPUs]
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
    # Rent of a new GPU, USD an hour
    to_per_hour: Number
    # --set of the new GPU alone
    to_set: Changes
    # Share of the hours that the GPUs work, as in 0.7 or 70 % [0.7]
    utilization: Quantity
    # Years over which a purchase is counted, as in 3 or 36 months [3]
    years: Number


class ValidateOptions(TypedDict, total=False):
    # Published speed-ups of whole networks: the model, the evidence, and both, with families,
    # sources, and GPUs held out
    evidence: bool
    # Exit 1 when this holds, such as 'time > 5 ms' or 'any.utilization < 10 %': KEY,
    # layer.NAME.KEY, any.KEY, or all.KEY compared with a number, joined by and, or; a wrong key
    # lists all
    fail_if: str
    # With --pairs: also write how far predicted speed-ups hold for whole networks, a
    # transfer.yaml for a machine folder
    fit: Path
    # With --pairs: How kernels are launched: by a framework's calls, back to back, as a captured
    # graph, or kernels alone without a host [eager]
    launch: Literal["eager", "stream", "graph", "none"]
    # Published figures of the catalog's accelerators instead of a table
    machines: bool
    # With --machines: by the dataflow's own rules, or the best that is found [dataflow]
    mapping: Literal["dataflow", "best"]
    # The table holds times of whole steps: network,gpu,measured_s and perhaps
    # phase,optimizer,dtype,batch,launch,family
    networks: bool
    # Only the data sheet and constants that were fitted on GPUs with another die
    never_seen: bool
    # The table holds speed-ups of networks: network,from,to,speedup and perhaps
    # to_network,to_items,phase,optimizer,from_dtype,to_dtype,family,match
    pairs: bool
    # Of the table, for --fit
    source: str
    # How times without a `launch` column were taken: an eager framework's call, back-to-back
    # launches, the kernel alone, or a node of a captured graph [stream]
    timing: Literal["eager", "stream", "kernel", "graph"]
    # How many of the worst rows to show [10]
    worst: int
