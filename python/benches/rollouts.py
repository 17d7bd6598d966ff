"""Rollouts beside ``mujoco.rollout``: run it as ``python python/benches/rollouts.py``, after ``pip install ./python mujoco``.

Both engines read the same MJCF files (``benches/models``), and their members begin in the same poses with the same velocities, which differ from member
to member. Both make the same steps of the same length, with what they do by default. Members make their rollouts in groups. The engines take turns, group by
group; of several runs of a group the shortest counts, since other programs only add to it. How far joints come apart and how deep bodies sink in is computed from the
poses of bodies by the same formulas for both.
"""

import argparse
import os
import platform
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

MODELS = Path(__file__).parent / "models"
SAMPLED = 20
"""Poses are judged every so many steps."""

GROUP = 50
"""Members per group."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=["cart_pole", "person", "person_on_ground"])
    return parser.parse_args()


OPTIONS = arguments()
# Before the library starts its threads.
os.environ["RAYON_NUM_THREADS"] = str(OPTIONS.threads)

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
import sinew  # noqa: E402
from mujoco import rollout  # noqa: E402


def groups():
    """Members that make their rollouts together."""
    return [slice(begin, min(begin + GROUP, OPTIONS.members)) for begin in range(0, OPTIONS.members, GROUP)]


def begins(model, n):
    """States of so many members, as MuJoCo writes them, and poses and twists of their bodies."""
    rng, data = np.random.default_rng(7), mujoco.MjData(model)
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.zeros((n, mujoco.mj_stateSize(model, spec)))
    poses, twists = np.zeros((n, model.nbody - 1, 7)), np.zeros((n, model.nbody - 1, 6))
    for k in range(n):
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, rng.uniform(-0.05, 0.05, model.nv), 1.0)
        data.qvel[:] = rng.uniform(-0.5, 0.5, model.nv)
        mujoco.mj_forward(model, data)
        mujoco.mj_getState(model, data, states[k], spec)
        poses[k] = poses_of(data)
        for body in range(1, model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twists[k, body - 1], 0)
    return states, poses, twists


def poses_of(data):
    """Poses of the bodies, quaternions as x y z w."""
    return np.concatenate([data.xpos[1:], np.roll(data.xquat[1:], -1, axis=1)], axis=1)


def turned(quaternions, vectors):
    """Vectors turned by quaternions x y z w."""
    twice = 2 * np.cross(quaternions[..., :3], vectors)
    return vectors + quaternions[..., 3:] * twice + np.cross(quaternions[..., :3], twice)


def gaps(model, poses):
    """Largest distance of the two anchors of a joint (m), across the slide if it slides, and largest angle between the axes of a hinge (rad)."""
    apart = aslant = 0.0
    for joint in np.flatnonzero(model.jnt_type != mujoco.mjtJoint.mjJNT_FREE):
        child, kind = model.jnt_bodyid[joint], model.jnt_type[joint]
        parent, at = model.body_parentid[child], model.jnt_pos[joint]
        place, turn = model.body_pos[child], np.roll(model.body_quat[child], -1)
        mine = poses[:, child - 1]
        other = poses[:, parent - 1] if parent else np.broadcast_to([0.0] * 6 + [1.0], mine.shape)
        axis = turned(mine[:, 3:], model.jnt_axis[joint])
        there = turned(other[:, 3:], turned(turn, model.jnt_axis[joint]))
        gap = mine[:, :3] + turned(mine[:, 3:], at) - other[:, :3] - turned(other[:, 3:], place + turned(turn, at))
        if kind == mujoco.mjtJoint.mjJNT_SLIDE:
            gap -= np.sum(gap * there, axis=1, keepdims=True) * there
        if kind != mujoco.mjtJoint.mjJNT_BALL:
            aslant = max(aslant, np.linalg.norm(np.cross(axis, there), axis=1).max())
        apart = max(apart, np.linalg.norm(gap, axis=1).max())
    return apart, aslant


def beyond(model, angles):
    """How far hinges are beyond their limits at most, rad."""
    limited = model.jnt_limited.astype(bool)
    low, high = model.jnt_range[limited].T
    return max(0.0, (low - angles).max(), (angles - high).max()) if limited.any() else 0.0


def depth(model, poses):
    """How deep boxes, capsules and spheres are below the ground at z = 0 at most, m."""
    deepest, of = 0.0, mujoco.mjtGeom
    for geom in np.flatnonzero(model.geom_bodyid):
        pose, size, kind = poses[:, model.geom_bodyid[geom] - 1], model.geom_size[geom], model.geom_type[geom]
        # Corners of a box, ends of a capsule, the middle of a sphere, and a radius around them.
        half = size if kind == of.mjGEOM_BOX else np.array([0, 0, size[1] if kind == of.mjGEOM_CAPSULE else 0])
        radius, turn = 0.0 if kind == of.mjGEOM_BOX else size[0], np.roll(model.geom_quat[geom], -1)
        for signs in np.ndindex(2, 2, 2):
            corner = model.geom_pos[geom] + turned(turn, half * (2 * np.array(signs) - 1))
            deepest = max(deepest, float((radius - pose[:, 2] - turned(pose[:, 3:], corner)[:, 2]).max()))
    return deepest


def judged(model, poses, angles, touches):
    return np.array([*gaps(model, poses), beyond(model, angles), depth(model, poses) if touches else np.nan])


class Mujoco:
    """Its rollout, with one ``MjData`` per thread, and arrays that are made before."""

    name = f"MuJoCo {mujoco.__version__}"

    def __init__(self, model, begin, touches):
        self.model, self.begin, self.touches = model, begin[0], touches
        self.data = [mujoco.MjData(model) for _ in range(OPTIONS.threads)]
        self.states = np.zeros((OPTIONS.members, OPTIONS.steps, self.begin.shape[1]))
        self.pool = rollout.Rollout(nthread=OPTIONS.threads)

    def run(self, group):
        begin = time.perf_counter()
        self.pool.rollout(self.model, self.data, self.begin[group], nstep=OPTIONS.steps, state=self.states[group])
        return time.perf_counter() - begin

    def errors(self):
        data, spec = self.data[0], mujoco.mjtState.mjSTATE_FULLPHYSICS
        hinges = self.model.jnt_qposadr[self.model.jnt_limited.astype(bool)]
        worst = np.zeros(4)
        for step in range(SAMPLED - 1, OPTIONS.steps, SAMPLED):
            poses, angles = np.zeros((OPTIONS.members, self.model.nbody - 1, 7)), np.zeros((OPTIONS.members, len(hinges)))
            for k in range(OPTIONS.members):
                mujoco.mj_setState(self.model, data, self.states[k, step], spec)
                mujoco.mj_kinematics(self.model, data)
                poses[k], angles[k] = poses_of(data), data.qpos[hinges]
            worst = np.maximum(worst, judged(self.model, poses, angles, self.touches))
        return worst


class Sinew:
    """Batches."""

    name = f"Sinew {sinew.__version__}"

    def __init__(self, model, path, begin, touches):
        self.model, self.touches = model, touches
        scene = sinew.load(path)
        self.batches = {group.start: sinew.Batch(scene, group.stop - group.start) for group in groups()}
        world = scene
        names = [model.body(body).name for body in range(1, model.nbody)]
        # Rows of both engines, by name.
        self.rows = [world.body(name) for name in names]
        limited = [model.joint(joint).name for joint in np.flatnonzero(model.jnt_limited)]
        self.hinges = [world.coordinate(name).start for name in limited]
        self.poses, self.twists = np.zeros(begin[1].shape), np.zeros(begin[2].shape)
        self.poses[:, self.rows], self.twists[:, self.rows] = begin[1], begin[2]

    def run(self, group):
        batch = self.batches[group.start]
        batch.reset()
        batch.place(self.poses[group], self.twists[group])
        begin = time.perf_counter()
        batch.step(OPTIONS.steps)
        return time.perf_counter() - begin

    def errors(self):
        worst = np.zeros(4)
        for begin, batch in self.batches.items():
            group = slice(begin, begin + GROUP)
            batch.reset()
            batch.place(self.poses[group], self.twists[group])
            for _ in range(OPTIONS.steps // SAMPLED):
                batch.step(SAMPLED)
                poses, angles = batch.poses[:, self.rows], batch.joint_positions[:, self.hinges]
                worst = np.maximum(worst, judged(self.model, poses, angles, self.touches))
            assert not batch.is_lost.any()
        return worst


def compared(name):
    path = MODELS / f"{name}.xml"
    model = mujoco.MjModel.from_xml_path(str(path))
    touches = "ground" in name
    begin = begins(model, OPTIONS.members)
    engines = [Sinew(model, path, begin, touches), Mujoco(model, begin, touches)]
    times = [[[engine.run(group) for engine in engines] for group in groups()] for _ in range(OPTIONS.rounds)]
    for engine, best in zip(engines, np.min(times, axis=0).sum(axis=0)):
        apart, aslant, over, deep = engine.errors()
        rate = OPTIONS.members * OPTIONS.steps / best
        cells = [name, engine.name, f"{rate:,.0f}", f"{1e6 / rate:.2f}", f"{apart:.1e}", f"{aslant:.1e}", f"{over:.3f}"]
        yield "| " + " | ".join([*cells, "–" if np.isnan(deep) else f"{1e3 * deep:.1f}"]) + " |"


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    now = datetime.now(timezone.utc).date()
    print(f"{OPTIONS.members} members, {OPTIONS.steps} steps, {OPTIONS.threads} threads; {processor()}, {os.cpu_count()} cores, {platform.system()}; {now}")
    print(f"Python {platform.python_version()}, the shortest of {OPTIONS.rounds} runs of each group\n")
    print("| model | engine | steps per second | µs per step | joints apart, m | axes aslant, rad | beyond limits, rad | below ground, mm |")
    print("|---|---|---|---|---|---|---|---|")
    for name in OPTIONS.only:
        for row in compared(name):
            print(row)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
