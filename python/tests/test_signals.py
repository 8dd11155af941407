"""Ctrl-C ends a call that takes long, and soon."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

LONG = {
    "command": 'er.command("map", "resnet50", "--on", "eyeriss-v1", "--factors", "any")',
    "map": 'er.map("resnet50", on="eyeriss-v1", factors="any")',
    "exam": 'er.exam("resnet50", on="eyeriss-v1", mapping="best")',
    "sweep": 'er.sweep("alexnet", on="npu-int8", vary={"axes.kernel": "1:64:1", "clock": "100 MHz:1 GHz:1 MHz"})',
}


@pytest.mark.parametrize("call", LONG.values(), ids=list(LONG))
def test_a_call_is_interrupted_within_a_tenth_of_a_second(call):
    program = textwrap.dedent(f"""
        import os, signal, sys, threading, time
        import eyeroof as er

        sent = []

        def interrupt():
            time.sleep(0.5)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            {call}
            print("ended")
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0])
        os._exit(0)
        """)
    times = []
    for _ in range(3):  # the least of three: machines that run tests are busy
        answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert answer.stdout.strip() != "ended", "the call is too short for this test"
        times.append(float(answer.stdout))
        if min(times) <= 0.1:
            break
    assert min(times) <= 0.1


def test_the_command_line_ends_with_the_usual_status():
    child = subprocess.Popen([sys.executable, "-m", "eyeroof", "map", "resnet50", "--on", "eyeriss-v1",
                              "--factors", "any"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=1.0)
    os.kill(child.pid, signal.SIGINT)
    said = child.communicate(timeout=10)[1]
    assert child.returncode == 130 and b"Traceback" not in said
