"""What MuJoCo says of models in MJCF: writes a JSON file of masses, mass matrices, bias forces and accelerations at random states.

    python3 mujoco_models.py golden.json MODEL.xml ...

Per model: `mass` of what can move and of each body; `joints` with their places in `qpos` and `qvel`; per state `q`, `v`, `center` of mass of all bodies, the rows of the
lower triangle of `mass_matrix` (`mj_fullM`), `bias` (`qfrc_bias`), `passive` (springs and dampers of joints) and `acceleration` (`qacc`) without contact, limits,
equalities, tendons, friction and actuators. Units and orders are MuJoCo's.
"""

import json
import os
import sys

import mujoco
import numpy

N_STATES = 3
KINDS = ["free", "ball", "slide", "hinge"]


def numbers(values):
    return [float(value) for value in numpy.asarray(values).ravel()]


def load(path):
    model = mujoco.MjModel.from_xml_path(path)
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_ACTUATION
    for zero in [model.opt.wind, model.body_gravcomp, model.tendon_stiffness, model.tendon_damping]:
        zero[:] = 0
    model.opt.density = model.opt.viscosity = 0
    return model


def state(model, draw):
    data = mujoco.MjData(model)
    rates = draw.uniform(-1, 1, model.nv)
    data.qpos[:] = model.qpos0
    mujoco.mj_integratePos(model, data.qpos, draw.uniform(-1, 1, model.nv), 1.0)
    data.qvel[:] = rates
    mujoco.mj_forward(model, data)
    mass = numpy.zeros((model.nv, model.nv))
    # Until MuJoCo 3 the sparse matrix was given.
    mujoco.mj_fullM(model, mass, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, mass)
    moving = model.body_mass * (model.body_weldid != 0)
    center = moving @ data.xipos / max(moving.sum(), 1e-300)
    passive = data.qfrc_spring + data.qfrc_damper
    return {
        "q": numbers(data.qpos), "v": numbers(data.qvel), "center": numbers(center),
        "mass_matrix": [numbers(mass[i, : i + 1]) for i in range(model.nv)],
        "bias": numbers(data.qfrc_bias), "passive": numbers(passive), "acceleration": numbers(data.qacc),
    }


def describe(path):
    model = load(path)
    draw = numpy.random.RandomState(7)
    moving = [i for i in range(model.nbody) if model.body_weldid[i] != 0]
    name = lambda kind, i: mujoco.mj_id2name(model, kind, i) or ""
    joints = [
        {"name": name(mujoco.mjtObj.mjOBJ_JOINT, j), "kind": KINDS[model.jnt_type[j]], "q": int(model.jnt_qposadr[j]),
         "v": int(model.jnt_dofadr[j]), "body": name(mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[j])}
        for j in range(model.njnt)
    ]
    return {
        "mass": float(sum(model.body_mass[i] for i in moving)),
        "bodies": {name(mujoco.mjtObj.mjOBJ_BODY, i): float(model.body_mass[i]) for i in moving},
        "joints": joints, "states": [state(model, draw) for _ in range(N_STATES)],
    }


def main():
    out = {os.path.splitext(os.path.basename(path))[0]: describe(path) for path in sys.argv[2:]}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(model)}" for name, model in out.items())
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("{\n" + text + "\n}\n")


main()
