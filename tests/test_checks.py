"""The checks are checked: right answers pass, stubs are not attempted, wrong ones are refused.

UPDATE_GOLDEN=1 writes the golden files anew; read them as prose before you commit them.
"""

import importlib
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from harness_lib.course import check, compare
from harness_lib.course.check import fingerprint
from harness_lib.course.contracts import CONTRACTS
from harness_lib.course.report import Report
from tests import notebook_cells as nb
from tests.wrong_answers import WRONG

GOLDEN = Path(__file__).parent / "golden"
LESSONS = sorted({check_id[:2] for check_id in CONTRACTS})
for lesson in LESSONS:
    importlib.import_module(f"tests.wrong_answers.lesson_{lesson}")

EXERCISES = [
    (check_id, nb.lesson_path(lesson))
    for lesson in LESSONS
    for check_id in nb.exercises(nb.lesson_path(lesson))
]
IDS = [check_id for check_id, _ in EXERCISES]
contract_ids = pytest.mark.parametrize("check_id", CONTRACTS)
each_exercise = pytest.mark.parametrize(("check_id", "path"), EXERCISES, ids=IDS)


@pytest.fixture(autouse=True)
def relaxed(monkeypatch):
    monkeypatch.delenv("HARNESS_CHECK_STRICT", raising=False)


def report_on(wrong):
    contract = CONTRACTS[wrong.check_id]
    if contract.stub:
        return check(wrong.check_id, wrong.answer)
    return Report(wrong.check_id, contract.run(wrong.answer))


REPORTS = {}


def cached_report(wrong):
    if wrong.name not in REPORTS:
        REPORTS[wrong.name] = report_on(wrong)
    return REPORTS[wrong.name]


@contract_ids
def test_the_library_holds_every_contract(check_id):
    contract = CONTRACTS[check_id]
    failed = [o for o in contract.run(contract.library) if not o.passed]
    assert failed == []


def test_every_exercise_has_a_contract_and_every_contract_with_a_stub_an_exercise():
    assert sorted(IDS) == sorted(c.check_id for c in CONTRACTS.values() if c.stub)


@each_exercise
def test_the_untouched_stub_is_not_attempted(check_id, path):
    stub = nb.exercises(path)[check_id]["source"]
    assert fingerprint(stub) == CONTRACTS[check_id].stub, f"stub={fingerprint(stub)!r} is right"
    report = nb.run_until(path, check_id, f"# a comment\n{stub}\n\n")
    assert report.ok is None
    assert "not attempted yet" in report.text


@each_exercise
def test_the_folded_solution_passes(check_id, path, monkeypatch):
    monkeypatch.setenv("HARNESS_CHECK_STRICT", "1")
    stub = nb.exercises(path)[check_id]["source"]
    report = nb.run_until(
        path, check_id, nb.with_solution(stub, nb.folded_solution(path, check_id))
    )
    assert report.ok, report.text


@each_exercise
def test_a_right_answer_written_otherwise_passes(check_id, path):
    answers = importlib.import_module(f"tests.right_answers.lesson_{check_id[:2]}").ANSWERS
    report = check(check_id, answers[check_id])
    assert report.ok, report.text


@each_exercise
def test_any_change_of_the_stub_is_an_attempt(check_id, path):
    stub = nb.exercises(path)[check_id]["source"]
    attempt = stub.replace("    ...\n", "    return 'an attempt'\n", 1)
    assert attempt != stub
    assert nb.run_until(path, check_id, attempt).ok is False


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_answer_is_refused_with_its_sentence(wrong):
    report = cached_report(wrong)
    assert not all(outcome.passed for outcome in report.outcomes)
    assert wrong.says in " ".join(report.text.split()) or wrong.says in report.text


@contract_ids
def test_every_case_is_killed_by_a_wrong_answer(check_id):
    killed = set()
    for wrong in WRONG:
        if wrong.check_id == check_id:
            killed |= {o.case.name for o in cached_report(wrong).outcomes if not o.passed}
    assert {case.name for case in CONTRACTS[check_id].cases} - killed == set()


@contract_ids
def test_every_slip_has_its_wrong_answer(check_id):
    told = {
        outcome.slip
        for wrong in WRONG
        if wrong.check_id == check_id
        for outcome in cached_report(wrong).outcomes
    }
    slips = {text for case in CONTRACTS[check_id].cases for _, text in case.slips}
    assert slips - told == set()


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_messages_read_well(lesson):
    parts = []
    for wrong in WRONG:
        if wrong.check_id.startswith(lesson):
            parts.append(f"--- {wrong.name} ---\n{cached_report(wrong).text}\n")
    text = "\n".join(parts)
    golden = GOLDEN / f"lesson_{lesson}.txt"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 100


# --- the machinery -------------------------------------------------------------------------------


def test_a_check_that_does_not_exist_is_a_sentence():
    assert "There is no check '99.9'" in check("99.9", None).text
    assert "There is no contract '99.9'" in compare("99.9", None).text


def test_strict_raises():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CHECK_STRICT", "1")
        with pytest.raises(AssertionError, match=r"03\.2 call_from_openai: incorrect"):
            check("03.2", lambda call: 1)


def test_an_interrupt_passes():
    def interrupt(call):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("03.2", interrupt)


def test_a_hang_ends_within_the_deadline_and_its_thread_too():
    before = set(threading.enumerate())

    def loop(call):
        while True:
            pass

    began = time.monotonic()
    report = check("03.2", loop)
    assert time.monotonic() - began < 4
    assert report.ok is False
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


class ExitsWhenRead(Exception):
    def __str__(self):
        sys.exit("no text for you")


def test_an_answer_may_raise_what_cannot_be_read():
    def answer(call):
        raise ExitsWhenRead

    report = check("03.2", answer)
    assert {str(outcome.came_back) for outcome in report.outcomes} == {"ExitsWhenRead"}


@pytest.mark.parametrize("answer", [None, 7, "text", object(), int])
def test_any_answer_gets_a_report(answer):
    report = check("03.2", answer)
    assert report.ok is False
    assert " at 0x" not in report.text + report.html


def test_html_takes_nothing_for_a_tag():
    report = check("03.2", lambda call: "<script>alert(1)</script>" * 99)
    assert "<script>" not in report.html
    assert "&lt;script&gt;" in report.html
    assert len(report.html) < 20_000


def test_html_is_what_an_untrusted_page_shows():
    report = check("03.2", lambda call: None)
    for tag in ("<style", "<script", "<svg", "<input"):
        assert tag not in report.html
    bundle = report._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"] == repr(report)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("f():\n    ...", "f():\n    # mine\n    pass", True),
        ("f():\n    ...", 'f():\n    """Doc."""', True),
        ("f():\n    ...", "f():\n\n\n    ...  # later", True),
        ("f():\n    ...", "f():\n    return", False),
        ("f():\n    ...", "f(x):\n    ...", False),
        ("f():\n    ...", "f():\n    x = 1", False),
    ],
)
def test_fingerprints(one, other, equal):
    assert (fingerprint(f"def {one}") == fingerprint(f"def {other}")) == equal


def test_compare_shows_both_sides():
    table = compare("03.2", lambda call: None)
    assert table.text.splitlines()[1].split() == ["case", "this", "notebook", "harness_lib"]
    assert "FAIL: None" in table.text
    assert "<table>" in table.html
