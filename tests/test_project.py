"""The shape of the project: who may import whom, what is public, how much loading it costs."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import deniable as dn
from tests import ROOT
from tests.twins import prints_the_same_without

SOURCE = Path(dn.__file__).parent
# A module imports only from its own folder and from those before it.
ORDER = [
    "errors",
    "arrays",
    "plugins",
    "verbs",
    "kernels",
    "core",
    "domains",
    "mechanisms",
    "wrappers",
    "privacy",
    "postprocess",
    "testing",
    "metrics",
    "planning",
    "analysis",
    "discovery",
    "graphs",
    "files",
    "aggregate",
    "audit",
    "invitations",
    "survey",
    "device",
    "mixing",
    "collector",
    "learning",
    "cli",
]
PACKAGES = {
    "deniable": SOURCE,
    "deniable_learn": ROOT / "packages" / "deniable-learn" / "src" / "deniable_learn",
    "research": ROOT / "research",
}
WORKSPACE = {*PACKAGES, "benchmarks", "examples", "tests"}
# What each package may import of the workspace; nothing that is shipped depends on what is not.
ALLOWED = {
    "deniable": {"deniable"},
    "deniable_learn": {"deniable", "deniable_learn"},
    "research": {"deniable", "deniable_learn", "research", "benchmarks"},
}


def imported(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "deniable":
            names += [f"deniable.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def test_imports_go_one_way() -> None:
    broken = []
    for path in SOURCE.rglob("*.py"):
        inside = path.relative_to(SOURCE).parts
        own = inside[0].removesuffix(".py")
        if own in ("__init__", "__main__", "cli"):
            continue
        for name in imported(path):
            if name.split(".")[0] == "deniable":
                target = name.split(".")[1] if "." in name else ""
                if target not in ORDER or ORDER.index(target) > ORDER.index(own):
                    broken.append(f"{'/'.join(inside)} imports {name}")
    assert not broken, "\n".join(broken)


def test_packages_import_one_way() -> None:
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*.py")
        for name in imported(path)
        if name.split(".")[0] in WORKSPACE - ALLOWED[package]
    ]
    assert not broken, "\n".join(broken)


def test_every_folder_has_its_place() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name not in ("__pycache__", "data")}
    assert folders == set(ORDER) - {"arrays", "errors", "metrics", "plugins", "verbs"}


def test_public_names_are_listed_once_and_exist() -> None:
    assert dn.__all__ == sorted(dn.__all__)
    submodules = {path.stem for path in SOURCE.iterdir()}
    public = {name for name in vars(dn) if not name.startswith("_")} - submodules - {"Path", "import_module", "re"}
    assert public <= set(dn.__all__)
    for name in dn.__all__:
        assert getattr(dn, name).__doc__, f"{name} has no docstring"


def _unchecked(path: Path) -> list[str]:
    """The public functions and methods of a module with `Any` in their signature, or an alias that holds it; and aliases."""
    tree = ast.parse(path.read_text())
    aliases = {"Any"}

    def held(annotation: ast.AST | None) -> bool:
        names = (node for node in ast.walk(annotation) if isinstance(node, ast.Name | ast.Constant)) if annotation else ()
        return any((node.id if isinstance(node, ast.Name) else str(node.value)) in aliases for node in names)

    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and not any(isinstance(each, ast.Call) for each in ast.walk(node))
            and held(node.value)
        ):
            aliases |= {name.id for name in node.targets if isinstance(name, ast.Name)}
    found = [f"{path.name}: {name}" for name in aliases - {"Any"} if not name.startswith("_")]
    inside = [node for cls in tree.body if isinstance(cls, ast.ClassDef) and cls.name[0] != "_" for node in cls.body]
    for node in [*tree.body, *inside]:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            if any(held(each.annotation) for each in given if each) or held(node.returns):
                found.append(f"{path.name}: {node.name}")
    return found


def test_no_public_signature_of_the_core_holds_any() -> None:
    """Nor do `Domain` and `Mechanism` without arguments: their type variables are `object` and arrays unless given."""
    assert [found for path in sorted((SOURCE / "core").glob("*.py")) for found in _unchecked(path)] == []
    generics = [line for line in (SOURCE / "core" / "domain.py").read_text().splitlines() if "TypeVar(" in line]
    assert len(generics) == 4 and not any("Any" in line for line in generics)


def test_the_search_for_any_finds_it(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(
        "Loose = dict[str, Any]\ndef f(a: 'Any') -> int: ...\ndef g(a: Loose): ...\ndef h(a: int): ...\n"
        "class C:\n    def m(self) -> list[Any]: ...\n    def _n(self) -> Any: ...\n"
    )
    assert _unchecked(tmp_path / "made.py") == ["made.py: Loose", "made.py: f", "made.py: g", "made.py: m"]


def test_import_is_light() -> None:
    """Nothing heavy is loaded by the import, nor by randomizing and certifying one answer."""
    heavy = ["numba", "scipy", "pyarrow", "matplotlib", "pandas", "click", "rich", "distributed", "pyspark"]
    heavy += ["starlette", "uvicorn", "psycopg", "sqlite3", "urllib.request", "http.server"]
    heavy += ["torch", "flwr", "sklearn"]
    code = f"""
