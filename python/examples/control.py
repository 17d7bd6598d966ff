"""Computed torques hold an arm along a path: inverse dynamics of the model, a feedback on top."""

import numpy as np
import sinew
from sinew import BodyDoc, JointDoc, SceneDoc, Shape

link = Shape.box([0.5, 0.05, 0.05])
scene = (
    SceneDoc("arm")
    .add(BodyDoc("upper").at([0.25, 0, 0]).shape(link), BodyDoc("lower").at([0.75, 0, 0]).shape(link))
    .add(JointDoc("Hinge", "shoulder", "upper").axis([0, 1, 0]))
    .add(JointDoc("Hinge", "elbow", "lower").parent("upper").at([0.5, 0, 0]).axis([0, 1, 0]))
    .set("dt", "0.002")
)
world = scene.build()
worst = 0.0
for _ in range(1000):
    t = world.time
    wanted = np.array([0.5, -0.8]) * (1 - np.cos(2 * t))
    rate = np.array([0.5, -0.8]) * 2 * np.sin(2 * t)
    acceleration = np.array([0.5, -0.8]) * 4 * np.cos(2 * t)
    error, error_rate = wanted - world.joint_positions, rate - world.joint_rates
    world.input.efforts = world.dynamics().inverse(acceleration + 400 * error + 40 * error_rate)
    world.step()
    worst = max(worst, np.abs(error).max())
print(f"largest error: {worst:.4f} rad")
jacobian = world.dynamics().jacobian("lower", [0.25, 0, 0])
print("the tip moves at", np.round(jacobian[3:] @ world.dynamics().rates, 3), "m/s")
assert worst < 0.02
