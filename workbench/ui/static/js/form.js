/** A form made from a JSON Schema. */

import { h, say } from './dom.js';
import { inline } from './text.js';
import { planField, problemOf, readJson, resolve } from './schema.js';

/**
 * @import { Schema } from './types.js'
 * @import { FieldPlan } from './schema.js'
 * @typedef {{ value: unknown, given: boolean, problem: string }} Reading
 *   `given` false: the field is left out, since it is empty and need not be there.
 * @typedef {{ el: HTMLElement, read: () => Reading }} Field
 * @typedef {{ value: Record<string, unknown>, problems: string[] }} FormReading
 * @typedef {{ el: HTMLElement, read: () => FormReading }} Form
 * @typedef {{
 *   id: string, skip?: string[], later?: string[], changed?: () => void, root?: Schema,
 * }} FormOptions
 *   `skip` are fields that stand elsewhere, `later` those behind "more".
 */

const NEEDED = 'needed';

/**
 * @param {Schema} schema @param {Record<string, unknown>} value what the fields start with
 * @param {FormOptions} options
 * @returns {Form}
 */
export function makeForm(schema, value, options) {
  const root = options.root ?? schema;
  const own = resolve(schema, root);
  const required = new Set(own.required ?? []);
  /** @type {Map<string, { field: Field, note: HTMLElement, later: boolean }>} */
  const fields = new Map();
  for (const [name, each] of Object.entries(own.properties ?? {})) {
    if (options.skip?.includes(name)) continue;
    const plan = planField(name, /** @type {Schema} */ (each), root);
    const note = h('span', { class: 'wb-problem', id: `${options.id}-${name}-note`, 'aria-live': 'polite' });
    const start = name in value ? value[name] : plan.schema.default;
    const field = makeField(name, plan, start, required.has(name), { ...options, root }, note);
    fields.set(name, { field, note, later: options.later?.includes(name) ?? false });
  }
  const extra = Object.entries(value).filter(([name]) => !fields.has(name) && !options.skip?.includes(name));

  // What is only empty yet is no mistake before somebody has typed.
  let touched = false;

  function read() {
    /** @type {Record<string, unknown>} */
    const out = Object.fromEntries(extra);
    const problems = [];
    for (const [name, { field, note }] of fields) {
      const reading = field.read();
      say(note, touched || reading.problem !== NEEDED ? reading.problem : '');
      if (reading.problem) problems.push(`${name}: ${reading.problem}`);
      else if (reading.given) out[name] = reading.value;
    }
    return { value: out, problems };
  }
  return { el: layOut(fields, extra.map(([name]) => name), () => { touched = true; read(); options.changed?.(); }), read };
}

/**
 * @param {Map<string, { field: Field, later: boolean }>} fields @param {string[]} extra
 * @param {() => void} changed
 */
function layOut(fields, extra, changed) {
  const now = [...fields.values()].filter((each) => !each.later).map((each) => each.field.el);
  const later = [...fields.values()].filter((each) => each.later).map((each) => each.field.el);
  return h('div', { class: 'wb-form', oninput: changed, onchange: changed },
    now, later.length > 0 && h('details', { class: 'wb-later' }, h('summary', null, 'more'), later),
    extra.length > 0 && h('p', { class: 'wb-foot' }, `kept as it is, not in the schema: ${extra.join(', ')}`),
    !fields.size && !extra.length && h('p', { class: 'wb-none' }, 'nothing to fill in'));
}

/**
 * @param {string} name @param {FieldPlan} plan @param {unknown} start @param {boolean} required
 * @param {FormOptions & { root: Schema }} options @param {HTMLElement} note
 * @returns {Field}
 */
function makeField(name, plan, start, required, options, note) {
  const id = `${options.id}-${name}`;
  if (plan.kind === 'object') return nested(name, plan, start, required, options);
  const { input, read } = INPUTS[plan.kind](plan, start, required);
  input.id = id;
  input.classList.add('wb-in');
  input.setAttribute('aria-describedby', note.id);
  const title = name.replaceAll('_', ' ');
  const hint = plan.schema.description ?? (plan.kind === 'json' ? 'JSON' : '');
  const el = h('div', { class: 'wb-field' },
    h('label', { for: id }, title, required ? h('abbr', { title: 'needed' }, ' *') : null,
      h('span', { class: 'wb-type' }, typeWord(plan))), input,
    hint && h('span', { class: 'wb-hint' }, hint), note);
  return { el, read: () => checked(plan, required, read(), input) };
}

