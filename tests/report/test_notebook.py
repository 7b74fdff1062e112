"""What a notebook shows of models, passes and comparisons."""

import re
import sys
import types

import numpy as np
import pytest

import lopsided
from lopsided import COG, KOIL, Active, Recommended, compare, progressive
from lopsided.report.figures import standalone

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=300) > 1, "fraud", "fine")
EVENTS = [{"<amount>": float(a), "country": "DE" if b > 0 else "XX"} for a, b, _ in X]


def test_a_model_shows_what_it_has_learned():
    assert "nothing yet" in Recommended()._repr_html_()
    for model in (Recommended(), COG(intercept=True), Active("COG-II", budget="50%")):
        shown = model.partial_fit(EVENTS, Y)._repr_html_()
        assert "&#x27;fraud&#x27;" in shown
        assert "300 events" in shown or "steps" in shown
        assert "&lt;amount&gt;" in shown
        assert "<amount>" not in shown
    assert "largest weights" not in KOIL().fit(X, Y)._repr_html_()


def test_a_model_draws_its_largest_weights():
    figure = COG().fit(X, Y).plot(top=2)
    assert figure.title == "Largest weights of COG"
    assert "<svg" in figure._repr_html_()
    assert re.match(r"0 \+[\d.]+, \d ", figure.caption)
    with pytest.raises(ValueError, match="no weights"):
        KOIL().fit(X, Y).plot()


def test_scikit_learn_shows_models_as_its_own():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import estimator_html_repr

    assert sklearn
    pipeline = make_pipeline(StandardScaler(), COG(learning_rate=0.5)).fit(X, Y)
    assert "COG" in pipeline._repr_html_()
    assert "COG(learning_rate=0.5)" in repr(pipeline)
    assert "COG" in estimator_html_repr(COG(learning_rate=0.5))


def test_a_pass_is_shown_in_one_line_and_as_a_table():
    result = progressive(COG(costs={"miss": 9, "alarm": 1}), X, Y, chances=True)
    alarms = int(result.alarms.sum())
    assert repr(result).startswith(f"<Progress: 300 events, {np.sum(Y == 'fraud')} positives;")
    assert f"of {alarms} alarms>" in repr(result)
    shown = result._repr_html_()
    for name in ("average precision", "log loss", "paid"):
        assert f">{name}</th>" in shown
    assert f"{result.auc:.2%}" in shown
    one_class = progressive(COG(positive="fraud"), X[:1], Y[:1])
    assert "AUC –" in repr(one_class)
    assert "<table>" in one_class._repr_html_()


def test_a_pass_and_a_comparison_draw_themselves(tmp_path):
    drawn = progressive(COG(), X, Y).plot(cost=(9, 1))
    assert isinstance(drawn, lopsided.report.Figures)
    assert "ROC" in repr(drawn)
    assert drawn._repr_html_().count("<svg") == len(drawn)
    drawn[0].save(tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text == standalone(drawn[0].svg)
    assert "var(" not in text
    result = compare(["Perceptron", "COG-II"], X, Y, permutations=2, grid=None)
    assert repr(result) == result.table().rstrip("\n")
    shown = result._repr_html_()
    assert shown.count("<tr") == 3
    assert result.best.name in shown
    assert "Sensitivity against specificity" in repr(result.plot())


class Notebook:
    """As much of IPython as a progress bar needs."""

    def __init__(self, monkeypatch, kernel=True):
        self.shown, self.updates = [], []
        page = types.ModuleType("IPython.display")
        page.HTML = str
        page.display = self.display
        shell = types.ModuleType("IPython")
        shell.get_ipython = lambda: types.SimpleNamespace(**({"kernel": 1} if kernel else {}))
        monkeypatch.setitem(sys.modules, "IPython", shell)
        monkeypatch.setitem(sys.modules, "IPython.display", page)

    def display(self, bar, display_id):
        self.shown.append(bar)
        return types.SimpleNamespace(update=self.updates.append)


def test_a_comparison_shows_how_far_it_is(monkeypatch):
    page = Notebook(monkeypatch)
    compare(["Perceptron", "PA"], X, Y, permutations=3, grid=None)
    assert len(page.shown) == 1
    assert page.updates[-1] == '<progress value="6" max="6"></progress> 6 of 6 runs'


@pytest.mark.parametrize(("kernel", "progress"), [(True, False), (False, None), (True, print)])
def test_a_comparison_shows_no_bar_in_a_terminal_or_if_told(monkeypatch, kernel, progress, capsys):
    page = Notebook(monkeypatch, kernel)
    compare(["Perceptron"], X, Y, permutations=2, grid=None, progress=progress)
    assert page.shown == []
    assert capsys.readouterr().out == ("1 2\n2 2\n" if progress is print else "")


class EveryEvent:
    """Somebody else's model: it learns row by row in Python."""

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return "fine"


@pytest.mark.filterwarnings("ignore:.*learns row by row")
def test_a_long_pass_of_a_model_from_elsewhere_shows_how_far_it_is(monkeypatch, capsys):
    page = Notebook(monkeypatch)
    progressive(EveryEvent(), X, Y)
    assert len(page.shown) == 1
    assert page.updates[-1] == '<progress value="300" max="300"></progress> 300 of 300 events'
    progressive(EveryEvent(), X, Y, progress=False)
    progressive(EveryEvent(), X, Y, progress=print)
    compare({"theirs": EveryEvent(), "PA": "PA"}, X, Y, permutations=1, grid=None)
    assert len(page.shown) == 2  # one bar for the comparison, none for the passes within
    assert capsys.readouterr().out.splitlines()[-1] == "300 300"


def test_a_model_that_is_fast_takes_no_progress():
    with pytest.raises(ValueError, match="is for classifiers from elsewhere"):
        progressive(COG(), X, Y, progress=print)
