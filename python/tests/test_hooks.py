"""What other tools call: the GitHub Action's script, the pre-commit hooks, and the Dockerfile's packages."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

import pytest

import eyeroof as er

SOURCES = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def tools(tmp_path):
    """A PATH with `eyeroof` as this package's command line, and a `gh` that keeps what it is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, body in (("eyeroof", f'exec "{sys.executable}" -m eyeroof "$@"'),
                       ("gh", 'printf "%s\\n" "$@" > "$GH_SAID"')):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "GH_SAID": str(tmp_path / "gh"),
            "PYTHONPATH": str(pathlib.Path(er.__file__).parents[1])}


def run_block(text):
    """The script of a composite action's last step."""
    blocks = re.findall(r"^      run: \|\n((?:        .*\n|\n)+)", text, re.M)
    return textwrap.dedent(blocks[-1])


def git(folder, *words):
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words], cwd=folder,
                          check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("wider, code", [(1024, 0), (4096, 1)])
def test_the_action_fails_a_pull_request_that_is_slower(tools, tmp_path, wider, code):
    script = run_block((SOURCES / "examples/github/action.yml").read_text(encoding="utf-8"))
    repository = tmp_path / "repository"
    repository.mkdir()

    def commit(width):
        (repository / "net.yaml").write_text(
            f"name: net\nsource: own\nlayers:\n  - {{name: fc, op: gemm, m: 4096, n: {width}, k: 1024}}\n")
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", str(width))
        return git(repository, "rev-parse", "HEAD")

    git(repository, "init", "-q")
    base = commit(1024)
    git(repository, "commit", "-q", "--allow-empty", "-m", "same") if wider == 1024 else commit(wider)
    environment = {**tools, "NETWORK": "net.yaml", "MACHINE": "t4", "OPTIONS": "--launch graph",
                   "FAIL_IF": "net.time_change > 0.05", "BASE": base, "NUMBER": "7",
                   "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    done = subprocess.run(["bash", "-c", script], cwd=repository, env=environment, capture_output=True,
                          text=True)
    assert done.returncode == code, done.stderr
    summary = (tmp_path / "summary").read_text()
    assert "net, inference, batch 1, fp16 on Tesla T4" in summary
    assert ("fc" in summary) == (wider != 1024)  # the layer that became slower
    said = (tmp_path / "gh").read_text().split("\n")
    assert said[:3] == ["pr", "comment", "7"]
    assert git(repository, "worktree", "list").count("\n") == 0  # the base's is removed


def test_the_hooks_accept_good_files_and_refuse_wrong_ones(tools, tmp_path):
    hooks = dict(re.findall(r"^- id: (\S+)\n(?:  .*\n)*?  entry: (.*)$",
                            (SOURCES / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), re.M))
    assert set(hooks) == {"eyeroof-networks", "eyeroof-machines"}
    good = {"eyeroof-networks": er.network("alexnet").yaml(), "eyeroof-machines": er.command("hw", "show", "t4")}
    for hook, text in good.items():
        path = tmp_path / f"{hook}.yaml"
        for content, right in ((text, True), (text.replace("name:", "nmae:", 1), False)):
            path.write_text(content)
            done = subprocess.run([*shlex.split(hooks[hook]), str(path)], env=tools, capture_output=True,
                                  text=True)
            assert (done.returncode == 0) == right, (hook, done.stderr)
            assert right or f"{path.name}:" in done.stderr


def test_the_image_installs_every_library_that_the_build_needs():
    needed = re.findall(r"^eyeroof_need\w*\(.*?([\w-]+-dev|[\w.]+-dev)(?: NO_MODULE)?\)",
                        (SOURCES / "cmake/eyeroof_dependencies.cmake").read_text(encoding="utf-8"), re.M)
    assert len(needed) >= 9
    image = (SOURCES / "Dockerfile").read_text(encoding="utf-8")
    assert not [library for library in needed if library not in image]
    assert "python/make_wheel.sh" in image and os.access(SOURCES / "python/make_wheel.sh", os.X_OK)
