/** Made-up traces in the shapes of the protocol, for tests and for looking at the page. */

/**
 * @import { Call, Clip, Message, Row, Schema, TraceInfo, Turn } from '../../../workbench/ui/static/js/types.js'
 */

/** @type {Record<string, Schema>} */
export const TOOLS = {
  find_customer: { type: 'object', required: ['email'], properties: { email: { type: 'string', description: 'the address that the customer wrote from' } } },
  get_order: { type: 'object', required: ['order_id'], properties: { order_id: { type: 'integer', minimum: 1 } } },
  refund: {
    type: 'object', required: ['order_id', 'amount'],
    properties: { order_id: { type: 'integer', minimum: 1 }, amount: { type: 'number', exclusiveMinimum: 0 } },
  },
  send_email: {
    type: 'object', required: ['to', 'text'],
    properties: { to: { type: 'string' }, text: { type: 'string' }, urgent: { type: 'boolean', default: false } },
  },
};

const aim = { type: 'object', properties: { place: {}, tool: {}, nth: {}, attempt: {} } };
const times = { type: 'integer', minimum: 1, default: 1, description: 'How many calls it hits.' };

/** @type {Record<string, Schema>} */
export const FAULTS = {
  http_error: {
    $defs: { Aim: aim }, type: 'object', required: ['status_code'],
    description: "The provider answers with an HTTP error, raised as the SDK's own exception for it.",
    properties: {
      aim: { $ref: '#/$defs/Aim' }, times, type: { const: 'http_error', default: 'http_error' },
      status_code: { type: 'integer', minimum: 400, maximum: 599 },
      retry_after_s: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }], default: null },
      body: { default: null },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  timeout: {
    $defs: { Aim: aim }, type: 'object', description: 'The call times out. No real waiting.',
    properties: { aim: { $ref: '#/$defs/Aim' }, times, type: { const: 'timeout' }, after_ms: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }], default: null } },
  },
  connection_reset: { $defs: { Aim: aim }, type: 'object', description: 'The connection drops before an answer comes.', properties: { aim: { $ref: '#/$defs/Aim' }, times, type: { const: 'connection_reset' } } },
  stream_truncate: {
    $defs: { Aim: aim }, type: 'object', kinds: ['model'], layers: ['above'], description: 'A streamed reply breaks off.',
    properties: {
      aim: { $ref: '#/$defs/Aim' }, times, type: { const: 'stream_truncate' },
      after_chunks: { type: 'integer', minimum: 0, default: 1 },
      end: { type: 'string', enum: ['reset', 'stall', 'clean'], default: 'reset' },
    },
  },
};

/** @param {string} text @param {number} [total] @returns {Clip} */
export function clipOf(text, total) {
  return { text, ref: 'r', total: total ?? text.length };
}

/** @type {[string, Record<string, unknown>, unknown, number][]} */
const STORY = [
  ['find_customer', { email: 'fav.example.com.au' }, { error: 'no such customer' }, 0.65],
  ['get_order', { order_id: 101 }, { order_id: 101, customer: 'ada@example.com', total: 149.99, status: 'delivered', items: ['lamp', 'bulb'] }, 0.37],
  ['refund', { order_id: 101, amount: 149.99 }, { refund_id: 'RF-1', amount: 149.99 }, 0.47],
  ...[2, 3, 4, 5, 6].map((n) => /** @type {[string, Record<string, unknown>, unknown, number]} */ (
    ['refund', { order_id: 101, amount: 149.99 }, { refund_id: `RF-${n}`, amount: 149.99 }, 0.4 + n / 40])),
];

/** @param {Partial<TraceInfo>} changes @returns {TraceInfo} */
export function infoOf(changes) {
  return {
    name: 'refund-order-101', status: 'stuck', headline: 'stuck · same call 6×', tone: 'bad', n_turns: 9,
    duration_s: 4.1, cost: '$0.0000', model: 'smollm2-135m', path: 'sample_traces/refund-order-101.trace.jsonl',
    saved: true, findings: [
      { turn: 4, severity: 'error', text: 'refund was called again with the same arguments (6 times in all): it writes' },
      { turn: 1, severity: 'warn', text: 'find_customer answered with an error that the agent ignored' },
    ], cut: null, edited_turns: [], divergence: null, output: null,
    tools_called: { refund: 6 }, spent: '$0.0000', ...changes,
  };
}

/** @param {number} n @param {number} total @returns {Row} */
export function rowOf(n, total) {
  if (n === total && total === 9) {
    return { n, label: 'stopped', summary: 'loop detected, status stuck', step: null, duration_s: 0.41, tone: 'bad', marks: ['error'], source: 'recorded', open: false };
  }
  const [label, args, result, duration_s] = /** @type {any} */ (STORY[(n - 1) % STORY.length]);
  const again = label === 'refund' && (n - 1) % STORY.length > 2;
  const marks = again ? ['again'] : label === 'find_customer' ? ['tool error'] : [];
  return { n, label, summary: `${Object.values(args).join(', ')} → ${Object.values(result).slice(0, 2).join(', ')}`, step: 'refund', duration_s, tone: again ? 'bad' : '', marks, source: 'recorded', open: false };
}

