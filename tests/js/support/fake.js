/** A model that answers as the kernel does, from made-up traces. */

import { FAULTS, infoOf, quadsOf, rowOf, turnOf } from './sample.js';

/**
 * @import { Model } from '../../../workbench/ui/static/js/types.js'
 * @typedef {Record<string, any>} Bag
 * @typedef {(request: Bag) => unknown} Handler
 * @typedef {Model & { state: Bag, sent: Bag[], listeners: Map<string, Set<(...args: any[]) => void>>,
 *   receive: (changes: Bag) => void, answer: (message: Bag, buffers?: DataView[]) => void }} FakeModel
 */

let underWay = 0;

/** How many requests are on their way. */
export function requestsUnderWay() {
  return underWay;
}

/** @returns {Bag} */
export function freshTraits() {
  return {
    selected: 4, shown: 0, traces: [infoOf({})], edits: [], can: { undo: false, redo: false, run: true, agent: true },
    run: { state: 'idle', done: 0, expected: null, message: '', question: null, tail: [] }, error: '',
    python: 'wb = workbench.Workbench("refund-order-101.trace.jsonl", agent=agent)', fault_forms: FAULTS,
  };
}

/**
 * @param {Bag} [traits] @param {Record<string, Handler>} [handlers] in place of the usual answers
 * @returns {FakeModel}
 */
export function fakeModel(traits = {}, handlers = {}) {
  const state = { ...freshTraits(), ...traits };
  /** @type {FakeModel['listeners']} */
  const listeners = new Map();
  /** @param {string} name @param {...any} args */
  const emit = (name, ...args) => { for (const each of [...(listeners.get(name) ?? [])]) each(...args); };
  /** @type {FakeModel} */
  const model = {
    state, listeners, sent: [],
    get: (name) => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      emit(`change:${name}`);
    },
    save_changes() {},
    on(name, callback) {
      if (!listeners.has(name)) listeners.set(name, new Set());
      listeners.get(name)?.add(callback);
    },
    off(name, callback) { if (name && callback) listeners.get(name)?.delete(callback); },
    send(message) {
      model.sent.push(message);
      underWay += 1;
      setTimeout(() => { underWay -= 1; reply(model, handlers, message); }, 0);
    },
    receive(changes) { for (const [name, value] of Object.entries(changes)) model.set(name, value); },
    answer: (message, buffers) => emit('msg:custom', message, buffers),
  };
  return model;
}

/** @param {FakeModel} model @param {Record<string, Handler>} handlers @param {Bag} message */
function reply(model, handlers, message) {
  const handler = handlers[message.do] ?? (message.do === 'turns' ? turnsBy(handlers) : USUAL[message.do]);
  if (!handler) return;
  try {
    const data = handler({ ...message, model });
    if (data === undefined) return;
    if (data instanceof Float32Array) model.answer({ id: message.id, ok: true, data: null }, [new DataView(data.buffer)]);
    else if (message.do.startsWith('turn')) model.answer({ id: message.id, ok: true, data: null }, [utf8(data)]);
    else model.answer({ id: message.id, ok: true, data });
  } catch (error) {
    model.answer({ id: message.id, ok: false, error: String(/** @type {Error} */ (error).message) });
  }
}

/** Several turns, each as one would be answered. @param {Record<string, Handler>} handlers @returns {Handler} */
function turnsBy(handlers) {
  const one = /** @type {Handler} */ (handlers.turn ?? USUAL.turn);
  return ({ numbers, ...rest }) => numbers.map((/** @type {number} */ n) => one({ ...rest, do: 'turn', n })).filter(Boolean);
}

/** @param {unknown} data */
export function utf8(data) {
  return new DataView(new TextEncoder().encode(JSON.stringify(data)).buffer);
}

/** @param {Bag} request */
const length = ({ model, trace }) => model.get('traces')[trace ?? 0].n_turns;

