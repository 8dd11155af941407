// The two conventions of counting what moves and what is held; never mixed.
// Chosen by the reader of a mapping or by the user; read by the code that counts (cost, mapping,
// mapper).
#pragma once

namespace eyeroof::model {

// eyeroof: distinct words; overlapping halos are shared by multicast networks and counted exactly;
// the first visit of a partial sum needs no read. timeloop: the rules of Timeloop's default
// back-end; a window is a box, with the words that a stride passes over.
enum class Counting { eyeroof, timeloop };

} // namespace eyeroof::model
