"""A pendulum in code: built, stepped, read as arrays, drawn."""

import numpy as np
import sinew
from sinew import BodyDoc, JointDoc, SceneDoc, Shape

scene = (
    SceneDoc("pendulum")
    .add(BodyDoc("rod").at([0.5, 0, 0]).shape(Shape.box([1, 0.05, 0.05])))
    .add(JointDoc("Hinge", "pivot", "rod").axis([0, 1, 0]))
    .set("dt", "0.01")
)
world = scene.build()
start = world.energy.total
angles = np.empty(200)
for step in range(200):
    world.step()
    angles[step] = world.joint_positions[0]
print(f"it swings from {np.degrees(angles.min()):.0f}° to {np.degrees(angles.max()):.0f}°")
print(f"energy after 2 s: {world.energy.total - start:+.2e} J, gap of the joint: {world.violation[0]:.1e} m")
print("picture:", world.picture(size=(600, 400)).save("pendulum.png"))
