"""Joint-space dynamics against each other and against differences."""

import numpy as np
import pytest
import sinew


@pytest.fixture
def moving():
    world = sinew.load("hand")
    world.step(12)
    return world.dynamics()


def test_mass_matrix_and_bias_make_inverse_dynamics(moving):
    n = moving.n_dofs
    accelerations = np.random.default_rng(1).normal(size=n)
    mass, bias = moving.mass_matrix(), moving.bias()
    assert mass == pytest.approx(mass.T, abs=1e-12) and np.linalg.eigvalsh(mass).min() > 0
    torques = moving.inverse(accelerations)
    assert torques == pytest.approx(mass @ accelerations + bias, abs=1e-9)
    assert moving.forward(torques) == pytest.approx(accelerations, abs=1e-5)
    coriolis = moving.coriolis_matrix() @ moving.rates + moving.gravity_forces()
    assert coriolis == pytest.approx(bias, abs=1e-9)
    assert moving.kinetic_energy == pytest.approx(0.5 * moving.rates @ mass @ moving.rates)


def test_derivatives_are_those_of_differences(moving):
    n, h = moving.n_dofs, 1e-6
    torques = np.random.default_rng(2).normal(0, 1e-3, n)
    by_q, by_v, by_tau = moving.forward_derivatives(torques)
    assert by_tau == pytest.approx(np.linalg.inv(moving.mass_matrix()), rel=1e-6, abs=1e-3)
    rates, start = moving.rates, moving.coordinates
    scale_v, scale_q = np.abs(by_v).max(), np.abs(by_q).max()
    for k in range(0, n, 5):
        step = np.eye(n)[k] * h
        plus, minus = moving.forward(torques, rates=rates + step), moving.forward(torques, rates=rates - step)
        assert by_v[:, k] == pytest.approx((plus - minus) / (2 * h), abs=1e-5 * scale_v)
        sides = []
        for sign in [1, -1]:
            moving.move_to(start, rates)
            moving.move_to(moving.advanced(sign * step, 1.0), rates)
            sides.append(moving.forward(torques))
        moving.move_to(start, rates)
        assert by_q[:, k] == pytest.approx((sides[0] - sides[1]) / (2 * h), abs=1e-4 * scale_q)


def test_jacobians_give_the_twists_of_the_world():
    world = sinew.load("hand")
    world.step(12)
    dynamics = world.dynamics()
    for body in ["palm", "index_far"]:
        twist = dynamics.jacobian(body) @ dynamics.rates
        row = world.body(body)
        assert twist[:3] == pytest.approx(world.twists[row, :3], abs=1e-4)
        assert dynamics.pose(body)[:3] == pytest.approx(world.poses[row, :3], abs=1e-5)


def test_momentum_is_that_of_the_world():
    world = sinew.load("hand")
    world.step(12)
    dynamics = world.dynamics()
    momentum = dynamics.centroidal_matrix() @ dynamics.rates
    assert momentum == pytest.approx(dynamics.centroidal_momentum, abs=1e-9)
    com = np.average(world.poses[:, :3], axis=0, weights=world.masses)
    assert dynamics.centre_of_mass == pytest.approx(com, abs=1e-3)


def test_steps_do_not_change_a_moment(moving):
    before = moving.coordinates
    world = sinew.load("hand")
    dynamics = world.dynamics()
    start = dynamics.coordinates
    world.step(5)
    assert (dynamics.coordinates == start).all() and (moving.coordinates == before).all()


def test_wrong_questions_are_refused(moving):
    with pytest.raises(ValueError, match="shape"):
        moving.forward([1.0, 2.0])
    with pytest.raises(ValueError, match="finite"):
        moving.inverse(np.full(moving.n_dofs, np.nan))
    with pytest.raises(sinew.NameUnknown):
        moving.jacobian("nothing")
    with pytest.raises(sinew.DynamicsError, match="loop"):
        sinew.load("four_bar").dynamics()
    assert len(moving.dof_names) == moving.n_dofs and moving.link_names[0]
