import { describe, expect, it } from 'vitest';
import { makeForm } from '../../workbench/ui/static/js/form.js';
import { planField, readJson } from '../../workbench/ui/static/js/schema.js';
import { makeFaultForm, makeResultForm } from '../../workbench/ui/static/js/otherforms.js';
import { makeReplyForm } from '../../workbench/ui/static/js/replyform.js';
import { FAULTS, TOOLS, turnOf } from './support/sample.js';
import { type } from './support/page.js';

const how = { id: 'f', changed: () => {} };

describe('forms from a schema', () => {
  /** Each type gets its field, and gives back its own type. */
  it('reads each kind of value', () => {
    const schema = {
      type: 'object', required: ['n'], properties: {
        n: { type: 'integer' }, x: { type: 'number' }, on: { type: 'boolean' }, one: { enum: ['a', 2] },
        list: { type: 'array' }, inner: { type: 'object', properties: { deep: { type: 'string' } } },
      },
    };
    const form = makeForm(schema, { n: 1, x: 0.5, on: false, one: 2, list: [1, 2], inner: { deep: 'd' } }, how);
    expect(form.read()).toEqual({ value: { n: 1, x: 0.5, on: false, one: 2, list: [1, 2], inner: { deep: 'd' } }, problems: [] });
  });

  /** None, an empty text and an absent field stay three things. */
  it('keeps empty, absent and given apart', () => {
    const schema = { properties: { a: { type: 'string' }, b: { type: 'string' }, c: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null } } };
    expect(makeForm(schema, { a: '' }, how).read().value).toEqual({ a: '' });
    expect(makeForm(schema, {}, how).read().value).toEqual({});
  });

  /** A wrong value is named where it stands, with what would be right. */
  it('says what is wrong', () => {
    const form = makeForm(TOOLS.refund ?? {}, { order_id: 101, amount: 1 }, how);
    type(form.el.querySelector('#f-order_id'), '1.5');
    type(form.el.querySelector('#f-amount'), '0');
    expect(form.read().problems).toEqual(['order_id: a whole number', 'amount: more than 0']);
    expect(form.el.querySelector('#f-order_id-note')?.textContent).toBe('a whole number');
    expect(form.el.querySelector('#f-order_id')?.getAttribute('aria-invalid')).toBe('true');
    type(form.el.querySelector('#f-amount'), 'many');
    expect(form.read().problems[1]).toBe('amount: a number, not many');
  });

  /** An empty field is no mistake before anyone has typed, but it cannot be sent. */
  it('waits before it complains', () => {
    const form = makeForm(TOOLS.refund ?? {}, {}, how);
    expect(form.read().problems).toEqual(['order_id: needed', 'amount: needed']);
    expect(form.el.textContent).not.toContain('needed');
    type(form.el.querySelector('#f-amount'), '2');
    expect(form.el.textContent).toContain('needed');
  });

  /** Arguments that the schema does not know are kept. */
  it('keeps what is not in the schema', () => {
    expect(makeForm(TOOLS.get_order ?? {}, { order_id: 1, extra: { a: null } }, how).read().value).toEqual({ order_id: 1, extra: { a: null } });
  });

  /** References and nullable types resolve; a reference in a circle ends. */
  it('follows references', () => {
    const root = { $defs: { N: { type: 'integer', minimum: 3 }, Loop: { $ref: '#/$defs/Loop' } } };
    expect(planField('n', { $ref: '#/$defs/N' }, root)).toMatchObject({ kind: 'integer', schema: { minimum: 3 } });
    expect(planField('n', { anyOf: [{ $ref: '#/$defs/N' }, { type: 'null' }] }, root)).toMatchObject({ kind: 'integer', optional: true });
    expect(planField('n', { type: ['string', 'null'] }, root)).toMatchObject({ kind: 'text', optional: true });
    expect(planField('n', { $ref: '#/$defs/Loop' }, root).kind).toBe('json');
  });

  /** Broken JSON says where it is broken. */
  it('locates broken JSON', () => {
    expect(readJson('{"a": 1}')).toEqual({ value: { a: 1 }, problem: '' });
    expect(readJson('{\n "a": x}').problem).toMatch(/^not JSON/);
  });
});

