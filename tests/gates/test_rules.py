"""Every rule fails on a small bad sample and passes on a good one."""

from . import rules


def test_a_file_or_function_can_be_too_long() -> None:
    text = "def f():\n    x = 1\n    return x\n"
    assert rules.long_file("m", text, limit=2) == ["m: 3 lines, 2 allowed"]
    assert rules.long_file("m", text, limit=3) == []
    assert rules.long_functions("m", text, limit=2) == ["m:1: f has 3 lines, 2 allowed"]
    assert (
        rules.long_functions("m", "class A:\n    async def g(self):\n        1\n        2\n", limit=2) != []
    )
    assert rules.long_functions("m", text, limit=3) == []


def test_machine_paths_are_found() -> None:
    assert rules.machine_paths("m", "see /wo" + "rk/main/x") != []
    assert rules.machine_paths("m", "/ro" + "ot/.cache") != []
    assert rules.machine_paths("m", "the net" + "work/log, /usr/bin, ./wo" + "rk/x") == []


def test_marks_need_an_owner() -> None:
    assert rules.ownerless_marks("m", "# TO" + "DO later") == ["m: TO" + "DO without an owner"]
    assert rules.ownerless_marks("m", "# TO" + "DO(ada) later") == []


def test_docstrings_are_demanded() -> None:
    assert rules.missing_docstring("m", "x = 1") == ["m: no docstring"]
    assert rules.missing_docstring("m", '"""Text."""') == []
    assert rules.silent_folder("d", None) == ["d: no __init__.py"]
    assert rules.silent_folder("d", '"""Some things."""') != []
    assert rules.silent_folder("d", '"""Some things. May import errors."""') == []


def test_stubs_and_skips_are_found() -> None:
    assert rules.stubs("m", "def f():\n    raise NotImplementedError\n") == ["m:2: not implemented"]
    assert rules.stubs("m", "def f():\n    raise NotImplementedError('x')\n") == ["m:2: not implemented"]
    assert rules.stubs("m", "def f():\n    raise ValueError\n") == []
    assert rules.skipped_tests("m", "import pytest\npytest.sk" + "ip('no kcat')\n") == ["m:2: sk" + "ip"]
    assert rules.skipped_tests("m", "import pytest\n@pytest.mark.xf" + "ail\ndef f(): pass\n") != []
    assert rules.skipped_tests("m", "import pytest\n@pytest.mark.long\ndef f(): pass\n") == []


def test_the_import_order_is_read_and_enforced() -> None:
    order = rules.import_order("First ``errors check``, then\n``wire``, then ``net``.")
    assert order == ["errors", "check", "wire", "net"]
    good = {
        "k.errors": "",
        "k.wire": "from k.errors import E",
        "k.net.a": "from k.wire import x\nfrom . import b",
    }
    assert rules.wrong_way_imports(good, order, {"k.wire"}) == []
    bad = {
        "k.wire": "def f():\n    from k.net import server\n",
        "k.errors": "import k.check\n",
        "k.check": "from . import wire\n",
        "k.extra": "",
    }
    assert rules.wrong_way_imports(bad, order, {"k.wire"}) == [
        "k.check imports k.wire, which comes after check",
        "k.errors imports k.check, which comes after errors",
        "k.extra: extra has no place in the import order",
        "k.wire imports k.net, which comes after wire",
    ]


def test_a_docstring_names_what_is_imported() -> None:
    sources = {
        "k.net": "from k.errors import E",
        "k.net.a": "import k.wire.b\nfrom . import c",
        "k.log.d": "import k.disk",
    }
    assert rules.untold_imports("k.net", "May import ``errors wire``.", sources) == []
    assert rules.untold_imports("k.net", "Sockets. May import ``wire check``; no more.", sources) == [
        "k.net imports errors, which its docstring does not name"
    ]
    assert rules.untold_imports("k.net", "May import everything.", sources) == []


def test_dead_modules_are_found() -> None:
    sources = {
        "k": "",
        "k.a": "from k import b",
        "k.b": "TABLE = {1: 'sub.c', 2: 'k.e', 3: 'k.f:command'}",
        "k.sub": "",
        "k.sub.c": "",
        "k.sub.d": "",
        "k.e": "",
        "k.f": "",
        "k.main": "",
        "k.sub.__main__": "from k.main import run",
        "k.tool": "if __name__ == '__main__':\n    pass\n",
        "k.alone": "import k.alone",
    }
    complaints = rules.dead_modules(sources, {"k", "k.sub"}, ["k.main"])
    assert complaints == [
        "k.a: nothing imports it",
        "k.alone: nothing imports it",
        "k.sub.d: nothing imports it",
    ]