/** @param {FieldPlan} plan */
function typeWord(plan) {
  if (plan.kind === 'choice') return 'choice';
  return plan.kind === 'long' || plan.kind === 'text' ? 'text' : (plan.schema.type ?? plan.kind);
}

/** @param {FieldPlan} plan @param {boolean} required @param {Reading} reading @param {HTMLElement} input */
function checked(plan, required, reading, input) {
  let { problem } = reading;
  if (!problem && !reading.given && required) problem = NEEDED;
  if (!problem && reading.given && reading.value !== null) problem = problemOf(plan, reading.value);
  input.setAttribute('aria-invalid', String(problem !== '' && problem !== NEEDED));
  return { ...reading, problem };
}

/** @param {string} name @param {FieldPlan} plan @param {unknown} start @param {boolean} required @param {FormOptions & { root: Schema }} options @returns {Field} */
function nested(name, plan, start, required, options) {
  const isObject = start !== null && typeof start === 'object' && !Array.isArray(start);
  const value = /** @type {Record<string, unknown>} */ (isObject ? start : {});
  const form = makeForm(plan.schema, value, { id: `${options.id}-${name}`, root: options.root });
  const el = h('fieldset', { class: 'wb-field' }, h('legend', null, name.replaceAll('_', ' ')), form.el);
  return {
    el,
    read() {
      const { value: out, problems } = form.read();
      const given = required || Object.keys(out).length > 0;
      return { value: out, given, problem: given ? problems.join('; ') : '' };
    },
  };
}

/**
 * What to type into, and how to read it, for each kind.
 * @type {Record<Exclude<import('./schema.js').Kind, 'object'>, (plan: FieldPlan, start: unknown, required: boolean) =>
 *   { input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement, read: () => Reading }>}
 */
const INPUTS = {
  text: (plan, start, required) => textInput(h('input', { value: asText(start) }), start, required),
  long: (plan, start, required) => textInput(h('textarea', { rows: '3', value: asText(start) }), start, required),
  integer: numberInput,
  number: numberInput,
  boolean: booleanInput,
  choice: choiceInput,
  json: jsonInput,
};

/** @param {unknown} start */
function asText(start) {
  return start === undefined || start === null ? '' : inline(start);
}

/** An empty text is a value where one stood before; else the field is left out.
 * @param {HTMLInputElement | HTMLTextAreaElement} input @param {unknown} start @param {boolean} required */
function textInput(input, start, required) {
  const keepEmpty = start === '' || (required && typeof start === 'string');
  return { input, read: () => ({ value: input.value, given: keepEmpty || input.value !== '', problem: '' }) };
}

/** @param {FieldPlan} plan @param {unknown} start */
function numberInput(plan, start) {
  const input = h('input', {
    inputmode: 'decimal', autocomplete: 'off', value: asText(start),
  });
  return {
    input,
    read() {
      const text = input.value.trim();
      if (text === '') return { value: null, given: false, problem: '' };
      const value = Number(text);
      return { value, given: true, problem: Number.isFinite(value) ? '' : `${plan.kind === 'integer' ? 'a whole number' : 'a number'}, not ${text}` };
    },
  };
}

/** @param {FieldPlan} plan @param {unknown} start @param {boolean} required */
function booleanInput(plan, start, required) {
  return choose(['true', 'false'], [true, false], start, required);
}

/** @param {FieldPlan} plan @param {unknown} start @param {boolean} required */
function choiceInput(plan, start, required) {
  return choose(plan.choices.map(inline), plan.choices, start, required);
}

/** @param {string[]} texts @param {unknown[]} values @param {unknown} start @param {boolean} required */
function choose(texts, values, start, required) {
  const input = h('select', null,
    (!required || start === undefined) && h('option', { value: '' }, '–'),
    texts.map((text, index) => h('option', { value: String(index) }, text)));
  const at = values.findIndex((value) => inline(value) === inline(start));
  input.value = at < 0 ? '' : String(at);
  return {
    input,
    read: () => ({ value: values[Number(input.value)], given: input.value !== '', problem: '' }),
  };
}

/** @param {FieldPlan} plan @param {unknown} start */
function jsonInput(plan, start) {
  const empty = start === undefined || start === null;
  const input = h('textarea', { rows: empty ? '2' : '4', spellcheck: 'false', value: empty ? '' : JSON.stringify(start, null, 2) });
  return {
    input,
    read() {
      if (input.value.trim() === '') return { value: null, given: false, problem: '' };
      const { value, problem } = readJson(input.value);
      return { value, given: true, problem };
    },
  };
}
