"""A hand whose motors follow targets, with an effort and a force on top; then back to where it was."""

import numpy as np
import sinew

world = sinew.load("hand")
print(world, "motors:", len(world.motor_names))
before = world.checkpoint()

world.input.targets[:] = 0.3  # rad, every motor
world.input.efforts[world.coordinate("index_near")] = -0.002  # N·m
world.input.forces[world.body("palm")] = [0, 0, 0.5]  # N
report = world.step(120)
print(report, "good" if world.is_good else world.notices)
print("angles:", np.round(world.joint_positions[:4], 3))

digest = world.digest
world.restore(before)
world.step(120)
print("the same bits again:", world.digest == digest)
