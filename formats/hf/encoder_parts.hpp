// What encoders of texts, images, and sequences have in common while they are built.
#pragma once

#include "formats/hf/encoder_layer.hpp"
#include "formats/hf/encoders.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace eyeroof::formats::hf {

// The class that a configuration names first, "BertForMaskedLM"; empty where it names none.
std::string architecture_of(Config& c);
bool ends_with_any(const std::string& name, std::initializer_list<const char*> ends);
// Classes of a classifier: its labels, two where none are named.
Count classes_of(Config& c);

class EncoderParts {
  public:
    EncoderParts(Config& config, std::string_view type) : c_(config), type_(type) {}
    BuiltEncoder take() { return std::move(built_); }

  protected:
    bool is(std::string_view type) const { return type_ == type; }
    bool one_of(std::initializer_list<std::string_view> types) const {
        return std::ranges::find(types, type_) != types.end();
    }
    void parameters(const std::string& lines) {
        built_.parameters =
            "  " + lines + "\n  batch: {default: 1, min: 1, meaning: \"sequences, or images\"}\n";
    }
    void add(Operator op) { built_.blocks.add({std::move(op)}); }
    void classifier(Count width);
    void pooler(Count hidden);

    Config& c_;
    std::string_view type_;
    BuiltEncoder built_;
};

// Of texts; of images, and of both; of a sequence, or a sound, that a decoder continues.
BuiltEncoder build_text_encoder(Config& config, std::string_view type);
BuiltEncoder build_image_encoder(Config& config, std::string_view type);
BuiltEncoder build_sequence_encoder(Config& config, std::string_view type);

} // namespace eyeroof::formats::hf
