"""Gradients of rollouts against closed forms: free fall, and the cart-pole about its upright pose."""

import numpy as np
import pytest
import sinew

BALL = '(format: 1, dt: 0.01, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)], mass: Total(2))])'


def height(batch):
    return batch.poses[:, 0, 2]


def test_free_fall():
    n, h = 50, 0.01
    by = {"gravity": [0, 0, -9.81], "forces": np.zeros((1, 3)), "twists": np.zeros((1, 6))}
    found = sinew.gradient(BALL, height, by, n)
    fall = h * h * n * (n + 1) / 2  # of steps whose positions take the new velocity
    assert found.value == pytest.approx(-9.81 * fall, rel=1e-9)
    assert found.by["gravity"] == pytest.approx([0, 0, fall], abs=1e-9)
    assert found.by["forces"] == pytest.approx(np.array([[0, 0, fall / 2]]), abs=1e-9)
    assert found.by["twists"] == pytest.approx(np.array([[0, 0, 0, 0, 0, n * h]]), abs=1e-9)
    assert (found.method, found.n_rollouts) == ("central differences", 1 + 2 * 12)


def test_forces_of_each_step_count_by_the_time_that_is_left():
    n, h = 20, 0.01
    by = {"forces": np.zeros((n, 1, 3))}
    found = sinew.gradient(BALL, height, by, n, members=7)
    left = h * h * (n - np.arange(n)) / 2
    assert found.by["forces"].shape == (n, 1, 3)
    assert found.by["forces"][:, 0, 2] == pytest.approx(left, abs=1e-9)
    # The same by what was on the way.
    running = sinew.gradient(BALL, lambda batch: 0 * height(batch), by, n, running=lambda batch: batch.twists[:, 0, 5] * h)
    assert running.by["forces"][:, 0, 2] == pytest.approx(left, abs=1e-9)


def test_masses_are_parameters():
    # A force of 4 N on 2 kg: the way goes as 1 / mass.
    weightless = sinew.SceneDoc.from_ron(BALL).with_gravity([0, 0, 0])
    found = sinew.gradient(weightless, height, {"mass": 1.0, "forces": [[0, 0, 4.0]]}, 30)
    assert found.by["mass"] == pytest.approx(-found.value, rel=1e-6)


def test_the_cart_pole_goes_as_its_linearization():
    cart, pole, half, time = 1.0, 0.1, 0.5, 0.1
    inertia = pole * (1.0 + 0.06**2) / 12 + pole * half**2
    mass = np.array([[cart + pole, pole * half], [pole * half, inertia]])
    stiff = np.linalg.solve(mass, np.array([[0, 0], [0, pole * 9.81 * half]]))
    system = np.block([[np.zeros((2, 2)), np.eye(2)], [stiff, np.zeros((2, 2))]])
    wanted, term = np.eye(4), np.eye(4)
    for k in range(1, 20):
        term = term @ system * time / k
        wanted = wanted + term
    doc = sinew.SceneDoc("cart_pole")
    doc = (
        doc.add(sinew.BodyDoc("cart").shape(sinew.Shape.box([0.5, 0.3, 0.2])).mass(cart))
        .add(sinew.BodyDoc("pole").at([0, 0, 0.5]).shape(sinew.Shape.box([0.06, 0.06, 1.0])).mass(pole))
        .add(sinew.JointDoc("Prismatic", "rail", "cart").at([0, 0, 0]).axis([1, 0, 0]))
        .add(sinew.JointDoc("Hinge", "foot", "pole").parent("cart").at([0, 0, 0]).axis([0, 1, 0]))
        .set("dt", "0.0005")
    )
    world = doc.build()
    order = [world.dynamics().dof_names.index(name) for name in ("rail", "foot")]

    def readings(batch):
        columns = [batch.world.coordinate(name).start for name in ("rail", "foot")]
        return np.hstack([batch.joint_positions[:, columns], batch.joint_rates[:, columns]])

    found = sinew.gradient(world, readings, {"coordinates": [0, 0], "rates": [0, 0]}, round(time / 0.0005))
    jacobian = np.hstack([found.by["coordinates"][:, order], found.by["rates"][:, order]])
    assert np.abs(jacobian - wanted).max() < 2e-3


def test_wrong_parameters_are_refused():
    for by, what in [({"wind": [0]}, "wind"), ({"gravity": [0, 0, np.nan]}, "finite"), ({"twists": np.zeros((1, 6)), "rates": [0]}, "both")]:
        with pytest.raises(ValueError, match=what):
            sinew.gradient(BALL, height, by, 3)
    with pytest.raises(ValueError, match="rows for 3 steps"):
        sinew.gradient(BALL, height, {"forces": np.zeros((2, 1, 3))}, 3)
    with pytest.raises(ValueError, match="a row for each"):
        sinew.gradient(BALL, lambda batch: 1.0, {"gravity": [0, 0, -1]}, 3)
