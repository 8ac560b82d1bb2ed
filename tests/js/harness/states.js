/** Every state of the page, by name, for looking at it. */

import { fakeModel } from '../support/fake.js';
import { infoOf, messageOf, clipOf, turnOf } from '../support/sample.js';

const EVIL = '</script><img src=x onerror=alert(1)> \u001b[31mred\u001b[0m \u202etxet neddih\u202c \ud800 lone, 𝔘𝔫𝔦 👩‍👩‍👧 \u0000';

/** @param {Partial<import('../../../workbench/ui/static/js/types.js').TraceInfo>} [changes] */
const fork = (changes) => infoOf({
  name: 'fork 1', status: 'completed', headline: 'completed', tone: 'ok', n_turns: 5, duration_s: 2.3, path: null,
  saved: false, findings: [], cut: 4, edited_turns: [4], divergence: { turn: 4, text: 'tool refund → send_email' },
  tools_called: { refund: 1, send_email: 1 }, ...changes,
});
const edits = [{ index: 0, kind: 'reply', turn: 4, text: 'call send_email(to="ada@example.com", text="Your refund RF-1 is on its way.")' }];
const can = { undo: true, redo: false, run: true, agent: true };
const tail = [
  { turn: 3, kind: 'model', name: 'smollm2-135m', how: 'replayed', reason: 'before the cut', summary: 'refund(101)' },
  { turn: 3, kind: 'tool', name: 'refund', how: 'replayed', reason: 'before the cut', summary: 'RF-1' },
  { turn: 4, kind: 'model', name: 'smollm2-135m', how: 'edited', reason: 'reply edit', summary: 'send_email' },
  { turn: 4, kind: 'tool', name: 'send_email', how: 'live', reason: 'after the cut', summary: 'ada@example.com' },
];
const question = { id: 'q1', tool: 'send_email', arguments: { to: 'ada@example.com', text: 'Your refund RF-1 of $149.99 is on its way.' }, key: 'send_email:101:RF-1', turn: 4, text: 'It changes the world and would run for real.' };
/** @param {string} state @param {Record<string, unknown>} [more] */
const run = (state, more) => ({ state, done: 7, expected: 10, message: '', question: null, tail, ...more });

/** @type {Record<string, () => ReturnType<typeof fakeModel>>} */
export const STATES = {
  plain: () => fakeModel(),
  first: () => fakeModel({ selected: 1 }),
  pending: () => fakeModel({ edits, can }),
  forked: () => fakeModel({ edits, can, traces: [infoOf({}), fork()], run: run('done', { done: 10, message: 'fork 1: completed in 5 turns, 3 calls live' }) }),
  'fork-shown': () => fakeModel({ edits, can, shown: 1, selected: 5, traces: [infoOf({}), fork()] }),
  forks: () => fakeModel({ edits, can, shown: 2, traces: [infoOf({}), fork(), fork({ name: 'fork 2', status: 'failed', headline: 'failed · RateLimitError 429', tone: 'bad' }), fork({ name: 'fork 3' }), fork({ name: 'fork 4' }), fork({ name: 'fork 5' })] }),
  running: () => fakeModel({ edits, can, run: run('running') }),
  asking: () => fakeModel({ edits, can, run: run('asking', { question }) }),
  failed: () => fakeModel({ run: run('failed', { message: 'the agent raised KeyError: \'order_id\' in refund.py line 58\nThe fork up to there is kept.' }), error: 'refund.py:58: KeyError: \'order_id\'' }),
  cancelled: () => fakeModel({ run: run('cancelled', { message: 'cancelled after 7 calls; the fork up to there is kept' }) }),
  blocked: () => fakeModel({ run: run('blocked', { message: 'refund is a write and tools_after is deny: turn 5' }) }),
  drifted: () => fakeModel({ run: run('drifted', { message: 'turn 2 asked for something else than was recorded: messages[0].content' }) }),
  'no-agent': () => fakeModel({ can: { undo: false, redo: false, run: false, agent: false } }),
  empty: () => fakeModel({ selected: 0, traces: [infoOf({ n_turns: 0, headline: 'no model call', tone: 'warn', findings: [], duration_s: 0 })] }, { timeline: () => new Float32Array(0), summary: () => ({ cost: [], latency: [], p50_s: null, p95_s: null }) }),
  none: () => fakeModel({ selected: 0, traces: [] }),
  loading: () => fakeModel({}, { rows: () => undefined, turn: () => undefined, timeline: () => undefined, plan: () => undefined, summary: () => undefined }),
  'cut-short': () => fakeModel({ selected: 9, traces: [infoOf({ status: 'cut short', headline: 'cut short · the process ended in turn 9', tone: 'warn' })] }, { turn: (r) => ({ ...turnOf(r.n, 9, { all: r.all }), ...(r.n === 9 ? { open: true, said: { text: null, reasoning: null, refusal: null, calls: [] } } : {}) }) }),
  huge: () => fakeModel({ selected: 5000, traces: [infoOf({ n_turns: 10000, duration_s: 5120 })] }, { turn: (r) => turnOf(r.n, 10000, { all: r.all, pad: 20000 }) }),
  evil: () => fakeModel({ traces: [infoOf({ name: EVIL, headline: EVIL })] }, { turn: (r) => evilTurn(r.n, r.all) }),
};

/** @param {number} n @param {boolean} all */
function evilTurn(n, all) {
  const turn = turnOf(n, 9, { all });
  const call = turn.said.calls[0];
  turn.saw.messages = [
    messageOf({ role: 'user', change: 'changed', text: clipOf(EVIL), words: [['same', 'please '], ['del', 'refund'], ['add', `do not refund ${EVIL}`], ['same', ' order 101']] }),
    messageOf({ n: 2, role: 'tool', name: EVIL, change: 'dropped', text: clipOf(`${'A'.repeat(300)} ${EVIL.repeat(3)}`), tool_call_id: EVIL }),
    messageOf({ n: 3, role: 'user', change: 'injected', text: clipOf('x'.repeat(200000), 1000000), images: 2 }),
  ];
  turn.error = EVIL;
  turn.said.text = clipOf(EVIL);
  if (call) Object.assign(call, { arguments: { [EVIL]: EVIL, nested: { a: [1, { b: null }], c: 'two\nlines' } }, raw: '{}' });
  return turn;
}
