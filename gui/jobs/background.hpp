// One piece of work at a time in the background: the newest wins, an older one is asked to stop.
#pragma once

#include "base/progress.hpp"

#include <QObject>
#include <functional>
#include <stop_token>
#include <thread>

namespace eyeroof::gui {

inline constexpr int kSlow_ms = 400; // quicker answers need no progress bar

class Background : public QObject {
    Q_OBJECT

  public:
    using Show = std::function<void()>; // what to do with the answer, in the window's thread
    using Job = std::function<Show(const std::stop_token&, const ProgressCallback&)>;

    explicit Background(QObject* parent = nullptr);
    ~Background() override;

    // The job runs in a thread of its own and may touch only what it holds by value. Its answer is
    // dropped when a newer job was given or the work was cancelled meanwhile.
    void run(Job job);
    void cancel();
    // The work is asked to stop, and what it has so far is still wanted.
    void stop_early();
    bool busy() const { return busy_; }

  signals:
    void progressed(const eyeroof::Progress& progress);
    void cancelled();

  private:
    void start(Job job);
    void finish(std::uint64_t number, const Show& show);
    ProgressCallback teller();

    std::jthread worker_;
    Job next_;                 // waits for the worker to stop
    std::uint64_t number_ = 0; // of the job whose answer is wanted
    bool busy_ = false;
};

} // namespace eyeroof::gui
