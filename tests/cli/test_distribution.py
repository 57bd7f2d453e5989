"""What is handed out: the source tarball, the recipes for package managers, and that they say the same."""
import hashlib
import os
import re
import shutil
import sys
import tarfile
from types import ModuleType

import pytest
from conftest import SOURCE, run, run_well

VERSION = re.search(r"^project\(hdtrace VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def dependencies():
    """(use, Debian package, Spack spec) of each line of the table."""
    lines = (SOURCE / "scripts/dependencies.txt").read_text().splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """What scripts/package makes of the source."""
    folder = tmp_path_factory.mktemp("packages")
    run_well(SOURCE / "scripts/package", "--source", "--spack", "--output", folder)
    return folder


def test_all_say_the_same_version():
    assert re.match(r"hdtrace \((.*?)\)", (SOURCE / "debian/changelog").read_text())[1] == VERSION
    assert f"## [{VERSION}]" in (SOURCE / "CHANGELOG.md").read_text()


def test_debian_packages_are_built_with_what_the_build_needs():
    field = re.search(r"^Build-Depends:\n((?: .*\n)*)", (SOURCE / "debian/control").read_text(), re.MULTILINE)[1]
    asked = {re.split(r"[ (,]", line.strip())[0] for line in field.splitlines()}
    # Of the table: g++ comes with every build environment, Python with its development files.
    wanted = {package for use, package, _ in dependencies() if use == "build"} - {"g++", "python3"}
    assert asked - wanted == {"debhelper-compat", "dh-python", "mpich", "libmpich-dev"}
    assert wanted <= asked


def test_the_source_can_be_configured_without_git(packages, tmp_path):
    with tarfile.open(packages / f"hdtrace-{VERSION}.tar.xz") as archive:
        archive.extractall(tmp_path)
    run_well("cmake", "--preset", "release", "-B", tmp_path / "build", cwd=tmp_path / f"hdtrace-{VERSION}",
             env=os.environ | {"GIT_DIR": str(tmp_path / "none"), "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"})


def test_the_source_is_packed_the_same_way_again(packages, tmp_path):
    run_well(SOURCE / "scripts/package", "--source", "--output", tmp_path)
    name = f"hdtrace-{VERSION}.tar.xz"
    assert (tmp_path / name).read_bytes() == (packages / name).read_bytes()


def test_the_spack_recipe_names_the_source_and_what_it_needs(packages, monkeypatch):
    said = {"version": [], "depends_on": []}
    spack = ModuleType("spack.package")
    spack.CMakePackage = object
    for name in ("version", "depends_on", "license", "extends"):
        setattr(spack, name, lambda *args, _name=name, **options: said.setdefault(_name, []).append((args, options)))
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", spack)
    recipe = packages / "spack/packages/hdtrace/package.py"
    names = {}
    exec(compile(recipe.read_text(), recipe, "exec"), names)
    source = packages / f"hdtrace-{VERSION}.tar.xz"
    assert said["version"] == [((VERSION,), {"sha256": hashlib.sha256(source.read_bytes()).hexdigest()})]
    assert names["Hdtrace"].url == f"file://{source}"
    specs = [":".join((",".join(options["type"]), spec)) for (spec,), options in said["depends_on"]]
    assert specs == [spec for _, _, spec in dependencies() if spec != "-"]


def test_big_endian_processors_are_refused_by_name(tmp_path):
    """A compiler is enough, it need not be able to link."""
    compiler = next((name for name in ("clang", *(f"clang-{version}" for version in range(16, 23))) if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("there is no Clang, which compiles for all processors")
    target = [f"-DCMAKE_{language}_COMPILER{option}" for language, name in (("C", compiler), ("CXX", compiler.replace("clang", "clang++")))
              for option in (f"={name}", "_TARGET=s390x-linux-gnu")]
    result = run("cmake", "-S", SOURCE, "-B", tmp_path, "-G", "Ninja", "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=s390x",
                 "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", *target)
    assert result.returncode == 1 and "little-endian processors only; s390x is big-endian" in result.stderr
