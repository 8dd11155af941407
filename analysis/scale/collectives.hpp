// The time of a collective on a fabric, by latency (alpha) and bandwidth (beta) of its levels.
//
// `n` members, `S` bytes of the whole array on each (of all_gather: gathered), on one level with
// latency a (latency + overhead + transport) and B bytes/s out of one member:
//   ring               all-reduce 2(n-1) a + 2 (n-1)/n S/B; the others half of it
//   tree               2 ceil(log2 n) (a + S/B): up and down a binomial tree, not pipelined
//   double-tree        2 ceil(log2 n) (a + c/B) + 2 S/B + 2 S/c overhead, two trees of S/2 each in
//                      pieces of c, at most S/2
//   halving-doubling   2 log2(n) a + 2 (n-1)/n S/B; others than powers of 2 fold: + 2 (a + S/B)
//   hierarchical       reduce-scatter, level by level, all-reduce outside, all-gather back; rings
//   in-switch          base + 2 a + S/B', where the switch adds up (NVLS, SHARP)
//   server             p S / (s B) on s servers of their own, both ways at once; at least S/B
//   sharded-server     every member serves a part: 2 a + 2 (n-1) overhead + 2 (n-1)/n S/B
//   one-shot           base + (n-1) S/B: every member reads all others' arrays and adds them up
//   two-shot           base' + 2 (n-1)/n S/B: it reads its part of all, then the others' sums
//   direct             all-to-all, every pair by itself, all at once: a + (n-2) overhead + (n-1)/n
//                      S/B; in a level whose `pairs` are known the protocol is NCCL's of point to
//                      point, by the size of a message, and a pair reaches a part of B
// One and two shots are kernels of serving frameworks (vLLM, SGLang, TensorRT-LLM) between devices
// that reach each other's memory, with a base and a share of B of their own; they are tried only
// where they are named.
// A fabric may say which algorithms its library has; of those double trees are of several levels
// only, because in a node NCCL's tree is a chain.
// Over several levels latencies add along the way and the narrowest level gives the bandwidth; a
// level's bandwidth is that of a unit's ports, shared by the groups that use it at the same time.
// Sources: Thakur, Rabenseifner, Gropp, 2005 (halving, doubling); Sanders, Speck, Traeff, 2009
// (two trees); the choice over protocols: NVIDIA/nccl src/graph/tuning.cc; servers and trees:
// Iandola et al., CVPR 2016.
#pragma once

#include "base/result.hpp"
#include "model/machine/fabric.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

// Members of a communicator, placed: `stride` devices apart, beginning with the nearest.
struct Group {
    Count size = 1;
    std::vector<Count> counts;  // joined at each level; their product is at least the size
    std::vector<Count> sharing; // such groups that use a unit's ports at the same time
    std::vector<Count> members; // of the group in one unit of the level

    bool operator==(const Group&) const = default;
};

// `devices` in all, so many of them groups like this one at work at the same time as fill them.
Group place_group(const model::Fabric& fabric, Count size, Count stride, Count devices);

enum class Collective { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast };
enum class Algorithm {
    ring,
    tree,
    double_tree,
    halving_doubling,
    hierarchical,
    in_switch,
    server,
    sharded_server,
    one_shot,
    two_shot,
    direct
};

std::string_view algorithm_name(Algorithm algorithm);
std::optional<Algorithm> algorithm_from_name(std::string_view name);
std::vector<std::string> algorithm_names(); // that all-reduces have

struct CollectiveTime {
    Algorithm algorithm = Algorithm::ring;
    std::string protocol;
    double latency_s = 0.0;             // messages, whatever their size
    double bandwidth_s = 0.0;           // bytes
    std::vector<double> level_bytes;    // that all members together send over each level
    std::vector<double> level_messages; // as many
    double time_s() const { return latency_s + bandwidth_s; }
};

struct CollectiveOptions {
    std::optional<Algorithm> algorithm; // nullopt: the least
    Count servers = 1;                  // of Algorithm::server
    std::string direct;                 // software whose own all-reduces are tried too; or empty
    bool from_host = false;             // its calls are not replayed in a graph
};

// nullopt where the algorithm does not serve the collective, the fabric (in-switch), or a group
// whose members do not fill its units (in-switch, hierarchical, halving-doubling).
std::optional<CollectiveTime> collective_time(const model::Fabric& fabric, const Group& group,
                                              Collective collective, double bytes,
                                              Algorithm algorithm, std::size_t protocol,
                                              Count servers = 1, const std::string& direct_by = {});

// The least over algorithms and protocols; parameter servers only where they are named. A group of
// one takes nothing. An algorithm that does not serve is left for those that do.
CollectiveTime collective_time(const model::Fabric& fabric, const Group& group,
                               Collective collective, double bytes,
                               const CollectiveOptions& options = {});

// Tokens to the experts of the group, or back: `bytes` of each member's tokens, of which every one
// goes to `copies` experts, spread evenly. A token is sent once to each unit that has any of them
// and handed on inside (DeepEP, HybridEP): over a level that joins c of U units
//   U (1 - (1 - 1/U)^copies) (c - 1)/c bytes a member
CollectiveTime dispatch_time(const model::Fabric& fabric, const Group& group, double bytes,
                             double copies);

// One message of `bytes` between members next to each other in the group.
CollectiveTime send_time(const model::Fabric& fabric, const Group& group, double bytes);

// bytes / time, and that times 2(n-1)/n or (n-1)/n: what a link carries (nccl-tests).
double algorithm_bytes_per_s(double bytes, double time_s);
double bus_bytes_per_s(Collective collective, Count n, double bytes, double time_s);

} // namespace eyeroof::analysis
