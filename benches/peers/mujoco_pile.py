"""Boxes with joints in MuJoCo: a step for every line that is read, or a rollout of many states.

The first line is a JSON object: `density`, `friction`, `dt`, `gravity` and `boxes`, each with `parent` (a number, or -1), `pose` in the frame of the parent ([x, y, z,
qw, qx, qy, qz]), `half`, and if it has a parent `anchor` and `axis` of its joint in its own frame (an axis of null is a ball). With `rollout` ({"roots": poses of
the first box, "steps": n}) all states make n steps on one thread, which is answered by `seconds`. Otherwise every other line asks for a step, which is answered by
`seconds` of the step alone, `poses`, `energy` (J, kinetic and of gravity) and `speed` (m/s, the largest). Solver and contact have MuJoCo's defaults, but for the
friction, sliding only.
"""

import json
import sys
import time

import mujoco
import numpy


def text(values):
    return " ".join(repr(float(value)) for value in values)


given = json.loads(sys.stdin.readline())
boxes = given["boxes"]
surface = f'density="{given["density"]}" friction="{given["friction"]} 0 0" condim="3"'


def joint(box):
    if box["parent"] < 0:
        return "<freejoint/>"
    if box["axis"] is None:
        return f'<joint type="ball" pos="{text(box["anchor"])}"/>'
    return f'<joint type="hinge" pos="{text(box["anchor"])}" axis="{text(box["axis"])}"/>'


def element(number):
    box = boxes[number]
    inner = "".join(element(child) for child in children[number])
    head = f'<body name="{number}" pos="{text(box["pose"][:3])}" quat="{text(box["pose"][3:])}">'
    return f'{head}{joint(box)}<geom type="box" size="{text(box["half"])}" {surface}/>{inner}</body>'


children = [[] for _ in boxes]
for number, box in enumerate(boxes):
    if box["parent"] >= 0:
        children[box["parent"]].append(number)
roots = "".join(element(number) for number, box in enumerate(boxes) if box["parent"] < 0)
model = mujoco.MjModel.from_xml_string(
    f'<mujoco><option timestep="{given["dt"]}" gravity="{text(given["gravity"])}"><flag energy="enable"/></option><size memory="1G"/>'
    f'<worldbody><geom type="plane" size="0 0 1" {surface}/>{roots}</worldbody></mujoco>'
)
data = mujoco.MjData(model)
# bodies are numbered in the order of the tree
ids = [model.body(str(number)).id for number in range(len(boxes))]


def speed():
    twist, most = numpy.zeros(6), 0.0
    for body in ids:
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, twist, 0)
        most = max(most, float(numpy.linalg.norm(twist[3:])))
    return most


def answer(seconds):
    mujoco.mj_energyPos(model, data)
    mujoco.mj_energyVel(model, data)
    poses = numpy.concatenate([data.xpos[ids], data.xquat[ids]], axis=1).tolist()
    state = {"seconds": seconds, "poses": poses, "energy": float(sum(data.energy)), "speed": speed()}
    print(json.dumps(state), flush=True)


def roll(roots, steps):
    from mujoco import rollout

    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = numpy.zeros((len(roots), mujoco.mj_stateSize(model, spec)))
    for state, root in zip(states, roots):
        mujoco.mj_resetData(model, data)
        data.qpos[:7] = root
        mujoco.mj_getState(model, data, state, spec)
    start = time.perf_counter()
    rollout.rollout(model, [data], states, nstep=steps)
    print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


if "rollout" in given:
    roll(**given["rollout"])
    sys.exit()
mujoco.mj_forward(model, data)
answer(0.0)
for _ in sys.stdin:
    start = time.perf_counter()
    mujoco.mj_step(model, data)
    seconds = time.perf_counter() - start
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    answer(seconds)
