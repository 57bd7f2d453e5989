"""scripts/setup, with the package manager replaced: nothing is installed here."""
import os

import pytest
from conftest import SOURCE, run, run_well

SETUP = SOURCE / "scripts/setup"
EVERYTHING_IS_INSTALLED = "echo installed"
NOTHING_IS_INSTALLED = "exit 1"


@pytest.fixture
def machine(tmp_path):
    """A function that makes a machine of given commands and returns its environment; what apt-get was asked is in
    the file `asked`."""
    def make(**commands):
        commands = {"dpkg_query": NOTHING_IS_INSTALLED, "id": "echo 0",
                    "apt_cache": "echo Package",
                    "apt_get": f'echo "$DEBIAN_FRONTEND $*" >>{tmp_path}/asked'} | commands
        for name, text in commands.items():
            command = tmp_path / name.replace("_", "-")
            command.write_text(f"#!/bin/sh\n{text}\n")
            command.chmod(0o755)
        return {"env": os.environ | {"PATH": f"{tmp_path}:/usr/bin:/bin"}}
    return make


def test_says_nothing_where_nothing_is_missing(machine, tmp_path):
    assert run_well(SETUP, "--test", **machine(dpkg_query=EVERYTHING_IS_INSTALLED)) == ""
    assert not (tmp_path / "asked").exists()


def test_installs_what_is_missing(machine, tmp_path):
    only_cmake_is_missing = '[ "$3" = cmake ] || echo installed'
    assert run_well(SETUP, **machine(dpkg_query=only_cmake_is_missing)) == "scripts/setup: installing cmake\n"
    assert (tmp_path / "asked").read_text().splitlines() == [
        "noninteractive -qq update", "noninteractive -qq install --yes --no-install-recommends cmake"]


def test_the_demonstration_and_the_tests_need_more(machine, tmp_path):
    def asked_by(*arguments):
        (tmp_path / "asked").unlink(missing_ok=True)
        run_well(SETUP, *arguments, **machine())
        return set((tmp_path / "asked").read_text().split())

    assert asked_by("--demo") - asked_by() == {"libsimgrid-dev"}
    assert asked_by("--test") - asked_by("--demo") >= {"lammps", "python3-pytest"}


@pytest.mark.parametrize("installed, offered, asked", [
    ("clang-19 libclang-rt-19-dev", "clang-16 libclang-rt-16-dev", set()),
    ("clang-17", "clang-17 libclang-rt-17-dev clang-19 libclang-rt-19-dev", {"clang-17", "libclang-rt-17-dev"}),
    ("", "clang-16 clang-22 libclang-rt-22-dev", {"clang-22", "libclang-rt-22-dev"}),
    ("", "", set()),
])
def test_takes_the_clang_that_the_system_has(machine, tmp_path, installed, offered, asked):
    def among(word, names):
        return f'case " {names} " in *" {word} "*)'
    dpkg_query = f'case "$3" in *clang-[0-9]*|*clang-rt-*|*kokkos*) {among("$3", installed)} echo installed;; esac;; *) echo installed;; esac'
    run_well(SETUP, "--test", **machine(dpkg_query=dpkg_query, apt_cache=f'{among("$2", offered)} ;; *) exit 1;; esac'))
    words = (tmp_path / "asked").read_text().split() if (tmp_path / "asked").exists() else []
    assert {word for word in words if "clang" in word} == asked


def test_asks_sudo_if_it_is_not_root(machine):
    environment = machine(id="echo 1000", sudo='echo "sudo $1" >&2; exec "$@"', apt_get='echo "as $*"')
    assert run(SETUP, **environment).returncode == 0


def test_tells_why_it_failed(machine):
    result = run(SETUP, **machine(apt_get="echo 'E: no network' >&2; exit 100"))
    assert result.returncode == 1
    assert "E: no network" in result.stderr and "apt-get update failed" in result.stderr


def test_usage():
    assert run_well(SETUP, "--help").startswith("usage: scripts/setup")
    result = run(SETUP, "--wrong")
    assert result.returncode == 2 and "--wrong" in result.stderr
