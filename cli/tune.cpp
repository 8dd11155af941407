// eyeroof tune: a program of its own, eyeroof-tune, that takes the place of this one.
#include "cli/tune_options.hpp"

namespace eyeroof::cli {

namespace {

Exit start_tune(Context& context) {
    const Environment& here = context.environment();
    const auto exit =
        here.start ? here.start("eyeroof-tune", context.arguments(), here)
                   : Result<int>::failure("unavailable", "`eyeroof tune` is a program of its own, "
                                                         "which is not started from here");
    return exit ? static_cast<Exit>(*exit) : context.fail(exit.diagnostics());
}

} // namespace

void add_tune(Frame& frame) {
    add_tune_command(frame,
                     [](Context& context, const TuneCommand&) { return start_tune(context); });
}

} // namespace eyeroof::cli