describe('the three changes', () => {
  /** A reply edit holds only what was changed. */
  it('edits a reply', () => {
    const form = makeReplyForm(turnOf(4, 9), how);
    expect(form.read().edit).toBeNull();
    type(form.el.querySelector('[id$="-text"]'), 'Done.');
    expect(form.read().edit).toEqual({ type: 'reply', at: { kind: 'turn', value: 4 }, text: 'Done.' });
  });

  /** Changing the tool gives a form of the other tool, and a new call id. */
  it('calls another tool', () => {
    const form = makeReplyForm(turnOf(4, 9), how);
    type(form.el.querySelector('[aria-label="tool"]'), 'send_email');
    expect(form.read().problems).toEqual(['send_email to: needed', 'send_email text: needed']);
    type(form.el.querySelector('[id$="-to"]'), 'ada@example.com');
    type(form.el.querySelector('.wb-call textarea'), 'On its way.');
    expect(form.read()).toEqual({
      problems: [],
      edit: {
        type: 'reply', at: { kind: 'turn', value: 4 },
        tool_calls: [{ name: 'send_email', arguments: { to: 'ada@example.com', text: 'On its way.', urgent: false } }],
      },
    });
  });

  /** The same tool keeps its id, so that its result still has its call. */
  it('keeps the id of a call whose arguments change', () => {
    const form = makeReplyForm(turnOf(4, 9), how);
    type(form.el.querySelector('[id$="-amount"]'), '10');
    expect(form.read().edit?.tool_calls).toEqual([{ name: 'refund', arguments: { order_id: 101, amount: 10 }, id: 'call_4' }]);
  });

  /** Dropping the only call asks for a reply without calls, which is not the same as no change. */
  it('drops a call', () => {
    const form = makeReplyForm(turnOf(4, 9), how);
    /** @type {HTMLButtonElement | null} */ (form.el.querySelector('[aria-label="drop the call of refund"]'))?.click();
    expect(form.read().edit).toEqual({ type: 'reply', at: { kind: 'turn', value: 4 }, tool_calls: [] });
  });

  /** Arguments that are no JSON can be sent, since models write such calls. */
  it('sends broken arguments as they are', () => {
    const form = makeReplyForm(turnOf(4, 9), how);
    const json = [...form.el.querySelectorAll('button')].find((each) => each.textContent === 'JSON');
    json?.click();
    type(form.el.querySelector('[aria-label="arguments"]'), '{"order_id": 101,');
    expect(form.read().edit?.tool_calls).toEqual([{ name: 'refund', arguments: '{"order_id": 101,', id: 'call_4' }]);
    expect(form.el.textContent).toContain('Not a JSON object');
  });

  /** A tool's result is checked as JSON, or taken as text. */
  it('edits a result', () => {
    const form = makeResultForm(turnOf(2, 9), how);
    expect(form.read().edit).toBeNull();
    type(form.el.querySelector('textarea'), '{"total": }');
    expect(form.read().problems[0]).toMatch(/^the result is not JSON/);
    type(form.el.querySelector('textarea'), '{"total": 1}');
    expect(form.read().edit).toEqual({ type: 'tool_result', at: { kind: 'turn', value: 2 }, tool: 'get_order', nth: 1, result: { total: 1 } });
    type(form.el.querySelector('[aria-label="written as"]'), 'text');
    expect(form.read().edit?.result).toBe('{"total": 1}');
    expect(makeResultForm(turnOf(9, 9), how).el.textContent).toContain('called no tool');
  });

  /** A fault is aimed at the turn, with the fields of its own model. */
  it('injects a fault', () => {
    const form = makeFaultForm(turnOf(4, 9), FAULTS, how);
    expect(form.read().edit).toEqual({ type: 'fault', fault: { type: 'http_error', status_code: 429, times: 1, aim: { place: { kind: 'turn', value: 4 } } } });
    type(form.el.querySelector('#f-http_error-status_code'), '99');
    expect(form.read()).toEqual({ edit: null, problems: ['status_code: at least 400'] });
    type(form.el.querySelector('#f-type'), 'timeout');
    type(form.el.querySelector('#f-aim'), '0');
    expect(form.read().edit).toEqual({ type: 'fault', fault: { type: 'timeout', times: 1, aim: { place: { kind: 'turn', value: 4 }, tool: 'refund', nth: 1 } } });
  });

  /** A tool's result is not streamed, so a cut stream can only hit the model. */
  it('does not aim a cut stream at a tool', () => {
    const form = makeFaultForm(turnOf(4, 9), FAULTS, how);
    type(form.el.querySelector('#f-aim'), '0');
    type(form.el.querySelector('#f-type'), 'stream_truncate');
    expect(form.read().edit).toEqual({ type: 'fault', fault: { type: 'stream_truncate', times: 1, after_chunks: 1, end: 'reset', aim: { place: { kind: 'turn', value: 4 } } } });
  });

  /** A failing tool is one of the turn's own; a turn that called none has nothing to fail. */
  it('aims a fault of tools at a tool', () => {
    /** @type {Record<string, any>} */
    const forms = { timeout: FAULTS.timeout, tool_error: { kinds: ['tool'], layers: ['above'], properties: { message: { type: 'string', default: 'no' }, layer: { enum: ['above', 'below'], default: 'above' } } } };
    const form = makeFaultForm(turnOf(4, 9), forms, how);
    type(form.el.querySelector('#f-type'), 'tool_error');
    expect(form.read().edit).toEqual({ type: 'fault', fault: { type: 'tool_error', message: 'no', aim: { place: { kind: 'turn', value: 4 }, tool: 'refund', nth: 1 } } });
    const without = makeFaultForm(turnOf(9, 9), forms, how);
    type(without.el.querySelector('#f-type'), 'tool_error');
    expect(without.read()).toEqual({ edit: null, problems: ['turn 9 called no tool that could fail so'] });
  });
});
