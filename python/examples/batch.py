"""Sixty-four hands on all cores: each under its own gravity, friction of its motors' joints, and random efforts."""

import numpy as np
import sinew

rng = np.random.default_rng(1)
batch = sinew.Batch("hand", 64, auto_reset=1.0)
batch.gravity = np.column_stack([np.zeros((64, 2)), rng.uniform(-12, -8, 64)])
batch.vary(mass=rng.uniform(0.8, 1.2, 64), joint_damping=rng.uniform(0.5, 2, 64))
for _ in range(90):
    batch.input.efforts[:] = rng.normal(0, 1e-3, batch.input.efforts.shape)
    batch.step()
    if batch.is_done.any():
        print(f"{batch.is_done.sum()} members are done at {batch.times.max():.2f} s")
heights = batch.poses[:, :, 2]
print("poses:", batch.poses.shape, f"lowest body {heights.min():.3f} m, all good: {batch.is_good.all()}")
