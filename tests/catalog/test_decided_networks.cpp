// Networks that upgrades are decided on: parameters and MACs by closed forms of their papers'
// sizes.
#include "tests/catalog/totals.hpp"

#include <doctest/doctest.h>

#include <array>

namespace test_catalog_decided_networks {

using namespace eyeroof;
using eyeroof::tests::totals;

namespace {

// A product with a bias.
Count dense(Count in, Count out) {
    return in * out + out;
}

// The four products of attention, with biases.
Count attention_weights(Count hidden) {
    return 4 * dense(hidden, hidden);
}

Count feed_forward_weights(Count hidden, Count inner) {
    return dense(hidden, inner) + dense(inner, hidden);
}

// Queries, results, and keys and values of as many words as are seen; scores and their sums.
Count attention_macs(Count words, Count seen, Count hidden) {
    return (2 * words + 2 * seen) * hidden * hidden + 2 * words * seen * hidden;
}

// Four gates of an LSTM layer, on what comes in and on the layer's own output, two biases each.
Count lstm_weights(Count in, Count hidden) {
    return 4 * hidden * (in + hidden + 2);
}

Count lstm_macs(Count words, Count in, Count hidden) {
    return words * 4 * hidden * (in + hidden);
}

} // namespace

TEST_CASE("BERT-large: 335,141,888 parameters as published, MACs of 24 layers") {
    const Count h = 1024;
    const Count s = 128;
    const Count embeddings = (30522 + 512 + 2) * h + 2 * h;
    const Count layer = attention_weights(h) + feed_forward_weights(h, 4 * h) + 4 * h;
    const auto t = totals("bert-large:seq=128");
    CHECK(embeddings + 24 * layer + dense(h, h) == 335'141'888); // with the pooler
    CHECK(t.parameters == 335'141'888);
    CHECK(t.macs == 24 * (attention_macs(s, s, h) + s * 8 * h * h) + h * h);
}

TEST_CASE("ResNet-50: the 25,557,032 parameters and 4.089 GMAC of torchvision") {
    const auto t = totals("resnet50");
    CHECK(t.parameters == 25'557'032);
    CHECK(t.macs == 4'089'184'256);
}

TEST_CASE("GNMT: 160,671,297 parameters, MACs of eight layers, attention and classifier") {
    const Count h = 1024;
    const Count vocabulary = 32320;
    const Count words = 32;
    const Count encoder = 4 * lstm_weights(h, h) + lstm_weights(2 * h, h); // the first both ways
    const Count decoder = lstm_weights(h, h) + 3 * lstm_weights(2 * h, h);
    const Count attention = 2 * h * h + h + (h + 1); // query, keys, score; norm's bias and scale
    const Count parameters = vocabulary * h + encoder + decoder + attention + dense(h, vocabulary);
    CHECK(parameters == 160'671'297);
    const auto t = totals("gnmt:batch=1,source=32,target=32");
    CHECK(t.parameters == parameters);
    const Count layers = 5 * lstm_macs(words, h, h) + 4 * lstm_macs(words, 2 * h, h);
    const Count attends = 2 * words * h * h + 2 * words * words * h;
    CHECK(t.macs == layers + attends + words * h * vocabulary);
}

TEST_CASE("Transformer-big: the paper's 213 M parameters, MACs of both sides and the head") {
    const Count h = 1024;
    const Count inner = 4096;
    const Count vocabulary = 37000;
    const Count words = 32;
    const Count forward = feed_forward_weights(h, inner);
    const Count encoder = attention_weights(h) + forward + 4 * h;
    const Count decoder = 2 * attention_weights(h) + forward + 6 * h;
    const Count parameters = vocabulary * h + 6 * (encoder + decoder);
    CHECK(parameters / 1'000'000 == 214); // 213 in table 3
    const auto t = totals("transformer-big:batch=1");
    CHECK(t.parameters == parameters);
    const Count attends = 3 * attention_macs(words, words, h);
    CHECK(t.macs == 6 * (attends + 2 * words * 2 * h * inner) + words * h * vocabulary);
}

TEST_CASE("Mask R-CNN: MACs of backbone, pyramid, proposals, boxes and masks") {
    const Count pixels = 800 * 1344;
    // ResNet-50 without its classifier, on another image: every stage divides both sizes.
    const Count backbone = (4'089'184'256 - 2048 * 1000) / (224 * 224) * pixels;
    Count pyramid = 0;
    Count channels = 256;
    for (const Count d : {4, 8, 16, 32}) {
        pyramid += pixels / (d * d) * (channels * 256 + 9 * 256 * 256);
        channels *= 2;
    }
    Count proposals = 0;
    for (const Count positions : {pixels / 16, pixels / 64, pixels / 256, pixels / 1024,
                                  Count{13 * 21}}) { // 25 x 42 halved, rounded up
        proposals += positions * (9 * 256 * 256 + 256 * (3 + 12));
    }
    const Count boxes = Count{1000} * (256 * 7 * 7 * 1024 + 1024 * 1024 + 1024 * 5 * 91);
    const Count masks =
        Count{100} * (4 * 14 * 14 * 9 * 256 * 256 + 28 * 28 * (256 * 256 + 256 * 91)); // a 2 x 2 up
    const auto t = totals("mask-rcnn");
    CHECK(t.macs == backbone + pyramid + proposals + boxes + masks);
    CHECK(t.parameters == 44'401'393); // of torchvision's model
}

TEST_CASE("nnU-Net in three dimensions: weights and MACs of cubes of 3 x 3 x 3") {
    const std::array<Count, 6> width = {32, 64, 128, 256, 320, 320};
    const auto cube = [](Count edge) { return edge * edge * edge; };
    Count weights = 0;
    Count macs = 0;
    const auto conv = [&](Count in, Count out, Count taps, Count edge) {
        weights += in * out * taps;
        macs += in * out * taps * cube(edge);
    };
    Count norms = 0;
    const auto two = [&](Count in, Count out, Count edge) { // each with an instance norm
        conv(in, out, 27, edge);
        conv(out, out, 27, edge);
        norms += 4 * out;
    };
    Count edge = 128;
    for (std::size_t level = 0; level < width.size(); ++level) {
        edge = Count{128} >> level;
        two(level == 0 ? 5 : width[level - 1], width[level], edge);
    }
    for (std::size_t level = 5; level-- > 0;) {
        edge = Count{128} >> level;
        conv(width[level + 1], width[level], 8, edge / 2); // transposed, 2 x 2 x 2
        two(2 * width[level], width[level], edge);
    }
    for (const std::size_t level : {0, 1, 2}) { // a head for each of three resolutions
        conv(width[level], 3, 1, Count{128} >> level);
        weights += 3;
    }
    const auto t = totals("nnunet:batch=1");
    CHECK(t.parameters == weights + norms);
    CHECK(t.macs == macs);
}

} // namespace test_catalog_decided_networks
