"""Six robots and what Pinocchio says of them: writes `fixtures/golden/joint_space.json` to the path given.

A body has a `parent` (a number, or -1), the `joint` to it with its `axis` (and `pitch` of a screw, m/rad), the `pose` of its frame in the frame of the parent at zero
coordinates ([x, y, z, qw, qx, qy, qz]), `mass`, centre of mass `com` and `inertia` about it (xx, xy, yy, xz, yz, zz). Coordinates, rates and all
results are in the order of the bodies; free joints have a quaternion w, x, y, z and a position as coordinates, and angular before linear rates in the frame of the body.
Six-vectors have the angular part first. Symmetric matrices have the rows of their lower triangles. `frame` is a point of the last body, in its frame; the Jacobian
is in world axes at that point.
"""

import json
import sys

import numpy
import pinocchio

GRAVITY = [0.3, -0.2, -9.81]
draw = numpy.random.RandomState(7)


def rounded(values):
    return [float(f"{value:.13g}") for value in numpy.asarray(values).ravel()]


def pose(place, tilt):
    turn = pinocchio.Quaternion(pinocchio.exp3(numpy.array(tilt)))
    return rounded([*place, turn.w, turn.x, turn.y, turn.z])


def body(parent, joint, axis, place, tilt=(0, 0, 0), mass=1.0, size=0.3, **more):
    com = draw.uniform(-0.3, 0.3, 3) * size
    arms = draw.uniform(-1, 1, (3, 4)) * 0.3 * size
    spread = mass * (arms @ arms.T + 0.01 * size * size * numpy.eye(3))
    inertia = numpy.trace(spread) * numpy.eye(3) - spread
    lower = [inertia[i, j] for i in range(3) for j in range(i + 1)]
    return {"parent": parent, "joint": joint, "axis": rounded(axis), "pose": pose(place, tilt), "mass": mass,
            "com": rounded(com), "inertia": rounded(lower), **more}


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def arm(axes, lengths):
    return [body(k - 1, "hinge", axis, (0, 0, length), mass=4.0 / (k + 1), size=0.4)
            for k, (axis, length) in enumerate(zip(axes, lengths))]


def scara():
    return [body(-1, "hinge", Z, (0, 0, 0.4), mass=3.0), body(0, "hinge", Z, (0.35, 0, 0.05), mass=2.0),
            body(1, "prismatic", Z, (0.3, 0, 0), mass=0.7), body(2, "hinge", Z, (0, 0, -0.1), mass=0.3, size=0.1)]


def quadruped():
    bodies = [body(-1, "free", X, (0, 0, 0), mass=12.0, size=0.8)]
    for x in (0.25, -0.25):
        for y in (0.12, -0.12):
            hip = len(bodies)
            bodies.append(body(0, "hinge", X, (x, y, 0), mass=0.9, size=0.15))
            bodies.append(body(hip, "hinge", Y, (0, 0.7 * y, 0), mass=1.1, size=0.3))
            bodies.append(body(hip + 1, "hinge", Y, (0, 0, -0.25), mass=0.3, size=0.3))
    return bodies


def limb(bodies, parent, place, axes, length, mass):
    for k, axis in enumerate(axes):
        bodies.append(body(parent, "hinge", axis, place if k == 0 else (0, 0.01 * k, -length * (k % 2)), mass=mass / (1 + k), size=0.25))
        parent = len(bodies) - 1


def humanoid():
    bodies = [body(-1, "free", X, (0, 0, 0), mass=9.0, size=0.4)]
    for y in (0.1, -0.1):
        limb(bodies, 0, (0, y, -0.08), (Z, X, Y, Y, Y, X), 0.35, 6.0)
    limb(bodies, 0, (0, 0, 0.15), (Z, Y), -0.2, 12.0)
    chest = len(bodies) - 1
    for y in (0.2, -0.2):
        limb(bodies, chest, (0, y, 0.25), (Y, X, Z, Y, X, Y, Z), 0.28, 2.5)
    limb(bodies, chest, (0, 0, 0.35), (Z, Y), -0.08, 4.0)
    return bodies


def odd_tree():
    def axis():
        v = draw.normal(size=3)
        return v / numpy.linalg.norm(v)

    def more(parent, joint, **extra):
        return body(parent, joint, axis(), draw.uniform(-0.4, 0.4, 3), draw.uniform(-1.5, 1.5, 3), draw.uniform(0.3, 3), 0.5, **extra)

    return [more(-1, "screw", pitch=0.13), more(0, "ball"), more(1, "hinge"), more(1, "prismatic"), more(0, "hinge"),
            more(4, "ball"), more(5, "screw", pitch=-0.4), more(4, "prismatic"), more(7, "hinge")]


def robots():
    yield "arm_6", arm((Z, Y, Y, X, Y, X), (0.1, 0.3, 0.4, 0.1, 0.3, 0.1))
    yield "arm_7", arm((Z, Y, Z, Y, Z, Y, Z), (0.2, 0.15, 0.2, 0.2, 0.2, 0.2, 0.1))
    yield "scara", scara()
    yield "quadruped", quadruped()
    yield "humanoid", humanoid()
    yield "odd_tree", odd_tree()


