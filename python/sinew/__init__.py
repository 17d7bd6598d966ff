"""Dynamics of articulated characters: skeletons, closed loops, flesh and contact.

>>> import sinew
>>> world = sinew.load("hand")                 # a built-in scene, a file, or text
>>> report = world.step(10)
>>> world.poses.shape == (len(world.body_names), 7)
True

``docs/guide/python.md`` is the guide. Units are SI and radians, axes those of the world unless a name says otherwise. A pose is position and quaternion,
``x y z`` and ``x y z w``; a twist is angular velocity, then velocity.
"""

from __future__ import annotations

import os as _os

try:
    from ._sinew import (
        AssemblyReport,
        Batch,
        BodyDoc,
        Checkpoint,
        ColliderDoc,
        ContactDoc,
        Dynamics,
        EndDoc,
        Energy,
        Input,
        JointDoc,
        MotorDoc,
        Notice,
        RopeDoc,
        SceneDoc,
        Shape,
        SpringDoc,
        StepReport,
        World,
        after_fork as _after_fork,
        load_scene,
        scene_names,
        scene_text,
    )
except ModuleNotFoundError as _error:  # pragma: no cover - only without the compiled half
    if _error.name != "sinew._sinew":
        raise
    raise ImportError(
        "this is the source folder of sinew, without its compiled half: run `pip install ./python` in the repository, "
        "and start Python in another folder than `python`"
    ) from _error

from ._errors import BuildError, DynamicsError, NameUnknown, RestoreError, SceneError, SinewError
from ._gradient import Gradient, gradient
from ._views import Page, Picture
from .study import Member, Points, StudyDiffers, StudyInterrupted, Table, Uniform, latin, sobol, study

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_after_fork)

__version__ = "0.1.0"

__all__ = [
    "AssemblyReport",
    "Batch",
    "BodyDoc",
    "BuildError",
    "Checkpoint",
    "ColliderDoc",
    "ContactDoc",
    "Dynamics",
    "DynamicsError",
    "EndDoc",
    "Energy",
    "Gradient",
    "Input",
    "JointDoc",
    "Member",
    "MotorDoc",
    "NameUnknown",
    "Notice",
    "Page",
    "Picture",
    "Points",
    "RestoreError",
    "RopeDoc",
    "SceneDoc",
    "SceneError",
    "Shape",
    "SinewError",
    "SpringDoc",
    "StepReport",
    "StudyDiffers",
    "StudyInterrupted",
    "Table",
    "Uniform",
    "World",
    "gradient",
    "latin",
    "load",
    "load_scene",
    "scene_names",
    "scene_text",
    "sobol",
    "study",
]


def load(scene: str | _os.PathLike[str], *, root: str | None = None, flesh: bool = False) -> World:
    """A world of a scene: a path (``.ron``, ``.urdf``, ``.xml``, ``.sdf``, ``.gltf``, ``.glb``, ``.bvh``), the name of a built-in scene, or text itself.

    ``root`` holds the first body of a robot: ``"fixed"``, ``"free"`` or, as by default, ``"as_written"``. ``flesh`` puts flesh around a rig.

    Raises ``SceneError`` if it cannot be read, and ``BuildError`` if it cannot be built, with file, line and column.

    >>> world = sinew.load('(format: 1, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])])')
    >>> world.body_names
    ['ball']
    """
    return load_scene(scene, root=root, flesh=flesh).build()