/** @param {Partial<Message> & { role: string }} changes @returns {Message} */
export function messageOf(changes) {
  return { n: 1, name: null, change: null, text: null, calls: [], tool_call_id: null, images: null, words: null, ...changes };
}

/** @param {number} n @param {number} total @param {{ pad?: number, all?: boolean, source?: string }} [how] @returns {Turn} */
export function turnOf(n, total, how = {}) {
  const [name, args, result, duration_s] = /** @type {any} */ (STORY[(n - 1) % STORY.length]);
  const before = /** @type {any} */ (STORY[(n - 2 + STORY.length) % STORY.length]);
  const last = n === total && total === 9;
  const pad = how.pad ? ` ${'lorem ipsum dolor sit amet '.repeat(how.pad / 27)}` : '';
  const fresh = n === 1 ? opening(pad) : [
    messageOf({ n: 2 * n - 1, role: 'assistant', calls: [{ name: before[0], arguments: before[1], id: `call_${n - 1}` }] }),
    messageOf({ n: 2 * n, role: 'tool', name: before[0], text: clipOf(JSON.stringify(before[2]) + pad), tool_call_id: `call_${n - 1}` }),
  ];
  const shared = n === 1 ? 0 : 2 * n - 2;
  const old = Array.from({ length: how.all ? shared : 0 }, (_, i) => messageOf({ n: i + 1, role: i ? 'assistant' : 'system', text: clipOf(`message ${i + 1}`) }));
  const bad = name === 'find_customer';
  const again = name === 'refund' && (n - 1) % STORY.length > 2;
  /** @type {Call} */
  const call = {
    id: `call_${n}`, name, arguments: args, raw: JSON.stringify(args), error: null, effect: name === 'refund' ? 'write' : 'read',
    schema: TOOLS[name] ?? null, entry: `1-${n * 2}`, result: bad ? null : clipOf(JSON.stringify(result)),
    result_error: bad ? 'LookupError: no such customer: fav.example.com.au' : null, duration_s: 0.001, source: how.source ?? 'recorded', again,
    key: name === 'refund' ? `refund:101:${n}` : null,
  };
  return {
    n, step: 'refund', model: 'smollm2-135m', duration_s, first_s: 0.12, cost: '$0.0000', usage: { prompt_tokens: 380 + 16 * n, completion_tokens: 22 },
    source: how.source ?? 'recorded', origin: null, reason: null, started: '2026-05-04 10:12:03', where: 'agents/refund.py:41', error: null, fault: null, open: false,
    finish_reason: last ? 'stop' : 'tool_calls',
    saw: { total: shared + fresh.length, shared, shared_with: n > 1 ? n - 1 : null, tokens: 380 + 16 * n, messages: [...old, ...fresh] },
    folded: how.all ? 0 : shared,
    said: {
      text: last ? clipOf('I have refunded the order.') : null,
      reasoning: n === 4 ? clipOf('The customer is still waiting, and I see no refund. I should refund the order.') : null,
      refusal: null, calls: last ? [] : [call],
    },
    parameters: { temperature: 0, max_tokens: 256, tool_choice: 'auto' }, system: null,
    tools: Object.entries(TOOLS).map(([tool, schema]) => ({ name: tool, description: `The ${tool.replace('_', ' ')} tool.`, schema })),
    findings: again ? ['write repeated, same arguments'] : [],
  };
}

/** @param {string} pad */
function opening(pad) {
  return [
    messageOf({ n: 1, role: 'system', text: clipOf('You are a support agent. Look the customer up, read the order, refund it once, then write an e-mail.') }),
    messageOf({ n: 2, role: 'user', text: clipOf(`My lamp from order 101 arrived broken. I want my money back.${pad}`) }),
  ];
}

/** @param {number} total @param {{ from?: number, source?: number, edited?: number }} [how] */
export function quadsOf(total, how = {}) {
  const out = [];
  let at = 0;
  for (let n = 1; n <= total; n += 1) {
    const row = rowOf(n, total);
    const length = row.duration_s ?? 0.4;
    const source = how.edited === n ? 2 : how.from && n >= how.from ? (how.source ?? 1) : 0;
    const tone = source === 0 && row.tone === 'bad' ? 1 : 0;
    out.push(at, length, n, 2 * tone + 8 * source);
    at += length + 0.01;
    out.push(at, 0.06, n, 1 + (row.marks.includes('tool error') && !source ? 2 : 0) + 8 * (source === 1 ? 1 : 0));
    at += 0.07;
  }
  return new Float32Array(out);
}
