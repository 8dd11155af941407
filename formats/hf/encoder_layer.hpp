// Layers of encoders, and of decoders that read an encoder, as operators.
#pragma once

#include "formats/hf/blocks.hpp"

#include <string>

namespace eyeroof::formats::hf {

// Tokens of the stack that a layer belongs to, as expressions: all sequences together, and of one
// sequence what is computed and what is seen.
struct Tokens {
    std::string all = "words", own = "new", seen = "seen";
    std::string prefix; // of the operators' names
};

struct EncoderLayer {
    Count hidden = 1, heads = 1, kv = 1, size = 1, inner = 1;
    Count biases = 3; // queries, keys, and values that have one
    bool out_bias = true, mlp_bias = true, gated = false, rotary = false;
    Count norms = 2, norm_values = 2; // learned values of a norm for each feature
    Count extra = 0;                  // learned values beside: scales, tables of positions
    Count window = 0;                 // keys that a token sees; 0: all
    bool reads_encoder = false;       // attends to a second sequence, too
    Tokens tokens, read;              // `read`: of that sequence
};
Block encoder_layer(const EncoderLayer& layer);

// The same operators with the learned values of another block.
Block with_shared_weights(Block block);

// Operators of other tokens than "words".
Operator gemm_of(const Tokens& tokens, const char* name, Count outputs, Count inputs,
                 Count learned);
Operator norm_of(const Tokens& tokens, const char* name, Count width, Count learned);
Operator embedding_of(const Tokens& tokens, const char* name, Count width, Count rows);
Operator values_of(const char* name, Count learned); // learned values that take part in no product

} // namespace eyeroof::formats::hf
