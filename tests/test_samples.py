"""The sample traces are what their README says, and the sample agent behaves in them as told."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench as wb
from notebooks.agents.refund import Shop, answer, fresh_database
from workbench.providers.local import stop
from workbench.seam.result import Controller, Question, RunResult

SAMPLES = ["refund-ok", "refund-doubled", "refund-ignored-error"]
LETTER = ("send_email", {"to": "ada@example.com", "text": "We have paid 149.99 back."})


class Sample:
    """Opens a sample trace by its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str) -> wb.Trace:
        return wb.load(self.folder / f"{name}.trace.jsonl")


@pytest.fixture
def sample(repo_root: Path) -> Sample:
    """The folder of sample traces."""
    return Sample(repo_root / "sample_traces")


@pytest.fixture
def no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The local model's folder, which does not exist as long as no server was started."""
    folder = tmp_path / "local"
    monkeypatch.setenv("WORKBENCH_LOCAL_DIR", str(folder))
    return folder


@pytest.fixture(scope="module")
def local_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A server of these tests' own, on one thread, stopped after them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_LOCAL_DIR", str(tmp_path_factory.mktemp("local")))
        patch.setenv("WORKBENCH_LOCAL_THREADS", "1")
        with wb.local_model(idle_s=1):
            yield
        stop()


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``workbench`` in a folder, as somebody would in a terminal."""
    return subprocess.run(
        [sys.executable, "-c", "from workbench.cli import main; main()", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def said(sample: Sample, name: str) -> list[tuple[str, int | None, str]]:
    """What is wrong with a sample, less what is only good to know."""
    found = sample(name).findings
    return [(each.kind, each.turn, each.text) for each in found if each.severity != "info"]


@pytest.mark.parametrize("name", ["refund-doubled", "refund-ignored-error"])
def test_a_sample_replays_offline(sample: Sample, name: str, no_model: Path) -> None:
    """The same output, strictly from the trace: no network, no key, not even a model's server."""
    trace = sample(name)
    result = wb.replay(answer, trace).raise_for_drift()
    assert (result.status, result.live_calls, result.leftover) == ("ok", 0, [])
    assert result.output == trace.output
    assert not no_model.exists()


def test_the_script_sample_replays_offline(repo_root: Path, no_model: Path) -> None:
    """What the script printed is printed again, with the recorded arguments."""
    path = "sample_traces/refund-ok.trace.jsonl"
    done = command(repo_root, "replay", path, "notebooks/agents/refund.py")
    assert done.returncode == 0, done.stderr
    assert wb.load(repo_root / path).output.strip() in done.stdout
    assert not no_model.exists()


def test_one_changed_word_of_the_prompt_is_found(
    repo_root: Path, tmp_path: Path, no_model: Path
) -> None:
    """Exit code 1; the message is named, and the words are shown as they were and as they are."""
    agent = (repo_root / "notebooks" / "agents" / "refund.py").read_text(encoding="utf-8")
    assert agent.count("the refund agent of a shop") == 1
    changed = agent.replace("the refund agent of a shop", "the refund agent of a store")
    (tmp_path / "refund.py").write_text(changed, encoding="utf-8")
    trace = repo_root / "sample_traces" / "refund-ok.trace.jsonl"
    done = command(tmp_path, "replay", str(trace), "refund.py")
    told = done.stdout + done.stderr
    assert done.returncode == 1, told
    assert "drift at turn 1" in told
    assert "message 1 (system)" in told
    assert "agent of a shop" in told
    assert "agent of a store" in told
    assert not no_model.exists()


