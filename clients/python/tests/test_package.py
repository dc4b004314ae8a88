"""The published package: typed, without dependencies, as wheel and sdist, with a reference."""

import ast
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

HERE = pathlib.Path(__file__).parents[1]
SOURCES = sorted((HERE / "src" / "junctiond").glob("*.py"))


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr


def needed(module):
    """Skips the test if the tool is missing: run-tests downloads it if there is a network."""
    pytest.importorskip(module)


def needed_mypy():
    needed("mypy")
    if int(importlib.metadata.version("mypy").partition(".")[0]) < 2:
        pytest.skip("this mypy is older than the one in requirements.txt")


def test_mypy_strict(tmp_path):
    needed_mypy()
    run(sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), cwd=HERE)


def test_pyright_strict():
    needed("pyright")
    run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, cwd=HERE)


def test_an_app_is_checked_against_the_types(tmp_path):
    needed_mypy()
    program = tmp_path / "app.py"
    program.write_text(
        "from junctiond import Client, Snapshot\n"
        "def state(client: Client) -> str:\n"
        "    snapshot: Snapshot = client.status()\n"
        "    return snapshot.state\n"
        "wrong: int = Client().token().token\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(HERE / "src")}, cwd=tmp_path,
    )
    assert done.stdout.count("error:") == 1 and "app.py:5" in done.stdout, done.stdout


def test_it_needs_nothing_but_the_standard_library():
    optional = {"httpx_auth.py": {"httpx"}, "requests_auth.py": {"requests"}}
    for source in SOURCES:
        found = set()
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.split(".")[0])
        # For type checkers only.
        found -= {"typing_extensions"} if source.name == "_messages.py" else set()
        assert found - sys.stdlib_module_names <= optional.get(source.name, set()), source


def test_everything_runs_on_the_oldest_python():
    for source in SOURCES:
        ast.parse(source.read_text(), feature_version=(3, 9))


def test_wheel_and_sdist(tmp_path):
    needed("build")
    needed("setuptools")
    sources = tmp_path / "sources"
    shutil.copytree(HERE, sources, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(sources))

    (wheel,) = tmp_path.glob("junctiond-*-py3-none-any.whl")
    (sdist,) = tmp_path.glob("junctiond-*.tar.gz")
    expected = {f"junctiond/{source.name}" for source in SOURCES} | {"junctiond/py.typed"}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert {name for name in names if ".dist-info/" not in name} == expected
        (metadata,) = [name for name in names if name.endswith("/METADATA")]
        text = archive.read(metadata).decode()
        assert "Requires-Python: >=3.9" in text
        requirements = [line for line in text.splitlines() if line.startswith("Requires-Dist:")]
        assert all("extra ==" in line for line in requirements)
        archive.extractall(tmp_path / "installed")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        assert {f"src/{name}" for name in expected} <= names
    # It works without other packages.
    run(
        sys.executable, "-I", "-S", "-W", "error", "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); import junctiond; junctiond.Client('/x')",
    )


def test_reference(tmp_path):
    needed("pdoc")
    run(str(HERE / "make-reference"), str(tmp_path), env={**os.environ, "PYTHON": sys.executable})
    page = (tmp_path / "junctiond.html").read_text()
    assert "The session of this device" in page and 'id="Client.token"' in page
    assert "@private" not in page and 'id="Snapshot.read"' not in page
