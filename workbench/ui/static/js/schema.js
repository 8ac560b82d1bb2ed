/** Reading a JSON Schema: what kind of field a value needs, and what is wrong with a value. */

import { inline } from './text.js';

/**
 * @import { Schema } from './types.js'
 * @typedef {'text' | 'long' | 'integer' | 'number' | 'boolean' | 'choice' | 'object' | 'json'} Kind
 * @typedef {{ kind: Kind, schema: Schema, optional: boolean, choices: unknown[] }} FieldPlan
 *   `optional`: null is allowed, and an empty field stands for it.
 */

const LONG_WORDS = /text|body|message|content|prompt|description|note|reason|query/i;
const DEEPEST = 20;

/** A schema with its `$ref` followed. @param {Schema} schema @param {Schema} root @param {number} [depth] @returns {Schema} */
export function resolve(schema, root, depth = 0) {
  const target = schema?.$ref;
  if (typeof target !== 'string' || !target.startsWith('#/') || depth > DEEPEST) return schema ?? {};
  /** @type {any} */
  let found = root;
  for (const part of target.slice(2).split('/')) {
    found = found?.[part.replace(/~1/g, '/').replace(/~0/g, '~')];
  }
  const { $ref, ...rest } = schema;
  return { ...resolve(found ?? {}, root, depth + 1), ...rest };
}

/** @param {string} name @param {Schema} schema @param {Schema} root @returns {FieldPlan} */
export function planField(name, schema, root) {
  let own = resolve(schema, root);
  let optional = false;
  const options = own.anyOf ?? own.oneOf;
  if (Array.isArray(options)) {
    const real = options.map((each) => resolve(each, root)).filter((each) => each.type !== 'null');
    optional = real.length < options.length;
    if (real.length === 1) own = { ...own, ...real[0], anyOf: undefined, oneOf: undefined };
    else return { kind: 'json', schema: own, optional, choices: [] };
  }
  if (Array.isArray(own.type)) {
    optional ||= own.type.includes('null');
    const types = own.type.filter((/** @type {string} */ type) => type !== 'null');
    own = { ...own, type: types.length === 1 ? types[0] : undefined };
  }
  return { kind: kindOf(name, own), schema: own, optional, choices: own.enum ?? [] };
}

/** @param {string} name @param {Schema} schema @returns {Kind} */
function kindOf(name, schema) {
  if (Array.isArray(schema.enum)) return 'choice';
  if (schema.type === 'boolean') return 'boolean';
  if (schema.type === 'integer' || schema.type === 'number') return schema.type;
  if (schema.type === 'string') {
    return LONG_WORDS.test(name) || (schema.maxLength ?? 0) > 200 ? 'long' : 'text';
  }
  if (schema.type === 'object' && Object.keys(schema.properties ?? {}).length) return 'object';
  return 'json';
}

/**
 * What is wrong with a value, in a few words, or ''.
 * @param {FieldPlan} plan @param {unknown} value
 */
export function problemOf(plan, value) {
  const { schema } = plan;
  if (typeof value === 'number') return numberProblem(schema, value);
  if (typeof value === 'string') {
    if (schema.minLength && value.length < schema.minLength) return `at least ${schema.minLength} characters`;
    if (schema.maxLength && value.length > schema.maxLength) return `at most ${schema.maxLength} characters`;
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((/** @type {unknown} */ each) => inline(each) === inline(value))) {
    return `one of ${schema.enum.map(inline).join(', ')}`;
  }
  if (schema.type === 'array' && !Array.isArray(value)) return 'a list, such as ["a", "b"]';
  if (schema.type === 'object' && (value === null || typeof value !== 'object' || Array.isArray(value))) {
    return 'an object, such as {"key": "value"}';
  }
  return '';
}

/** @param {Schema} schema @param {number} value */
function numberProblem(schema, value) {
  if (!Number.isFinite(value)) return 'a number';
  if (schema.type === 'integer' && !Number.isSafeInteger(value)) return 'a whole number';
  if (schema.minimum !== undefined && value < schema.minimum) return `at least ${schema.minimum}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `at most ${schema.maximum}`;
  if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) return `more than ${schema.exclusiveMinimum}`;
  if (schema.exclusiveMaximum !== undefined && value >= schema.exclusiveMaximum) return `less than ${schema.exclusiveMaximum}`;
  return '';
}

/** JSON text to a value, or what is wrong with it and where.
 * @param {string} text @returns {{ value?: unknown, problem: string }} */
export function readJson(text) {
  try {
    return { value: JSON.parse(text), problem: '' };
  } catch (error) {
    const message = String(/** @type {Error} */ (error).message);
    const at = /position (\d+)/.exec(message)?.[1];
    if (at === undefined) return { problem: `not JSON: ${message}` };
    const before = text.slice(0, Number(at)).split('\n');
    return { problem: `not JSON at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}` };
  }
}
