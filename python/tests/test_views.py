"""Pictures and pages."""

import pytest
import sinew


def test_a_picture_is_a_png(tmp_path):
    world = sinew.load("hand")
    picture = world.picture(size=(120, 80), shown=["joints", "contacts"])
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and picture._repr_png_() == picture
    assert picture.save(tmp_path / "hand.png").read_bytes() == picture and len(str(picture)) < 60
    with pytest.raises(ValueError):
        world.picture(size=(0, 0))
    with pytest.raises(ValueError):
        world.picture(size=(10**7, 10**7))
    with pytest.raises(sinew.NameUnknown, match="corner"):
        world.picture(camera="nowhere")
    with pytest.raises(sinew.NameUnknown):
        world.picture(shown=["everything"])


def test_a_page_shows_what_comes_and_leaves_the_world(tmp_path):
    world = sinew.load("chain_10")
    digest = world.digest
    page = world.show(seconds=0.2)
    assert page.startswith("<!doctype html>") and world.digest == digest
    assert page._repr_html_().startswith("<iframe srcdoc=") and page.save(tmp_path / "page.html").exists()
    with pytest.raises(ValueError):
        world.show(seconds=-1)
    with pytest.raises(ValueError):
        world.show(speed=0)
    with pytest.raises(sinew.NameUnknown):
        world.show(camera="nowhere")


def test_a_page_plays_what_was_recorded():
    world = sinew.load("chain_10")
    world.record(rate=30)
    world.step(20)
    assert world.n_recorded == 11
    assert '"times":[0' in world.show()
    with pytest.raises(ValueError):
        world.record(rate=0)