/** @type {Record<string, Handler>} */
const USUAL = {
  rows: (r) => Array.from({ length: r.stop - r.start }, (_, i) => forkRow(r, r.start + i)),
  timeline: (r) => (r.trace ? quadsOf(length(r), { from: 5, edited: 4 }) : quadsOf(length(r))),
  turn: (r) => turnOf(r.n, length(r), { all: r.all, source: r.trace && r.n > 4 ? 'live' : 'recorded' }),
  text: (r) => ({ text: 'x'.repeat(1000), start: r.start, next: r.start + 1000, total: r.start + 1000 }),
  raw: (r) => {
    const turn = turnOf(r.n, length(r), { all: true });
    const request = JSON.stringify({ model: turn.model, messages: turn.saw.messages.map((m) => ({ role: m.role, content: m.text?.text })) }, null, 2);
    return { request: { text: request, ref: 'q', total: request.length }, reply: { text: JSON.stringify(turn.said, null, 2), ref: 'p', total: JSON.stringify(turn.said, null, 2).length }, chunks: 14 };
  },
  search: () => ({ turns: [4, 5, 6, 7], complete: true }),
  next: (r) => ({ n: r.from + r.direction }),
  edit: () => ({ problems: [], warnings: [], preview: '' }),
  undo: () => ({}), redo: () => ({}), clear: () => ({}), cancel: () => ({}), answer: () => ({}), run: () => ({}),
  preview: () => ({ text: 'turn 4, reply\n- refund(order_id=101, amount=149.99)\n+ send_email(to="ada@example.com", text="Your refund RF-1 is on its way.")', rows: [] }),
  plan: (r) => ({ text: '', lines: ['turn 1: model and find_customer from the trace', 'turn 2: model and get_order from the trace', 'turn 3: model and refund from the trace', 'turn 4: edited', 'turn 5 on: live'], served: 2 * (r.n - 1), edited: r.model.get('edits').length, live: 2, cost: 'about $0.00', cut: r.n, problems: [] }),
  compare: () => ({
    headline: 'first divergence: turn 4, tool refund → send_email',
    rows: [1, 2, 3].map((n) => ({ kind: 'same', a: n, b: n, text_a: forkRow({ trace: 0 }, n).summary, text_b: forkRow({ trace: 0 }, n).summary, what: null })).concat(/** @type {any} */ ([
      { kind: 'changed', a: 4, b: 4, text_a: 'refund(order_id=101, amount=149.99) → RF-2', text_b: 'send_email(to="ada@example.com", …) → sent', what: 'tool refund → send_email' },
      { kind: 'changed', a: 5, b: 5, text_a: 'refund(order_id=101, amount=149.99) → RF-3', text_b: 'The refund RF-1 of $149.99 is on its way.', what: 'text instead of tool refund' },
      ...[6, 7, 8, 9].map((n) => ({ kind: 'dropped', a: n, b: null, text_a: forkRow({ trace: 0 }, n).summary, text_b: null, what: 'the fork ended before' })),
    ])),
    table: [
      { name: 'recorded', outcome: 'stuck', tone: 'bad', turns: 9, tools: { refund: 6 }, cost: '$0.0000', time: '4.1 s' },
      { name: 'fork 1', outcome: 'completed', tone: 'ok', turns: 5, tools: { refund: 1, send_email: 1 }, cost: '$0.0000', time: '2.3 s' },
    ],
  }),
  summary: (r) => ({
    cost: [{ key: 'smollm2-135m', value: 0.0004, text: '$0.0004 · 9 calls' }, { key: 'tools', value: 0.0001, text: '$0.0001' }],
    latency: Array.from({ length: length(r) }, (_, i) => ({ turn: i + 1, duration_s: rowOf(i + 1, 99).duration_s, source: r.trace && i >= 4 ? 'live' : 'recorded', first_s: 0.1 })),
    p50_s: 0.47, p95_s: 0.65,
  }),
  save: (r) => ({ path: r.path }),
};

/** @param {Bag} request @param {number} n */
function forkRow({ trace, model }, n) {
  const row = rowOf(n, model ? model.get('traces')[trace].n_turns : 9);
  if (!trace || n < 4) return row;
  if (n === 4) return { ...row, label: 'send_email', summary: 'ada@example.com → sent', tone: '', marks: ['edited'] };
  return { ...row, label: 'The refund RF-1 of $149.99…', summary: 'finish: stop', tone: '', marks: ['live'] };
}