def build(bodies):
    model = pinocchio.Model()
    model.gravity.linear = numpy.array(GRAVITY)
    kinds = {"hinge": lambda b: pinocchio.JointModelRevoluteUnaligned(*b["axis"]),
             "prismatic": lambda b: pinocchio.JointModelPrismaticUnaligned(*b["axis"]),
             "screw": lambda b: pinocchio.JointModelHelicalUnaligned(*b["axis"], b["pitch"]),
             "ball": lambda b: pinocchio.JointModelSpherical(), "free": lambda b: pinocchio.JointModelFreeFlyer()}
    for k, b in enumerate(bodies):
        p = b["pose"]
        place = pinocchio.SE3(pinocchio.Quaternion(*p[3:]).normalized().matrix(), numpy.array(p[:3]))
        joint = model.addJoint(b["parent"] + 1, kinds[b["joint"]](b), place, f"body {k}")
        xx, xy, yy, xz, yz, zz = b["inertia"]
        inertia = numpy.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        model.appendBodyToJoint(joint, pinocchio.Inertia(b["mass"], numpy.array(b["com"]), inertia), pinocchio.SE3.Identity())
    return model


def orders(model):
    """Our coordinates and rates as indices into those of Pinocchio."""
    coordinates, rates = [], []
    for joint in range(1, model.njoints):
        q, v = model.joints[joint].idx_q, model.joints[joint].idx_v
        nq, nv = model.joints[joint].nq, model.joints[joint].nv
        if nv == 6:
            coordinates += [q + 6, q + 3, q + 4, q + 5, q, q + 1, q + 2]
            rates += [v + 3, v + 4, v + 5, v, v + 1, v + 2]
        else:
            coordinates += [q + 3, q, q + 1, q + 2] if nq == 4 else list(range(q, q + nq))
            rates += list(range(v, v + nv))
    return numpy.array(coordinates), numpy.array(rates)


def solve(model, q, v, a, tau, point, rates):
    data = model.createData()
    swap = numpy.array([3, 4, 5, 0, 1, 2])
    square = numpy.ix_(rates, rates)

    def lower(m):
        m = m[square]
        return [rounded(m[i, : i + 1]) for i in range(len(m))]

    def full(m):
        return [rounded(row) for row in m[square]]

    mass = pinocchio.crba(model, data, q)
    mass = numpy.triu(mass) + numpy.triu(mass, 1).T
    out = {"mass_matrix": lower(mass), "bias": rounded(pinocchio.nonLinearEffects(model, data, q, v)[rates]),
           "gravity": rounded(pinocchio.computeGeneralizedGravity(model, data, q)[rates]),
           "inverse": rounded(pinocchio.rnea(model, data, q, v, a)[rates]),
           "forward": rounded(pinocchio.aba(model, data, q, v, tau)[rates])}
    by_q, by_v, _ = pinocchio.computeRNEADerivatives(model, data, q, v, a)
    out["torques_by_coordinates"], out["torques_by_rates"] = full(by_q), full(by_v)
    by_q, by_v, inverse = pinocchio.computeABADerivatives(model, data, q, v, tau)
    out["accelerations_by_coordinates"], out["accelerations_by_rates"] = full(by_q), full(by_v)
    inverse = numpy.triu(inverse) + numpy.triu(inverse, 1).T
    assert abs(inverse @ mass - numpy.eye(model.nv)).max() < 1e-9
    out["inverse_mass_matrix"] = lower(inverse)
    out["coriolis_product"] = rounded((pinocchio.computeCoriolisMatrix(model, data, q, v) @ v)[rates])
    frame = model.addFrame(pinocchio.Frame("tip", model.njoints - 1, 0, pinocchio.SE3(numpy.eye(3), point), pinocchio.FrameType.OP_FRAME))
    data = model.createData()
    here = pinocchio.LOCAL_WORLD_ALIGNED
    pinocchio.computeJointJacobiansTimeVariation(model, data, q, v)
    pinocchio.updateFramePlacements(model, data)
    rate = pinocchio.getFrameJacobianTimeVariation(model, data, frame, here)
    jacobian = pinocchio.computeFrameJacobian(model, data, q, frame, here)

    def jacobian_after(t):
        return pinocchio.computeFrameJacobian(model, data, pinocchio.integrate(model, q, t * v), frame, here)

    slope = (jacobian_after(1e-5) - jacobian_after(-1e-5)) / 2e-5
    assert abs(slope - rate).max() < 1e-6, abs(slope - rate).max()
    out["jacobian"] = [rounded(row) for row in jacobian[swap][:, rates]]
    out["jacobian_rate"] = [rounded(row) for row in rate[swap][:, rates]]
    pinocchio.ccrba(model, data, q, v)
    out["centre_of_mass"] = rounded(pinocchio.centerOfMass(model, data, q))
    out["centroidal_momentum"] = rounded(data.hg.vector[swap])
    out["centroidal_matrix"] = [rounded(row) for row in data.Ag[swap][:, rates]]
    return out


cases = {}
for name, bodies in robots():
    model = build(bodies)
    coordinates, rates = orders(model)
    step = draw.uniform(-1, 1, model.nv)
    q = pinocchio.integrate(model, pinocchio.neutral(model), step)
    v, a, tau = (draw.uniform(-size, size, model.nv) for size in (1.5, 3.0, 5.0))
    point = draw.uniform(-0.2, 0.2, 3)
    given = {"gravity": GRAVITY, "bodies": bodies, "coordinates": [float(x) for x in q[coordinates]], "rates": [float(x) for x in v[rates]],
             "accelerations": [float(x) for x in a[rates]], "torques": [float(x) for x in tau[rates]], "frame": [float(x) for x in point]}
    cases[name] = {"in": given, "out": solve(model, q, v, a, tau, point, rates)}

with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("{\n")
    for k, (name, case) in enumerate(cases.items()):
        file.write(f' "{name}": {{\n')
        for part in ("in", "out"):
            lines = [f'   "{key}": {json.dumps(value)}' for key, value in case[part].items()]
            file.write(f'  "{part}": {{\n' + ",\n".join(lines) + "\n  }" + (",\n" if part == "in" else "\n"))
        file.write(" }" + (",\n" if k + 1 < len(cases) else "\n"))
    file.write("}\n")
