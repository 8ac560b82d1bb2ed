/** The forms for a tool's result and for a fault. */

import { h, fill } from './dom.js';
import { parsedTree } from './text.js';
import { makeForm } from './form.js';
import { readJson } from './schema.js';

/** @import { Call, Schema, Turn } from './types.js' */
/** @import { EditForm } from './replyform.js' */

/** Fields of a fault that are rarely filled in. */
const LATER = ['times', 'body', 'headers', 'attempt', 'layer'];

/** @param {Turn} turn @param {{ id: string, changed: () => void }} how @returns {EditForm} */
export function makeResultForm(turn, how) {
  const calls = turn.said.calls;
  if (!calls.length) {
    return { el: h('p', { class: 'wb-none' }, `Turn ${turn.n} called no tool, so it has no result to change.`), read: () => ({ edit: null, problems: [] }) };
  }
  let at = 0;
  const which = h('select', { class: 'wb-in', 'aria-label': 'which call' },
    calls.map((call, index) => h('option', { value: String(index) }, callName(calls, index))));
  const kind = h('select', { class: 'wb-in', 'aria-label': 'written as' }, h('option', { value: 'json' }, 'JSON'), h('option', { value: 'text' }, 'text'));
  const input = h('textarea', { class: 'wb-in wb-mono', rows: '8', spellcheck: 'false', 'aria-label': 'the new result' });
  const note = h('p', { class: 'wb-problem', 'aria-live': 'polite' });
  let start = '';

  function load() {
    const text = calls[at]?.result?.text ?? '';
    const tree = parsedTree(text);
    kind.value = tree === undefined && readJson(text).problem ? 'text' : 'json';
    start = tree === undefined ? text : JSON.stringify(tree, null, 2);
    input.value = start;
    check();
  }

  function check() {
    note.textContent = kind.value === 'json' && input.value.trim() ? readJson(input.value).problem : '';
    how.changed();
  }
  which.addEventListener('change', () => { at = Number(which.value); load(); });
  kind.addEventListener('change', check);
  input.addEventListener('input', check);
  load();
  return {
    el: h('div', null, h('p', { class: 'wb-lead' }, 'the tool returned instead'),
      h('div', { class: 'wb-inline' }, which, kind), input, note),
    read() {
      const isJson = kind.value === 'json';
      const { value, problem } = isJson ? readJson(input.value) : { value: input.value, problem: '' };
      if (problem) return { edit: null, problems: [`the result is ${problem}`] };
      if (input.value === start) return { edit: null, problems: [] };
      const call = /** @type {Call} */ (calls[at]);
      return { problems: [], edit: { type: 'tool_result', at: { kind: 'turn', value: turn.n }, tool: call.name, nth: nth(calls, at), result: value } };
    },
  };
}

/** The how-manyeth call of its tool a call is. @param {Call[]} calls @param {number} at */
function nth(calls, at) {
  return calls.slice(0, at + 1).filter((call) => call.name === calls[at]?.name).length;
}

/** @param {Call[]} calls @param {number} at */
function callName(calls, at) {
  const { name } = /** @type {Call} */ (calls[at]);
  return calls.filter((call) => call.name === name).length > 1 ? `${name}, call ${nth(calls, at)}` : name;
}

/**
 * @param {Turn} turn @param {Record<string, Schema>} forms each fault's schema by its type
 * @param {{ id: string, changed: () => void }} how @returns {EditForm}
 */
export function makeFaultForm(turn, forms, how) {
  const types = Object.keys(forms);
  const type = h('select', { class: 'wb-in', id: `${how.id}-type` }, types.map((each) => h('option', { value: each }, each.replaceAll('_', ' '))));
  const aim = aimSelect(turn, how.id);
  const place = h('div');
  const about = h('p', { class: 'wb-hint' });
  let form = makeForm({}, {}, { id: how.id });

  function rebuild() {
    const schema = forms[type.value] ?? {};
    about.textContent = String(schema.description ?? '').split('\n')[0] ?? '';
    const skip = ['type', 'aim', ...((schema.layers ?? []).length > 1 ? [] : ['layer'])];
    form = makeForm(schema, defaults(type.value), { id: `${how.id}-${type.value}`, skip, later: LATER, changed: how.changed });
    fill(place, form.el);
    const kinds = schema.kinds ?? ['model', 'tool'];
    for (const option of aim.options) option.disabled = !kinds.includes(option.value === '' ? 'model' : 'tool');
    if (aim.selectedOptions[0]?.disabled) aim.value = [...aim.options].find((option) => !option.disabled)?.value ?? '';
    how.changed();
  }
  type.addEventListener('change', rebuild);
  aim.addEventListener('change', how.changed);
  rebuild();
  return {
    el: h('div', null, h('label', { for: `${how.id}-type` }, 'what goes wrong'), type, about,
      h('label', { for: `${how.id}-aim` }, 'where'), aim, place),
    read() {
      const { value, problems } = form.read();
      if (aim.selectedOptions[0]?.disabled) problems.push(`turn ${turn.n} called no tool that could fail so`);
      const fault = { type: type.value, ...value, aim: aimOf(turn, aim.value) };
      return { edit: problems.length || !types.length ? null : { type: 'fault', fault }, problems };
    },
  };
}

/** A form that can be sent as it opens. @param {string} type */
function defaults(type) {
  return type === 'http_error' ? { status_code: 429 } : {};
}

/** @param {Turn} turn @param {string} id */
function aimSelect(turn, id) {
  return h('select', { class: 'wb-in', id: `${id}-aim` },
    h('option', { value: '' }, `the model call of turn ${turn.n}`),
    turn.said.calls.map((call, index) => h('option', { value: String(index) }, `tool ${callName(turn.said.calls, index)}`)));
}

/** @param {Turn} turn @param {string} value */
function aimOf(turn, value) {
  const place = { kind: 'turn', value: turn.n };
  if (value === '') return { place };
  const at = Number(value);
  return { place, tool: turn.said.calls[at]?.name, nth: nth(turn.said.calls, at) };
}
