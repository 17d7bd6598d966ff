"""What Pinocchio says of robots in URDF: writes a JSON file of masses, mass matrices, bias forces and accelerations at random states.

    python3 pinocchio_robots.py golden.json ROBOT.urdf ...

A robot whose root link has mass floats, otherwise the root is fixed. The layout is that of `mujoco_models.py`; the rates of a floating root are its linear and then its angular
velocity, both in the axes of the root link. `passive` are the dampers of joints, and `acceleration` is with them alone. The root link `world` is the world.
"""

import json
import os
import sys

import numpy
import pinocchio

draw = numpy.random.RandomState(7)


def numbers(values):
    return [float(value) for value in numpy.asarray(values).ravel()]


def angles(model, q):
    """Coordinates of hinges as angles, of slides, of what floats as place and quaternion w, x, y, z."""
    out = []
    for joint in model.joints[1:]:
        own = q[joint.idx_q : joint.idx_q + joint.nq]
        if joint.nq == 7:
            out += [*own[:3], own[6], *own[3:6]]
        else:
            out += [numpy.arctan2(own[1], own[0])] if joint.nq == 2 else list(own)
    return numbers(out)


def state(model):
    data = model.createData()
    q = pinocchio.integrate(model, pinocchio.neutral(model), draw.uniform(-1, 1, model.nv))
    v = draw.uniform(-1, 1, model.nv)
    mass = numpy.array(pinocchio.crba(model, data, q))
    mass = numpy.triu(mass) + numpy.triu(mass, 1).T
    bias = pinocchio.nonLinearEffects(model, data, q, v)
    passive = -numpy.asarray(model.damping) * v
    acceleration = pinocchio.aba(model, data, q, v, passive)
    center = pinocchio.centerOfMass(model, data, q)
    return {"q": angles(model, q), "v": numbers(v), "center": numbers(center),
            "mass_matrix": [numbers(mass[i, : i + 1]) for i in range(model.nv)],
            "bias": numbers(bias), "passive": numbers(passive), "acceleration": numbers(acceleration)}


def describe(path):
    model = pinocchio.buildModelFromUrdf(path)
    root = model.frames[1].name
    if root != "world" and model.inertias[0].mass > 0:
        model = pinocchio.buildModelFromUrdf(path, pinocchio.JointModelFreeFlyer())
    joints, at = [], 0
    for name, joint in list(zip(model.names, model.joints))[1:]:
        kind = "free" if joint.nv == 6 else "slide" if joint.shortname().startswith("JointModelP") else "hinge"
        links = [frame.name for frame in model.frames if frame.type == pinocchio.BODY and frame.parentJoint == joint.id]
        joints.append({"name": name, "kind": kind, "q": at, "v": joint.idx_v, "body": links[0]})
        at += 7 if joint.nv == 6 else 1
    return {"mass": float(sum(inertia.mass for inertia in list(model.inertias)[1:])), "joints": joints,
            "states": [state(model) for _ in range(3)]}


def main():
    out = {os.path.splitext(os.path.basename(path))[0]: describe(path) for path in sys.argv[2:]}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(model)}" for name, model in out.items())
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("{\n" + text + "\n}\n")


main()
