"""Every example in a docstring runs, and everything that is public has a docstring."""

import doctest
import inspect
import sys

import pytest
import sinew
from sinew import _errors, _folder, _gradient, _member, _points, _runners, _table, _views

PARSER = doctest.DocTestParser()
NEEDS = {"latin": "scipy", "sobol": "scipy"}


def documented():
    """Pairs of a name and a documented thing: the package, its functions and classes, and their methods and properties."""
    yield "sinew", sinew
    for name in sinew.__all__:
        thing = getattr(sinew, name)
        yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value
    yield "as_ron", _points.as_ron
    yield "named", _member.named


@pytest.mark.parametrize("name, thing", list(documented()), ids=lambda value: value if isinstance(value, str) else "it")
def test_examples_of(name, thing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    text = inspect.getdoc(thing)
    if not text:
        assert not callable(thing) and not inspect.isdatadescriptor(thing), f"{name} has no docstring"
        return
    test = PARSER.get_doctest(text, {"sinew": sinew}, name, None, None)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.failed == 0


def test_modules_of_the_package_have_headers():
    for module in [sinew, _errors, _folder, _gradient, _member, _points, _runners, _table, _views, sys.modules["sinew.study"]]:
        assert module.__doc__
