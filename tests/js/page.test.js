import { afterEach, describe, expect, it } from 'vitest';
import { openPage, requestsOf, settled, type } from './support/page.js';
import { fakeModel } from './support/fake.js';
import { infoOf, turnOf } from './support/sample.js';
import { STATES } from './harness/states.js';

afterEach(() => { document.body.replaceChildren(); });

const fork = infoOf({ name: 'fork 1', headline: 'completed', tone: 'ok', n_turns: 5, saved: false, path: null, cut: 4, edited_turns: [4], divergence: { turn: 4, text: 'tool refund → send_email' } });

describe('the page', () => {
  /** One line says what went wrong, and the turn says what the model saw and said. */
  it('opens on what went wrong', async () => {
    const { one } = await openPage();
    expect(one('.wb-header').textContent).toContain('refund-order-101stuck · same call 6×9 turns · 4.10 s · $0.0000 · smollm2-135m');
    expect(one('.wb-panel').textContent).toContain('8 messages · 2 new since turn 3');
    expect(one('.wb-pair').textContent).toContain('tool callrefundagainwrite');
    expect(one('[aria-selected="true"][role="option"]').textContent).toContain('refundagain');
  });

  /** Every state paints, and says in words what it is. */
  it.each([
    ['running', 'running · 7 of about 10 calls'], ['asking', 'send_email wants to run live'], ['failed', "KeyError: 'order_id'"],
    ['cancelled', 'the fork up to there is kept'], ['blocked', 'refund is a write'], ['drifted', 'turn 2 asked for something else'],
    ['no-agent', 'give the agent'], ['empty', 'This run has no turns'], ['none', 'No trace is open'], ['loading', 'loading…'],
    ['cut-short', 'the run ended before this call had an answer'], ['forks', 'failed · RateLimitError 429'],
  ])('has the state %s', async (name, words) => {
    const { root } = await openPage({}, {}, STATES[name]?.());
    expect(root.textContent).toContain(words);
    expect(root.querySelectorAll('[hidden] [role=alert]')).toHaveLength(0);
  });

  /** A trace full of markup and control characters is text, and nothing of it is an element. */
  it('is safe with a hostile trace', async () => {
    const { root, one } = await openPage({}, {}, STATES.evil?.());
    expect(root.querySelectorAll('img, script, iframe, a')).toHaveLength(0);
    expect(one('.wb-panel').textContent).toContain('</script><img src=x onerror=alert(1)> ⟨ESC⟩[31mred');
    expect(root.textContent).not.toMatch(/[\u0000\u001b\u202e]|[\ud800-\udbff](?![\udc00-\udfff])/);
  });

  /** Stepping has the next turns beforehand, few requests for many turns: no step waits for one. */
  it('has the next turns before they are asked for', async () => {
    const { model, press, one } = await openPage({ selected: 10, traces: [infoOf({ n_turns: 40 })] });
    expect(requestsOf(model, 'turn').map((each) => each.n)).toEqual([10]);
    expect(requestsOf(model, 'turns').map((each) => each.numbers)).toEqual([[11, 12, 13, 14, 15, 9]]);
    for (let n = 11; n < 20; n += 1) {
      press('j');
      await Promise.resolve();
      await Promise.resolve();
      expect(one('.wb-panel').textContent).toContain(`new since turn ${n - 1}`);
      await settled();
    }
    expect(requestsOf(model, 'turn')).toHaveLength(1);
    expect(requestsOf(model, 'turns').slice(1).map((each) => each.numbers)).toEqual([[16, 17, 18], [19, 20, 21], [22, 23, 24]]);
  });

  /** Going up, the turns above come beforehand. */
  it('looks ahead in the direction of travel', async () => {
    const { model, press } = await openPage({ selected: 20, traces: [infoOf({ n_turns: 40 })] });
    press('k');
    await settled();
    expect(requestsOf(model, 'turns').at(-1)?.numbers).toEqual([18, 17, 16, 15, 14]);
  });

  /** Turns that one answer had no room for are asked for one by one. */
  it('gets what was left out of an answer', async () => {
    const { model, press, one } = await openPage({ selected: 10, traces: [infoOf({ n_turns: 40 })] }, { turns: (r) => [turnOf(r.numbers[0], 40)] });
    expect(requestsOf(model, 'turn').map((each) => each.n)).toEqual([10, 12, 13, 14, 15, 9]);
    press('j');
    press('j');
    await settled();
    expect(one('.wb-panel').textContent).toContain('new since turn 11');
  });

  /** A held key moves the list and the turn; the kernel, the plan and the forms follow at its end. */
  it('does the rest when the steps pause', async () => {
    const { model, press, one } = await openPage({ selected: 1, traces: [infoOf({ n_turns: 40 })] });
    await settled(150);
    let told = 0;
    model.save_changes = () => { told += 1; };
    const before = model.sent.length;
    // Without any waiting between, so that a busy machine makes no pause of it.
    for (let n = 0; n < 8; n += 1) press('j');
    expect(model.sent.slice(before).filter((each) => each.do !== 'turns')).toEqual([]);
    expect(told).toBe(0);
    await settled(400);
    expect(one('.wb-panel').textContent).toContain('new since turn 8');
    expect(told).toBe(1);
    expect(requestsOf(model, 'plan').at(-1)).toMatchObject({ n: 9 });
    expect(model.sent.slice(before).filter((each) => each.do === 'plan')).toHaveLength(1);
    expect(one('.wb-change-box h2').textContent).toBe('Change turn 9');
  });

  /** Right after a step the forms belong to the turn looked at before anything is typed or run. */
  it('never changes or runs the turn before', async () => {
    const { model, press, one } = await openPage();
    press('j');
    await Promise.resolve();
    one('.wb-change-box textarea').dispatchEvent(new FocusEvent('focusin', { bubbles: true }));
    expect(one('.wb-change-box h2').textContent).toBe('Change turn 5');
    press('j');
    press('Enter', { ctrlKey: true });
    await settled();
    expect(requestsOf(model, 'run').map((each) => each.n)).toEqual([6]);
    expect(one('.wb-change-box h2').textContent).toBe('Change turn 6');
  });

  /** Python knows where one is before it is asked to do something, and when one leaves the page. */
  it('tells the kernel where one is in time', async () => {
    const { model, press, one, buttonOf } = await openPage({ can: { undo: true, redo: false, run: true, agent: true } });
    /** @type {unknown[]} */
    const order = [];
    model.save_changes = () => { order.push(model.get('selected')); };
    const { send } = model;
    model.send = (message) => { if (message.do === 'undo') order.push('undo'); send(message); };
    press('j');
    buttonOf('Undo').click();
    expect(order).toEqual([5, 'undo']);
    press('j');
    one('.wb-list-scroll').dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
    expect(order).toEqual([5, 'undo', 6]);
  });

  /** The kernel repeats what it was told; while newer steps wait to be told, that takes none back. */
  it('is not taken back by an echo', async () => {
    const { model, press, one } = await openPage({ selected: 1, traces: [infoOf({ n_turns: 40 })] });
    press('j');
    press('j');
    press('j');
    model.receive({ selected: 2 });
    expect(model.get('selected')).toBe(4);
    await settled(150);
    expect(one('[aria-selected="true"][role="option"]').textContent).toMatch(/^4/);
    model.receive({ selected: 9 });
    await settled();
    expect(one('[aria-selected="true"][role="option"]').textContent).toMatch(/^9/);
  });

  /** The first rows come with the page: they stand there without a question to the kernel. */
  it('shows the rows that came with it', async () => {
    const first = Array.from({ length: 24 }, (_, index) => ({ n: index + 1, label: `early ${index + 1}`, summary: '', step: null, duration_s: 1, tone: '', marks: [], source: 'recorded', open: false }));
    const { model, press, root } = await openPage({ selected: 1, first, traces: [infoOf({ n_turns: 400 })] });
    expect(root.querySelector('.wb-row-name')?.textContent).toBe('early 1');
    expect(requestsOf(model, 'rows')).toEqual([]);
    press('End');
    await settled(60);
    expect(requestsOf(model, 'rows').map((each) => each.start)).toEqual([301]);
  });

  /** An answer for a turn that was left meanwhile does not replace the one looked at. */
  it('drops answers that come too late', async () => {
    const { model, one } = await openPage({ selected: 1 }, { turn: (r) => (r.n === 7 ? undefined : turnOf(r.n, 9, { all: r.all })) });
    model.set('selected', 7);
    await settled();
    const late = requestsOf(model, 'turn').find((each) => each.n === 7);
    model.set('selected', 2);
    await settled();
    model.answer({ id: late?.id, ok: true, data: turnOf(7, 9) });
    await settled();
    expect(one('.wb-panel').textContent).toContain('new since turn 1');
  });

  /** A refused request is shown where it was made, and once. */
  it('shows a refused edit in its place', async () => {
    const { model, one, buttonOf, root } = await openPage({}, { edit: () => { throw new Error('the id call_4 is used twice'); } });
    type(one('[id$="-text"]'), 'Done.');
    buttonOf('Apply the change').click();
    model.set('error', 'the id call_4 is used twice');
    await settled();
    expect(one('.wb-notes').textContent).toBe('the id call_4 is used twice');
    expect(one('.wb-banner-bad').hidden).toBe(true);
    expect(root.textContent?.split('used twice')).toHaveLength(3);
  });

  /** An error of the kernel is an alert, and dismissing it tells the kernel. */
  it('shows and dismisses errors', async () => {
    const { model, one, buttonOf } = await openPage({ error: 'the agent is gone' });
    expect(one('[role="alert"].wb-banner-bad').textContent).toContain('the agent is gone');
    buttonOf('Dismiss').click();
    await settled();
    expect(model.get('error')).toBe('');
    expect(one('.wb-banner-bad').hidden).toBe(true);
  });

  /** What was typed is applied before the run, with the guards that were chosen. */
  it('runs from here', async () => {
    const { model, one, press } = await openPage({ guards: { tools_after: 'deny', tools_before: 'verify' } });
    type(one('[id$="-text"]'), 'Done.');
    press('Enter', { ctrlKey: true, on: one('[id$="-text"]') });
    await settled();
    const [edit, run] = model.sent.filter((each) => each.do === 'edit' || each.do === 'run');
    expect(edit).toMatchObject({ edit: { type: 'reply', text: 'Done.' } });
    expect(run).toMatchObject({ do: 'run', n: 4, tools_after: 'deny', tools_before: 'verify', ripple: false, repeat: 1 });
  });

  /** A form with a mistake in it stops the run and says why. */
  it('does not run past a mistake', async () => {
    const { model, one, buttonOf } = await openPage();
    type(one('[id$="-amount"]'), '-1');
    buttonOf('Run from here').click();
    await settled();
    expect(requestsOf(model, 'run')).toEqual([]);
    expect(one('.wb-notes').textContent).toContain('refund amount: more than 0');
  });

  /** A form that nobody touched changes nothing. */
  it('applies nothing that was not typed', async () => {
    const { model, press, buttonOf } = await openPage();
    press('e');
    await settled(60);
    buttonOf('Run from here').click();
    await settled();
    expect(requestsOf(model, 'edit')).toEqual([]);
    expect(requestsOf(model, 'run')).toHaveLength(1);
  });

  /** Whoever opens a fault's form and runs wants the fault: it is said, sent first, and once. */
  it('injects the fault that is open, and says that it will', async () => {
    const { model, one, press, buttonOf } = await openPage();
    press('f');
    await settled(60);
    expect(one('.wb-notes').textContent).toContain('Not applied yet');
    buttonOf('Run from here').click();
    await settled(60);
    expect(requestsOf(model, 'edit')).toMatchObject([{ edit: { type: 'fault', fault: { type: 'http_error', status_code: 429 } } }]);
    expect(requestsOf(model, 'run')).toHaveLength(1);
    buttonOf('Run from here').click();
    await settled(60);
    expect(requestsOf(model, 'edit')).toHaveLength(1);
  });

  /** A live write asks with the focus on it, and the answer names the question. */
  it('asks before a live write', async () => {
    const { model, one, buttonOf } = await openPage({}, {}, STATES.asking?.());
    const card = one('[role="alertdialog"]');
    expect(document.activeElement).toBe(card);
    expect(card.textContent).toContain('ada@example.com');
    buttonOf('Deny').click();
    expect(requestsOf(model, 'answer')).toMatchObject([{ question: 'q1', verdict: 'deny' }]);
    model.set('run', { ...model.get('run'), state: 'running', question: null });
    await settled();
    expect(one('.wb-run').textContent).not.toContain('wants to run live');
  });

  /** Nobody who types elsewhere in the notebook is torn away by a question. */
  it('leaves the focus of another cell alone', async () => {
    const cell = document.createElement('textarea');
    document.body.append(cell);
    cell.focus();
    await openPage({}, {}, STATES.asking?.());
    expect(document.activeElement).toBe(cell);
  });

  /** A fork stands beside its parent, with the first divergence as the headline. */
  it('shows the fork beside its parent', async () => {
    const { model, one, press, root } = await openPage({ traces: [infoOf({}), fork] });
    expect(one('.wb-outcome').textContent).toContain('recorded → fork 1completedfirst divergence: turn 4 tool refund → send_email');
    expect(root.querySelectorAll('.wb-lane')).toHaveLength(2);
    press(']');
    await settled();
    expect(model.get('shown')).toBe(1);
    expect(one('.wb-name').textContent).toBe('refund-order-101 › fork 1');
    press('4');
    await settled();
    expect(one('.wb-compare').textContent).toContain('3 turns the same in both');
  });

  /** A fork that is shorter than the turn looked at shows its last turn. */
  it('stays within a shorter fork', async () => {
    const { model, press } = await openPage({ selected: 9, traces: [infoOf({}), fork] });
    press(']');
    expect([model.get('shown'), model.get('selected')]).toEqual([1, 5]);
  });

  /** Turns that come while a run goes on are read anew, and others are not. */
  it('reads a trace that grew again', async () => {
    const { model, one } = await openPage({ traces: [infoOf({}), fork], shown: 1, selected: 5 });
    const before = requestsOf(model, 'rows').length;
    model.set('traces', [infoOf({}), { ...fork, n_turns: 6 }]);
    await settled();
    expect(one('.wb-of').textContent).toBe('/ 6');
    const rows = requestsOf(model, 'rows').slice(before);
    expect(rows.map((each) => [each.trace, each.stop])).toEqual([[1, 7]]);
  });

  /** The list shows what was found, and steps go along it. */
  it('searches', async () => {
    const { model, one, press, root } = await openPage();
    type(one('.wb-search'), 'refund');
    await settled(260);
    expect(requestsOf(model, 'search').at(-1)).toMatchObject({ trace: 0, query: 'refund', filter: '' });
    expect(one('.wb-list-note').textContent).toBe('4 turns of 9');
    expect(root.querySelectorAll('[role="option"]')).toHaveLength(4);
    press('End');
    expect(model.get('selected')).toBe(7);
    press('Escape', { on: one('.wb-search') });
    await settled();
    expect(root.querySelectorAll('[role="option"]')).toHaveLength(9);
  });

  /** Two views of one model stay in step, and share no id. */
  it('stays in step with another view', async () => {
    const model = fakeModel();
    const a = await openPage({}, {}, model);
    const b = await openPage({}, {}, model);
    a.press('j');
    await settled();
    for (const view of [a, b]) expect(view.one('[aria-selected="true"][role="option"] .wb-n').textContent).toBe('5');
    const ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  /** A closed view leaves nothing behind: no element, no listener. */
  it('cleans up', async () => {
    const { model, el, close } = await openPage();
    close();
    expect(el.childNodes).toHaveLength(0);
    expect([...model.listeners.values()].map((each) => each.size).filter(Boolean)).toEqual([]);
    model.set('selected', 2);
    await settled();
  });
});
