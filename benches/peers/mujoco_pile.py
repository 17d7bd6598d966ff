"""A pile of cubes in MuJoCo, a step for every line that is read.

The first line is a JSON object: `edge`, `density`, `friction`, `dt`, `gravity` and `poses`, [x, y, z, qw, qx, qy, qz] each. Every other line asks for a
step, which is answered by a JSON object: `seconds` of the step alone, `poses`, `energy` (J, kinetic and of gravity) and `speed` (m/s, the largest).
Solver and contact have MuJoCo's defaults, but for the friction, sliding only.
"""

import json
import sys
import time

import mujoco


def text(values):
    return " ".join(repr(float(value)) for value in values)


given = json.loads(sys.stdin.readline())
half = given["edge"] / 2
surface = f'friction="{given["friction"]} 0 0" condim="3"'
cubes = "".join(
    f'<body pos="{text(pose[:3])}" quat="{text(pose[3:])}"><freejoint/>'
    f'<geom type="box" size="{half} {half} {half}" density="{given["density"]}" {surface}/></body>'
    for pose in given["poses"]
)
model = mujoco.MjModel.from_xml_string(
    f'<mujoco><option timestep="{given["dt"]}" gravity="{text(given["gravity"])}"><flag energy="enable"/></option><size memory="1G"/>'
    f'<worldbody><geom type="plane" size="0 0 1" {surface}/>{cubes}</worldbody></mujoco>'
)
data = mujoco.MjData(model)


def answer(seconds):
    mujoco.mj_energyPos(model, data)
    mujoco.mj_energyVel(model, data)
    poses = data.qpos.reshape(-1, 7)
    speed = max((sum(v * v for v in twist[:3]) ** 0.5 for twist in data.qvel.reshape(-1, 6)), default=0.0)
    state = {"seconds": seconds, "poses": poses.tolist(), "energy": float(sum(data.energy)), "speed": speed}
    print(json.dumps(state), flush=True)


mujoco.mj_forward(model, data)
answer(0.0)
for _ in sys.stdin:
    start = time.perf_counter()
    mujoco.mj_step(model, data)
    seconds = time.perf_counter() - start
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    answer(seconds)