import sys, deniable as dn
mechanism = dn.SubsetSelection(dn.Categories(["yes", "no", "maybe"]), epsilon=1.0)
mechanism.estimate(mechanism.tally(mechanism.perturb(["yes"])))
assert dn.certify(mechanism).holds
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "[]"


LOADED = "import sys; print(sum(name.split('.')[0] == 'deniable' for name in sys.modules), 'numpy' in sys.modules)"
FIRST = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[0]
HELP = "from deniable.cli.main import main\nmain(['--help'], standalone_mode=False)"


@pytest.mark.parametrize(
    ("code", "most", "numpy"),
    [("import deniable", 40, False), (HELP, 40, False), (FIRST, 120, True)],
    ids=["import", "help", "first-example"],
)
def test_loading_takes_few_modules(code: str, most: int, numpy: bool) -> None:
    """Modules of ours; their time is a figure of `make bench`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LOADED}"], capture_output=True, text=True, check=True, timeout=300
    )
    modules, loads_numpy = done.stdout.split()[-2:]
    assert int(modules) <= most
    assert loads_numpy == str(numpy)


def test_files_are_named_after_a_class_in_them() -> None:
    """Those of mechanisms and wrappers, whatever the case; files without any class are named after what they compute."""
    wrong = []
    for folder in (*(f"mechanisms/{each}" for each in ("shares", "means", "vectors", "releases", "key_value")), "wrappers"):
        for path in (SOURCE / folder).glob("[a-z]*.py"):
            classes = {node.name.lower() for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)}
            if classes and path.stem.replace("_", "") not in classes:
                wrong.append(f"{folder}/{path.name} holds {', '.join(sorted(classes))}")
    assert not wrong, "\n".join(wrong)


def test_it_works_without_any_extra() -> None:
    """With numba, pyarrow and matplotlib out of reach, bulk work gives the same reports as with them."""
    code = """
import hashlib, numpy as np, deniable as dn
for make in (dn.DirectResponse, dn.Unary, dn.SubsetSelection):
    mechanism = make(dn.Categories(range(60)), 1.0)
    reports = mechanism.perturb(np.arange(30_000) % 60, dn.SeededCoins(1))
    print(hashlib.sha256(mechanism.pack(reports)).hexdigest(), mechanism.count(reports).sum())
"""
    assert prints_the_same_without(("numba", "pyarrow", "matplotlib"), code)


def _endless(path: Path) -> Iterator[str]:
    """Calls that wait for a process, a thread or an answer for as long as it takes."""
    tree = ast.parse(path.read_text())
    awaited = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Await)}  # `finished` limits these
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not {"timeout", None} & {word.arg for word in node.keywords}:
            name = ast.unparse(node.func)
            method = name.rpartition(".")[2]
            waits = method in ("join", "wait", "communicate", "acquire") and not node.args and id(node) not in awaited
            if waits or name in ("subprocess.run", "subprocess.check_output", "asyncio.run") or method == "urlopen":
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {name}"


def test_every_wait_of_a_test_has_a_limit() -> None:
    """One that has none may hang, and nobody learns where: tests/waits.py has what to use."""
    paths = [path for path in (ROOT / "tests").rglob("*.py") if path.name not in ("waits.py", "fuzz.py")]
    assert not [line for path in paths for line in _endless(path)]


def test_arrays_are_named_in_one_place() -> None:
    named = re.findall(r"^\w+ = (NDArray\[np\.\w+\])$", (SOURCE / "arrays.py").read_text(), re.MULTILINE)
    assert len(named) == len(set(named)) > 5
    others = [path for path in SOURCE.rglob("*.py") if path.name != "arrays.py"]
    assert [(str(path), name) for path in others for name in named if name in path.read_text()] == []


def test_modules_are_small() -> None:
    long = {
        str(path.relative_to(SOURCE)): n for path in SOURCE.rglob("*.py") if (n := len(path.read_text().splitlines())) > 400
    }
    assert not long


def test_no_page_has_the_marks_of_a_merge() -> None:
    marks = re.compile(r"^(<{7} .*|={7}|>{7} .*)$", re.MULTILINE)
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "changelog.d").iterdir(),
        *(ROOT / "research").rglob("*.md"),
    ]
    assert len(pages) > 50
    assert not [page for page in pages if page.is_file() and marks.search(page.read_text())]
