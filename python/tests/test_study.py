"""Studies: the same table whoever computes it, in one go or resumed, with members that fail and workers that are killed."""

import os
import signal
import statistics
import subprocess
import sys

import numpy as np
import pytest
import sinew

SWING = """(format: 1, name: "swing", duration_s: 0.25, dt: 0.01,
    bodies: [(name: "seat", pose: (position: (1, 0, 2)), shapes: [Box(size: (0.4, 0.6, 0.1))], mass: Total(20))],
    joints: [(name: "bar", kind: Hinge, child: "seat", frames: World(anchor: (0, 0, 3), axis: (0, 1, 0)))])"""


def small(**others):
    return sinew.study(
        SWING,
        **{"over": {"gravity.z": [-9.81, -1.6], 'joints["bar"].damping': [0.0, 0.5]}, "measure": ["seat.x", "digest"], **others},
    )


def test_a_grid_has_all_pairs_and_the_bits_of_worlds():
    table = small()
    assert table.columns == ["member", "seed", "gravity.z", 'joints["bar"].damping', "seat.x", "digest", "error"]
    assert len(table) == 4 and not table.failed
    world = sinew.SceneDoc.from_ron(SWING).set("gravity.z", "-1.6").set('joints["bar"].damping', "0.5").build()
    world.step(25)
    assert table["digest"][3] == world.digest
    assert table["seat.x"][3] == world.poses[0, 0]


def test_the_table_is_the_same_for_any_number_of_threads_and_forms_of_the_scene():
    once = small(workers=1).csv()
    assert once == small(workers=3).csv() == sinew_of_doc().csv()


def sinew_of_doc():
    return sinew.study(
        sinew.SceneDoc.from_ron(SWING),
        over={"gravity.z": [-9.81, -1.6], 'joints["bar"].damping': [0.0, 0.5]},
        measure=["seat.x", "digest"],
    )


def test_the_duration_is_that_of_each_member():
    table = sinew.study(SWING, over={"duration_s": [0.1, 0.2]}, measure=["time"])
    assert np.allclose(table["time"], [0.1, 0.2])
    assert np.allclose(sinew.study(SWING, measure=["time"], seconds=0.05)["time"], 0.05)


def test_seeds_draw_from_distributions_and_begin():
    def push(world, member):
        world.gravity = [0, 0, member.rng.uniform(-10, -9)]

    def run(**others):
        return sinew.study(SWING, over={"dt": [0.01, 0.02], "gravity.x": statistics.NormalDist(0, 1)}, measure=["seat.x"], begin=push, seconds=0.1, **others)

    table = run(seeds=3)
    assert len(table) == 6 and len(set(table["seed"])) == 6
    assert len(set(table["gravity.x"])) == 6 and len(set(table["seat.x"])) == 6
    assert run(seeds=3).csv() == table.csv()
    assert run(seeds=[1])["gravity.x"][0] == table["gravity.x"][1]


def test_members_that_fail_are_rows():
    def odd(world):
        if world.gravity[2] > -2:
            raise ZeroDivisionError("nothing\nto share")
        return 1.0

    table = sinew.study(SWING, over={"gravity.z": [-9.81, -1.6], "dt": [0.01, -1]}, measure=[odd])
    assert [bool(row["error"]) for row in table.rows] == [False, True, True, True]
    assert table.rows[2]["error"] == "ZeroDivisionError: nothing to share"
    assert np.isnan(table["odd"][1]) and table["odd"][0] == 1


def test_a_file_that_changed_is_another_study(tmp_path):
    path = tmp_path / "swing.ron"
    path.write_text(SWING)
    assert np.allclose(sinew.study(path, measure=["time"], out=tmp_path / "out")["time"], 0.25)
    path.write_text(SWING.replace("0.25", "0.5"))
    assert np.allclose(sinew.study(path, measure=["time"])["time"], 0.5)
    with pytest.raises(sinew.StudyDiffers):
        sinew.study(path, measure=["time"], out=tmp_path / "out")


def test_measures_are_cells():
    assert "list" in sinew.study(SWING, measure={"all": lambda world: [1]}).rows[0]["error"]
    assert "NameUnknown" in sinew.study(SWING, measure=["seet.x"]).rows[0]["error"]
    table = sinew.study(SWING, measure={"names": lambda world: ",".join(world.body_names), "good": "good"})
    assert table["names"][0] == "seat" and table["good"].dtype == bool


