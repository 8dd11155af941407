"""What importing the package and a call cost: python python/tests/bench_calls.py"""

import subprocess
import sys
import time

CODE = "import time; t = time.perf_counter(); import eyeroof; print(time.perf_counter() - t)"


def of_one(call, times: int) -> float:
    call()
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times


def main() -> None:
    imports = [float(subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True)
                     .stdout) for _ in range(5)]
    print(f"import            {1e3 * min(imports):8.2f} ms")
    import eyeroof as er

    # One layer of a small network on a GPU: the examination itself is a few microseconds.
    layer = dict(on="a100-sxm-40gb", layers="^CONV1$")
    print(f"network by name   {1e3 * of_one(lambda: er.network('alexnet'), 1000):8.4f} ms")
    print(f"exam of one layer {1e3 * of_one(lambda: er.exam('alexnet', **layer), 1000):8.4f} ms")
    print(f"exam of resnet50  {1e3 * of_one(lambda: er.exam('resnet50', on=layer['on']), 20):8.4f} ms")


if __name__ == "__main__":
    main()
