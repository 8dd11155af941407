// Traces of PyTorch's profiler put together for tests: operators of one thread, each with its
// kernels behind it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace eyeroof::tests {

class TraceText {
  public:
    // An operator of 10 us on the host; `args` are more fields of its "args" (", \"x\": 1").
    void op(const std::string& name, const std::string& dims, const std::string& types,
            const std::string& concrete = "[]", const std::string& args = "") {
        add(fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},"dur":10,)"
                        R"("args":{{"Input Dims":{},"Input type":{},"Concrete Inputs":{}{}}}}})",
                        name, host_, dims, types, concrete, args));
    }
    // Launched by the last operator, 5 us behind its begin; runs `us` and then the device rests 1.
    void kernel(const std::string& name, double us, const std::string& grid = "[8,1,1]") {
        call();
        add(fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},)"
                        R"("args":{{"correlation":{},"stream":7,"device":0,"grid":{},)"
                        R"("block":[128,1,1]}}}})",
                        name, device_, us, correlation_, grid));
        device_ += us + 1.0;
    }
    // The same on another stream, from that moment of the device on; the device's clock stays.
    void beside(const std::string& name, long stream, double at, double us) {
        call();
        add(fmt::format(
            R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},)"
            R"("args":{{"correlation":{},"stream":{},"device":0,"grid":[8,1,1],)"
            R"("block":[128,1,1]}}}})",
            name, stream, at, us, correlation_, stream));
    }
    double device_us() const { return device_; }
    // A module's call over so many operators from here.
    void module(const std::string& name, int operators) {
        add(fmt::format(R"({{"ph":"X","cat":"python_function","name":"nn.Module: {}","pid":1,)"
                        R"("tid":1,"ts":{},"dur":{},"args":{{}}}})",
                        name, host_ - 0.5, 20.0 * operators - 1.0));
    }
    void copy(const std::string& name, double us, long bytes) {
        call();
        add(fmt::format(
            R"({{"ph":"X","cat":"gpu_memcpy","name":"{}","pid":0,"tid":7,"ts":{},)"
            R"("dur":{},"args":{{"correlation":{},"stream":7,"device":0,"bytes":{}}}}})",
            name, device_, us, correlation_, bytes));
        device_ += us + 1.0;
    }
    void next() { host_ += 20.0; } // the next operator begins
    // A step of the program from here over so many operators.
    void step(int number, int operators) {
        add(fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,)"
                        R"("tid":1,"ts":{},"dur":{},"args":{{}}}})",
                        number, host_ - 1.0, 20.0 * operators));
    }
    std::string text(const std::string& gpu = "NVIDIA H100 80GB HBM3",
                     const std::string& more = "") const {
        return fmt::format(R"({{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"{}",)"
                           R"("computeMajor":9,"computeMinor":0,"numSms":132,)"
                           R"("totalGlobalMem":85018279936}}]{},"traceEvents":[{}]}})",
                           gpu, more, events_);
    }

  private:
    void call() {
        ++correlation_;
        add(fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,)"
                        R"("tid":1,"ts":{},"dur":2,"args":{{"correlation":{}}}}})",
                        host_ + 5.0, correlation_));
    }
    void add(const std::string& event) { events_ += (events_.empty() ? "" : ",") + event; }

    std::string events_;
    double host_ = 1000.0, device_ = 2000.0;
    int correlation_ = 0;
};

} // namespace eyeroof::tests