@pytest.mark.parametrize(
    "others",
    [{"on": "moon"}, {"measure": ["nothing"]}, {"measure": "energy"}, {"measure": ["energy", "energy"]}, {"over": {"dt": []}}, {"over": {"dt": 0.1}}, {"seconds": 0}, {"measure": ["seed"]}],
)
def test_what_is_no_study_is_refused_before_it_runs(others):
    with pytest.raises(ValueError):
        small(**others)


def test_a_folder_keeps_members_and_refuses_another_study(tmp_path):
    first = small(out=tmp_path / "out").csv()
    files = sorted((tmp_path / "out").glob("member_*.json"))
    assert len(files) == 4
    files[1].unlink()
    files[2].write_text("{")
    kept = files[0].stat().st_mtime_ns
    assert small(out=tmp_path / "out").csv() == first == small().csv()
    assert files[0].stat().st_mtime_ns == kept and len(list((tmp_path / "out").iterdir())) == 5
    for others in [{"seconds": 0.1}, {"measure": ["seat.z", "digest"]}, {"seeds": 2}, {"over": {"dt": [0.01]}}]:
        with pytest.raises(sinew.StudyDiffers):
            small(out=tmp_path / "out", **others)
    with pytest.raises(sinew.StudyDiffers):
        small(out=tmp_path)


def test_an_interrupt_keeps_what_is_done(tmp_path):
    seen = []

    def last(world):
        seen.append(1)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT) if hasattr(signal, "raise_signal") else os.kill(os.getpid(), signal.SIGINT)
        return 0

    def run():
        return sinew.study(SWING, over={"dt": [0.001 * k for k in range(1, 41)]}, measure=[last], out=tmp_path / "out", workers=1)

    with pytest.raises(sinew.StudyInterrupted) as caught:
        run()
    assert len(caught.value.table) < 40
    assert len(list((tmp_path / "out").glob("member_*.json"))) == len(caught.value.table)
    assert len(run()) == 40 and not list((tmp_path / "out").glob("*.part"))


def test_points_fill_the_space():
    pytest.importorskip("scipy", reason="SciPy is not installed")
    over = {"gravity.z": (-11, -9), "dt": sinew.Uniform(0.005, 0.01)}
    points = sinew.latin(over, 16, seed=3)
    assert points == sinew.latin(over, 16, seed=3) != sinew.latin(over, 16, seed=4)
    assert sorted(int((z + 11) * 8) for z, _ in points.rows) == list(range(16))
    table = sinew.study(SWING, over=sinew.sobol(over, 8), measure=["good"], seconds=0.05)
    assert len(table) == 8 and -11 <= table["gravity.z"].min() <= table["gravity.z"].max() <= -9
    with pytest.raises(ValueError):
        sinew.sobol(over, 12)


def test_tables_go_to_files(tmp_path):
    table = small()
    assert table.to_csv(tmp_path / "table.csv").read_bytes() == small(workers=1).csv().encode()
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    back = parquet.read_table(table.to_parquet(tmp_path / "table.parquet")).to_pydict()
    assert back["seat.x"] == table["seat.x"].tolist() and back["digest"] == list(table["digest"])


RAY = """
import os, pathlib, signal, sys
import sinew

marker = pathlib.Path(sys.argv[1])

def height(world):
    # The first worker that is here is killed, in the middle of a member.
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return world.poses[0, 2]
    if os.getpid() == DRIVER:
        return world.poses[0, 2]
    os.kill(os.getpid(), signal.SIGKILL)

DRIVER = os.getpid()
SWING = pathlib.Path(sys.argv[2]).read_text()
study = lambda on: sinew.study(SWING, over={"gravity.z": [-9 - 0.1 * k for k in range(19)] + [True]}, measure=["digest", height], on=on, workers=2).csv()
ray = study("ray")
assert marker.exists()
assert ray == study("threads")
print("same", ray.count("SceneError"))
"""


# Ray waits 30 s for its own processes, which is short where much else runs.
PATIENCE = {"RAY_raylet_start_wait_time_s": "120"}


def test_workers_of_ray_that_are_killed_leave_the_same_table(tmp_path):
    # A folder called `ray` where pytest runs is no package.
    if not hasattr(pytest.importorskip("ray", reason="Ray is not installed"), "init"):
        pytest.skip("Ray is not installed")
    (tmp_path / "swing.ron").write_text(SWING)
    (tmp_path / "program.py").write_text(RAY)
    command = [sys.executable, tmp_path / "program.py", tmp_path / "marker", tmp_path / "swing.ron"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=tmp_path, env={**os.environ, **PATIENCE})
    if "node timed out during startup" in run.stderr:
        pytest.skip("Ray did not start here in time")
    assert run.stdout.strip().endswith("same 1"), run.stderr
