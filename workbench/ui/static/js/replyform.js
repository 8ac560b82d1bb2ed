/** "The model said this instead": its text and its tool calls. */

import { h, button, fill } from './dom.js';
import { inline } from './text.js';
import { makeForm } from './form.js';

/**
 * @import { ToolSpec, Turn } from './types.js'
 * @typedef {{ el: HTMLElement, read: () => { edit: Record<string, unknown> | null, problems: string[] } }} EditForm
 *   What each form of the change column offers: its elements and the edit that they stand for.
 * @typedef {{ name: string, id: string | null, arguments: unknown, raw: string }} Draft
 */

/** @param {Turn} turn @param {{ id: string, changed: () => void }} how @returns {EditForm} */
export function makeReplyForm(turn, how) {
  const recorded = turn.said.text?.text ?? '';
  const text = h('textarea', { class: 'wb-in', rows: '3', id: `${how.id}-text`, value: recorded, oninput: how.changed });
  const place = h('div', { class: 'wb-calls' });
  /** @type {{ editor: ReturnType<typeof callEditor> }[]} */
  let calls = [];
  const before = JSON.stringify(turn.said.calls.map((call) => [call.name, call.arguments ?? call.raw]));

  /** @param {Draft} draft */
  function add(draft) {
    const entry = { editor: callEditor(turn, draft, { id: `${how.id}-${Date.now()}-${calls.length}`, changed: how.changed, remove: () => drop(entry) }) };
    calls.push(entry);
  }

  /** @param {{ editor: any }} entry */
  function drop(entry) {
    calls = calls.filter((each) => each !== entry);
    paint();
    how.changed();
  }

  function paint() {
    fill(place, calls.map(({ editor }) => editor.el),
      button(calls.length ? 'add a tool call' : 'call a tool', () => {
        add({ name: firstTool(turn), id: null, arguments: {}, raw: '{}' });
        paint();
        how.changed();
      }, { class: 'wb-btn wb-small' }));
  }

  for (const call of turn.said.calls) add({ name: call.name, id: call.id, arguments: call.arguments, raw: call.raw });
  paint();
  const clipped = turn.said.text && turn.said.text.total > recorded.length;
  return {
    el: h('div', null, h('p', { class: 'wb-lead' }, 'the model said instead'), place,
      h('label', { for: `${how.id}-text` }, 'its own words'), text,
      clipped && h('p', { class: 'wb-hint' }, 'This is the beginning of a long text. Changing it leaves the rest out.')),
    read() {
      const readings = calls.map(({ editor }) => editor.read());
      const problems = readings.flatMap((reading) => reading.problems);
      const now = JSON.stringify(readings.map((reading) => [reading.call.name, reading.call.arguments]));
      /** @type {Record<string, unknown>} */
      const edit = { type: 'reply', at: { kind: 'turn', value: turn.n } };
      if (text.value !== recorded) edit.text = text.value;
      if (now !== before) edit.tool_calls = readings.map((reading) => reading.call);
      const changes = 'text' in edit || 'tool_calls' in edit;
      return { edit: changes ? edit : null, problems };
    },
  };
}

/** @param {Turn} turn */
function firstTool(turn) {
  return turn.tools.find((tool) => !turn.said.calls.some((call) => call.name === tool.name))?.name ?? turn.tools[0]?.name ?? '';
}

/** One tool call: which tool, and its arguments by a form or as JSON.
 * @param {Turn} turn @param {Draft} draft @param {{ id: string, changed: () => void, remove: () => void }} how */
function callEditor(turn, draft, how) {
  let name = draft.name;
  let asJson = draft.arguments === null;
  /** @type {ReturnType<typeof argumentsForm>} */
  let body = argumentsForm(toolOf(turn, name), draft, asJson, how);
  const place = h('div', null, body.el);
  const names = [...new Set([...turn.tools.map((tool) => tool.name), draft.name])].filter(Boolean);
  const tool = names.length
    ? h('select', { class: 'wb-in', 'aria-label': 'tool' }, names.map((each) => h('option', { value: each }, `call ${each}`)))
    : h('input', { class: 'wb-in', 'aria-label': 'tool', placeholder: 'tool' });
  tool.value = name;
  tool.addEventListener('change', () => {
    name = tool.value;
    rebuild({ ...draft, arguments: name === draft.name ? draft.arguments : {}, raw: name === draft.name ? draft.raw : '{}' });
  });
  const toggle = button('JSON', () => {
    const { call } = body.read();
    asJson = !asJson;
    const isObject = call.arguments !== null && typeof call.arguments === 'object';
    rebuild({ ...draft, arguments: isObject ? call.arguments : {}, raw: isObject ? JSON.stringify(call.arguments, null, 2) : inline(call.arguments) });
  }, { class: 'wb-btn wb-small', title: 'edit the arguments as JSON' });

  /** @param {Draft} next */
  function rebuild(next) {
    body = argumentsForm(toolOf(turn, name), next, asJson, how);
    fill(place, body.el);
    toggle.setAttribute('aria-pressed', String(asJson));
    how.changed();
  }
  toggle.setAttribute('aria-pressed', String(asJson));
  return {
    el: h('div', { class: 'wb-call' },
      h('div', { class: 'wb-inline' }, tool, toggle, button('✕', how.remove, { class: 'wb-btn wb-small', 'aria-label': `drop the call of ${name}`, title: 'drop this call' })), place),
    read() {
      const { call, problems } = body.read();
      const id = draft.id && name === draft.name ? { id: draft.id } : {};
      return { call: { name, arguments: call.arguments, ...id }, problems: name ? problems : ['name the tool to call'] };
    },
  };
}

/** @param {Turn} turn @param {string} name @returns {ToolSpec | undefined} */
function toolOf(turn, name) {
  const spec = turn.tools.find((tool) => tool.name === name);
  if (spec?.schema) return spec;
  const schema = turn.said.calls.find((call) => call.name === name)?.schema ?? null;
  return schema ? { name, description: null, schema } : spec;
}

/** @param {ToolSpec | undefined} tool @param {Draft} draft @param {boolean} asJson @param {{ id: string, changed: () => void }} how */
function argumentsForm(tool, draft, asJson, how) {
  if (tool?.schema && !asJson) {
    const value = /** @type {Record<string, unknown>} */ (draft.arguments ?? {});
    const form = makeForm(tool.schema, value, { id: how.id, changed: how.changed });
    return {
      el: form.el,
      read() {
        const { value: out, problems } = form.read();
        return { call: { arguments: /** @type {unknown} */ (out) }, problems: problems.map((each) => `${tool.name} ${each}`) };
      },
    };
  }
  return jsonArguments(draft, how);
}

/** A text that is no JSON object is sent as it is: models do write such calls.
 * @param {Draft} draft @param {{ id: string, changed: () => void }} how */
function jsonArguments(draft, how) {
  const start = draft.arguments === null ? draft.raw : JSON.stringify(draft.arguments, null, 2);
  const input = h('textarea', { class: 'wb-in', rows: '5', spellcheck: 'false', 'aria-label': 'arguments', value: start });
  const note = h('p', { class: 'wb-hint' });
  const parse = () => {
    try {
      const value = JSON.parse(input.value);
      return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : input.value;
    } catch {
      return input.value;
    }
  };
  const paint = () => {
    note.textContent = typeof parse() === 'string' ? 'Not a JSON object: sent to the agent as it is, as a model would.' : '';
    how.changed();
  };
  input.addEventListener('input', paint);
  return { el: h('div', null, input, note), read: () => ({ call: { arguments: /** @type {unknown} */ (parse()) }, problems: /** @type {string[]} */ ([]) }) };
}