@pytest.mark.model
@pytest.mark.slow
def test_a_run_recorded_now_replays_without_a_model(
    repo_root: Path, tmp_path: Path, local_model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded live by the command, replayed with nothing to talk to: the same is printed."""
    agent, path = "notebooks/agents/refund.py", tmp_path / "now.trace.jsonl"
    live = command(repo_root, "record", agent, "--to", str(path), "--", "--order", "101")
    assert live.returncode == 0, live.stderr
    monkeypatch.setenv("WORKBENCH_LOCAL_DIR", str(tmp_path / "nobody"))
    again = command(repo_root, "replay", str(path), agent)
    assert again.returncode == 0, again.stderr
    assert wb.load(path).output in live.stdout
    assert wb.load(path).output in again.stdout
    assert not (tmp_path / "nobody").exists()


def test_one_run_went_well(sample: Sample) -> None:
    """Find, read, refund once, write, answer; and nothing was found wrong."""
    trace = sample("refund-ok")
    called = [(tool.name, tool.error) for tool in trace.tools()]
    names = ["find_customer", "get_order", "refund", "send_email"]
    assert called == [(name, None) for name in names]
    assert trace.tools("refund")[0].arguments == {"order_id": 101, "amount": 149.99}
    assert said(sample, "refund-ok") == []
    assert '"status": "refunded"' in trace.output
    assert '"refunds": 1' in trace.output


def test_one_run_paid_six_times(sample: Sample) -> None:
    """The same refund at turns 3 to 8; the first that is too many is the headline."""
    refunds = sample("refund-doubled").tools("refund")
    assert [tool.turn and tool.turn.number for tool in refunds] == [3, 4, 5, 6, 7, 8]
    assert {str(tool.arguments) for tool in refunds} == {"{'order_id': 101, 'amount': 149.99}"}
    assert said(sample, "refund-doubled") == [
        ("repeated_write", 4, "refund called 6 times with the same arguments"),
        ("status", None, "ends with status stuck"),
    ]


def test_one_run_ignored_an_error(sample: Sample) -> None:
    """No such order, nothing paid, and yet a letter to the customer and a cheerful answer."""
    trace = sample("refund-ignored-error")
    assert said(sample, "refund-ignored-error") == [
        (
            "ignored_error",
            2,
            "tool error ignored: get_order failed (there is no order 110), then send_email ran",
        )
    ]
    assert trace.output["refunds"] == 0
    assert "sent a refund" in trace.output["answer"]


@pytest.mark.parametrize("name", SAMPLES)
def test_no_machine_is_in_a_sample(sample: Sample, name: str) -> None:
    """A trace names the agent and its lines, and no path, host or key of who recorded it."""
    text = (sample.folder / f"{name}.trace.jsonl").read_text(encoding="utf-8")
    assert re.findall(r'"(?:/|[A-Za-z]:\\)(?!chat/|body/)[^"]*|127\.0\.0\.1|api_key', text) == []
    agent = sample(name).header.agent
    assert agent is not None
    assert agent.target in ("notebooks/agents/refund.py", "notebooks.agents.refund:answer")
    assert sample(name).name == name


def test_the_readme_has_each_sample(sample: Sample) -> None:
    """Each file has its section, with the command that made it."""
    readme = (sample.folder / "README.md").read_text(encoding="utf-8")
    assert sorted(p.name for p in sample.folder.glob("*.jsonl")) == sorted(
        f"{name}.trace.jsonl" for name in SAMPLES
    )
    for name in SAMPLES:
        assert f"--to sample_traces/{name}.trace.jsonl" in readme


def run_on(trace: wb.Trace, shop: Shop, **options: object) -> RunResult:
    """Fork the doubled refund at its second refund, in a shop of its own, verified up to there."""
    return wb.fork(
        answer,
        trace,
        live_from=wb.turn(4),
        edits=trace.edit().reply(wb.turn(4), tool_call=("refund", {"order_id": 101, "amount": 1})),
        setup=lambda: shop,
        tools_before="verify",
        **options,  # type: ignore[arg-type]
    )


class Asked(Controller):
    """Answers each question in the same way, and keeps it."""

    def __init__(self, *, allow: bool) -> None:
        super().__init__()
        self.allow = allow
        self.questions: list[Question] = []

    def on_question(self, question: Question) -> None:
        """Answer at once."""
        self.questions.append(question)
        if self.allow:
            question.allow()
        else:
            question.deny()


@pytest.mark.model
def test_a_live_refund_is_denied_by_default(sample: Sample, local_model: None) -> None:
    """Before the cut the fresh database is rebuilt, no more; then the run ends as blocked."""
    shop = fresh_database()
    result = run_on(sample("refund-doubled"), shop)
    assert result.status == "blocked"
    assert "refund(order_id=101, amount=1)" in str(result.error)
    paid = [(row["order_id"], row["amount"]) for row in shop.refunds()]
    assert paid == [(101, 149.99)]
    assert shop.emails() == []


@pytest.mark.model
def test_a_live_refund_asks_and_may_be_denied(sample: Sample, local_model: None) -> None:
    """The question names the tool, its arguments and the turn; no for an answer pays nothing."""
    shop, controller = fresh_database(), Asked(allow=False)
    result = run_on(sample("refund-doubled"), shop, tools_after="ask", controller=controller)
    assert result.status == "blocked"
    assert [(q.tool, q.arguments, q.turn) for q in controller.questions] == [
        ("refund", {"order_id": 101, "amount": 1}, 4)
    ]
    assert len(shop.refunds()) == 1


@pytest.mark.model
def test_an_allowed_refund_has_a_key_of_its_own(sample: Sample, local_model: None) -> None:
    """A system that remembers keys must not take the fork's write for the recorded one."""
    parent = sample("refund-doubled")
    shop, controller = fresh_database(), Asked(allow=True)
    result = run_on(parent, shop, tools_after="ask", controller=controller)
    assert result.status == "ok", result.error
    first, second = shop.refunds()[:2]
    assert (first["amount"], second["amount"]) == (149.99, 1)
    recorded = {tool.key for tool in parent.tools("refund")}
    assert len(recorded) == 6
    assert second["key"] == controller.questions[0].key
    assert second["key"].startswith(result.trace.id)
    assert not recorded & {row["key"] for row in shop.refunds()}


@pytest.mark.model
def test_only_what_an_edit_changed_goes_live(sample: Sample, local_model: None) -> None:
    """With an edit at turn 2 and no cut, what does not depend on it comes from the trace."""
    parent = sample("refund-ok")
    edits = parent.edit().reply(wb.turn(2), tool_call=LETTER)
    result = wb.fork(answer, parent, 101, edits=edits, setup=fresh_database, tools_after="allow")
    assert result.status == "ok", result.error
    assert [(c.turn, c.kind, c.name, c.how, c.reason) for c in result.calls] == [
        (1, "model", "smollm2-135m", "replayed", "hit"),
        (1, "tool", "find_customer", "replayed", "hit"),
        (2, "model", "smollm2-135m", "edited", "edited"),
        (2, "tool", "send_email", "live", "miss"),
        (3, "model", "smollm2-135m", "live", "miss"),
    ]
    assert result.trace.parent is not None
    assert result.trace.parent.id == parent.id


def test_an_edit_that_changes_nothing_runs_nothing_live(sample: Sample, no_model: Path) -> None:
    """Ripple follows what really changed: the recorded call again leaves all the rest recorded."""
    parent = sample("refund-ok")
    edits = parent.edit().reply(wb.turn(2), tool_call=("get_order", {"order_id": 101}))
    result = wb.replay(answer, parent, 101, edits=edits).raise_for_drift()
    assert result.output["status"] == "refunded"
    assert [c.how for c in result.calls if c.turn == 2] == ["edited", "replayed"]
    assert result.live_calls == 0
