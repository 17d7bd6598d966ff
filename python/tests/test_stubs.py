"""The types in ``_sinew.pyi`` are those of the compiled half: the same classes, the same members, the same parameters."""

import ast
import inspect
from pathlib import Path

import pytest
import sinew
from sinew import _sinew

STUBS = ast.parse(Path(sinew.__file__).with_name("_sinew.pyi").read_text())
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
HIDDEN = {"world_from_parts", "scene_from_parts", "batch_from_parts", "bench_steps", "bench_batch"}


def parameters(node):
    arguments = node.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args if argument.arg != "self"]
    return names + ([arguments.vararg.arg] if arguments.vararg else [])


def test_all_names_have_types():
    functions = {node.name for node in STUBS.body if isinstance(node, ast.FunctionDef)}
    public = {name for name in dir(_sinew) if not name.startswith("_")} - HIDDEN
    assert public == functions | set(CLASSES)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_members_of_a_class_have_types(name):
    there = {member for member in vars(getattr(_sinew, name)) if not member.startswith("_")}
    typed = {}
    for node in CLASSES[name].body:
        if isinstance(node, ast.FunctionDef):
            typed.setdefault(node.name, node)
        elif isinstance(node, ast.AnnAssign):
            typed[node.target.id] = None
    assert there == {member for member in typed if not member.startswith("_")}
    for member, node in typed.items():
        found = inspect.getattr_static(getattr(_sinew, name), member)
        if node is None or inspect.isdatadescriptor(found) or member.startswith("_") or node.args.kwonlyargs:
            continue
        signature = inspect.signature(getattr(getattr(_sinew, name), member))
        real = [parameter for parameter in signature.parameters if parameter != "self"]
        assert real == parameters(node), f"{name}.{member}"
