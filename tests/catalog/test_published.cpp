// Networks of the catalog against what their authors, or the libraries that ship them, publish.
#include "tests/catalog/totals.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace test_catalog_published {

using namespace eyeroof;
using eyeroof::tests::totals;

namespace {

struct Published {
    const char* network;
    Count parameters;      // exact; 0: not published in full
    double macs;           // as published, 0: not published
    double within = 0.005; // of the published MACs, which are rounded
};

void hold(const std::vector<Published>& all) {
    for (const Published& p : all) {
        CAPTURE(p.network);
        const model::NetworkTotals t = totals(p.network);
        if (p.parameters > 0) {
            CHECK(t.parameters == p.parameters);
        }
        if (p.macs > 0.0) {
            CAPTURE(t.macs);
            CHECK(std::abs(static_cast<double>(t.macs) - p.macs) <= p.within * p.macs);
        }
    }
}

} // namespace

TEST_CASE("image networks have the parameters and MACs that torchvision publishes") {
    hold({{"mobilenet-v2", 3'504'872, 0.301e9},
          {"mobilenet-v3-large", 5'483'032, 0.2166e9},
          {"mobilenet-v3-small", 2'542'856, 0.0565e9},
          {"efficientnet-b0", 5'288'548, 0.386e9},
          {"convnext-t", 28'589'128, 4.456e9},
          {"convnext-s", 50'223'688, 8.684e9},
          {"convnext-b", 88'591'464, 15.355e9},
          {"convnext-l", 197'767'336, 34.361e9},
          {"mask-rcnn", 44'401'393, 0}});
}

TEST_CASE("YOLOv8 has the parameters and half of the FLOPs that are published") {
    hold({{"yolov8n", 3'157'200, 8.7e9 / 2, 0.01}, // one digit behind the point
          {"yolov8s", 11'166'560, 28.6e9 / 2},
          {"yolov8m", 25'902'640, 78.9e9 / 2}});
}

TEST_CASE("models for images and words have the parameters that are published") {
    hold({{"clip-vit-b-32", 151'277'313, 0},
          {"clip-vit-b-16", 149'620'737, 0},
          {"clip-vit-l-14", 427'616'513, 0},
          {"sdxl-unet", 2'567'463'684, 0}});
}

TEST_CASE("diffusion transformers have the operations of the paper's table") {
    hold({{"dit-xl-2", 675'129'632, 118.64e9},
          {"dit-l-2", 0, 80.71e9},
          {"dit-b-2", 0, 23.01e9},
          {"dit-s-2", 0, 6.06e9}});
}

TEST_CASE("T5 and Whisper have the parameters that are published") {
    hold({{"t5-small", 60'506'624, 0},
          {"t5-base", 222'903'552, 0},
          {"t5-large", 737'668'096, 0},
          {"t5-3b", 2'851'598'336, 0},
          {"t5-11b", 11'307'321'344, 0},
          {"whisper-tiny", 37'184'640, 0},
          {"whisper-base", 71'825'920, 0},
          {"whisper-small", 240'582'912, 0},
          {"whisper-medium", 762'321'920, 0},
          {"whisper-large-v2", 1'541'384'960, 0}});
}

TEST_CASE("Gemma and DeepSeek-V3 have the parameters that are published") {
    hold({{"gemma-2b", 2'506'172'416, 0},
          {"gemma-7b", 8'537'680'896, 0},
          {"gemma-2-2b", 2'614'341'888, 0},
          {"gemma-2-9b", 9'241'705'984, 0},
          {"gemma-2-27b", 27'227'128'320, 0},
          {"deepseek-v3", 671'026'419'200, 0}});
}

TEST_CASE("latent attention costs what the equations say, expanded and absorbed alike") {
    // One word on top of 4095: all weights that a word meets, and attention over 4096 words.
    const double h = 7168;
    const double attention = 128.0 * 4096 * (576 + 512); // a head: keys of 576, values of 512
    const double projections = h * 1536 + 1536.0 * 128 * 192 + h * 576 + 128.0 * 128 * 512 +
                               128.0 * 512 * 128 + 128.0 * 128 * h;
    const double dense = 3 * h * 18432;
    const double sparse = h * 256 + 9 * 3 * h * 2048; // eight experts and the shared one
    const double expected = 61 * (attention + projections) + 3 * dense + 58 * sparse + 129280.0 * h;
    CHECK(static_cast<double>(totals("deepseek-v3:new=1,context=4095,absorbed=1").macs) ==
          expected);
    // Expanded: keys and values of all 4096 words again, and heads of 192 and 128.
    const double expanded = expected + 61 * (128.0 * 4096 * (192 + 128) - attention +
                                             4096.0 * 512 * 128 * 256 - 2 * 128.0 * 128 * 512);
    CHECK(static_cast<double>(totals("deepseek-v3:new=1,context=4095,absorbed=0").macs) ==
          expanded);
}

TEST_CASE("windowed layers of Gemma 2 see no more than their window") {
    const double far = static_cast<double>(totals("gemma-2-2b:new=1,context=8191").macs);
    const double all = static_cast<double>(totals("gemma-2-2b:new=1,context=8191,windowed=0").macs);
    CHECK(all - far == 13.0 * 2 * 8 * 256 * (8192 - 4096)); // scores and values of 13 layers
}

TEST_CASE("a step of Whisper's decoder does not run its encoder again") {
    const double step =
        static_cast<double>(totals("whisper-tiny:new=1,context=100,encoder=0,cross=0").macs);
    const double d = 384;
    const double layer = 4 * d * d + 2 * 101 * d + 2 * d * d + 2 * 1500 * d + 8 * d * d;
    CHECK(step == 4 * layer + 51865 * d);
}

TEST_CASE("a batch multiplies every network's work") {
    for (const char* name : {"mobilenet-v2", "mobilenet-v3-small", "efficientnet-b0", "convnext-t",
                             "yolov8n", "dit-s-2", "sdxl-unet", "t5-small"}) {
        CAPTURE(name);
        const double one = static_cast<double>(totals(std::string(name) + ":batch=1").macs);
        const double four = static_cast<double>(totals(std::string(name) + ":batch=4").macs);
        CHECK(four == 4 * one);
    }
}

} // namespace test_catalog_published
