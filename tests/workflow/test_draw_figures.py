"""The program draws every figure once and lists it with what it was drawn from."""

from pathlib import Path

from tests.analysis.factory import ROOT, Run, analyse, draw, run_script
from torl.files import read_json, sha256_of


def test_figures_are_listed_with_captions_and_the_hashes_of_their_inputs(tmp_path: Path) -> None:
    runs = [Run(tmp_path, "torl"), Run(tmp_path, "no_tool")]
    listed = read_json(draw(tmp_path, runs))["figures"]
    assert [one["name"] for one in listed] == ["accuracy", "learning", "behaviour", "funnel"]
    for one in listed:
        assert (tmp_path / "figures" / one["file"]).read_text().startswith("<svg")
        assert one["caption"]
        assert one["alt"]
        assert one["inputs"]
        assert all(source["sha256"] == sha256_of(source["path"]) for source in one["inputs"])


def test_a_second_run_draws_the_same_bytes(tmp_path: Path) -> None:
    runs = [Run(tmp_path, "torl")]
    first = {path.name: path.read_bytes() for path in draw(tmp_path, runs).parent.iterdir()}
    assert {path.name: path.read_bytes() for path in draw(tmp_path, runs).parent.iterdir()} == first


def test_one_experiment_without_funnel_and_evaluations_still_has_its_curves(tmp_path: Path) -> None:
    metrics = analyse(Run(tmp_path, "torl"))
    arguments = ["--metrics", metrics, "--paper", ROOT / "config" / "paper", "--out-dir", tmp_path / "figures"]
    done = run_script("draw_figures", *arguments)
    assert done.returncode == 0, done.stderr
    listed = read_json(tmp_path / "figures" / "figures.json")["figures"]
    assert [one["name"] for one in listed] == ["accuracy", "learning", "behaviour"]
