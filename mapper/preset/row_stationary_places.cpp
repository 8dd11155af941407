#include "mapper/preset/row_stationary_places.hpp"

#include <limits>

namespace eyeroof::mapper::rs {

using namespace model; // NOLINT(google-build-using-namespace): one file, one vocabulary

std::optional<std::size_t> buffer_of(const Accelerator& accelerator, std::size_t array, Operand o) {
    for (std::size_t level = array + 1; level-- > 1;) {
        if (store_of(accelerator.levels[level], o) != nullptr) {
            return level;
        }
    }
    return std::nullopt;
}

namespace {

Count words_in(const Accelerator& accelerator, std::size_t level, Operand o) {
    const Store* store = store_of(accelerator.levels[level], o);
    if (store == nullptr || !store->capacity_bytes) {
        return std::numeric_limits<Count>::max();
    }
    return *store->capacity_bytes * 8 / (accelerator.word_bits[index(o)] * store->buffers);
}

const Store* buffer_store(const Accelerator& accelerator, std::size_t array, Operand o) {
    const auto level = buffer_of(accelerator, array, o);
    return level ? store_of(accelerator.levels[*level], o) : nullptr;
}

double buffer_bytes(const Accelerator& accelerator, std::size_t array, Operand o,
                    Count free_banks) {
    const Store* store = buffer_store(accelerator, array, o);
    if (store == nullptr || !store->capacity_bytes) {
        return std::numeric_limits<double>::infinity();
    }
    return static_cast<double>((*store->capacity_bytes - free_banks * store->bank_bytes) /
                               store->buffers);
}

bool in_one_store(const Accelerator& accelerator, std::size_t array, Operand a, Operand b) {
    const Store* store = buffer_store(accelerator, array, a);
    return store != nullptr && store == buffer_store(accelerator, array, b);
}

Room room_of(const Accelerator& accelerator, std::size_t array, Count free_banks) {
    Room room;
    const std::size_t spad = accelerator.levels.size() - 1;
    room.filter_spad = words_in(accelerator, spad, Operand::weight);
    room.input_spad = words_in(accelerator, spad, Operand::input);
    room.psum_spad = words_in(accelerator, spad, Operand::output);
    room.input_word_bytes = accelerator.word_bits[index(Operand::input)] / 8.0;
    room.filter_word_bytes = accelerator.word_bits[index(Operand::weight)] / 8.0;
    room.psum_word_bytes = accelerator.word_bits[index(Operand::output)] / 8.0;
    room.buffer_bytes = buffer_bytes(accelerator, array, Operand::output, free_banks);
    room.input_buffer_bytes = buffer_bytes(accelerator, array, Operand::input, free_banks);
    room.filter_buffer_bytes = buffer_bytes(accelerator, array, Operand::weight, 0);
    room.together = in_one_store(accelerator, array, Operand::input, Operand::output);
    return room;
}

} // namespace

std::optional<Places> places_of(const Accelerator& accelerator, const Dataflow& dataflow) {
    const auto rule = [&](const std::string& axis) {
        for (const SpatialRule& r : dataflow.spatial) {
            if (r.axis == axis) {
                return r.dims;
            }
        }
        return DimSet{};
    };
    for (std::size_t level = 0; level + 1 < accelerator.levels.size(); ++level) {
        const auto& fanout = accelerator.levels[level].fanout;
        for (std::uint8_t y = 0; y < fanout.size(); ++y) {
            for (std::uint8_t x = 0; x < fanout.size(); ++x) {
                if (x != y && rule(fanout[y].name).contains(Dim::R) &&
                    rule(fanout[x].name).contains(Dim::P)) {
                    Places places{level, y, x, fanout[y].size, fanout[x].size, {}, {}};
                    places.room = room_of(accelerator, level, dataflow.free_banks);
                    places.one_axis = dataflow.repeats_on_one_axis;
                    return places;
                }
            }
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::mapper::rs
