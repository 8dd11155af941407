// How the program's memory is given back.
// Called by the mains of the window, before any thread begins.
#pragma once

namespace eyeroof::gui {

// Examinations run on many short-lived tasks of several threads. By default the C library keeps a
// heap a thread and raises its limits as blocks are freed, so that what the window holds looks as
// if it grew for as long as it is used. One heap with fixed limits gives more of it back. Lower
// limits (64 KiB) keep memory level, but let a frame of the plot take twice as long.
void keep_memory_level();

} // namespace eyeroof::gui
