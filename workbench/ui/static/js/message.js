/** One message of a conversation. */

import { h, chip, copyButton } from './dom.js';
import { inline, parsedTree } from './text.js';
import { copyText, tableOf, textBlock, wordDiff } from './values.js';

/** @import { Ctx } from './context.js' */
/** @import { Message, SaidCall } from './types.js' */

const CHANGES = new Map([
  ['changed', ['changed', 'warn']], ['dropped', ['dropped', 'bad']],
  ['truncated', ['truncated', 'warn']], ['injected', ['injected', 'warn']], ['new', ['new', 'plain']],
]);

/** @param {Ctx} ctx @param {Message} message */
export function messageBox(ctx, message) {
  const [word, tone] = CHANGES.get(message.change ?? '') ?? ['', ''];
  const about = [message.tool_call_id, imagesLine(message.images)].filter(Boolean).join(' · ');
  return h('article', { class: `wb-msg wb-msg-${message.change ?? 'same'}` },
    h('header', null, h('b', null, message.role), message.name && h('span', null, message.name),
      word && chip(word, tone ?? 'plain'), h('span', { class: 'wb-grow' }),
      about && h('span', { class: 'wb-mono' }, about),
      message.text?.text && copyText(ctx, message.text, `the ${message.role} message`)),
    bodyOf(ctx, message));
}

/** @param {Ctx} ctx @param {Message} message */
function bodyOf(ctx, message) {
  const calls = message.calls ?? [];
  if (message.words?.length) return [wordDiff(message.words), ...calls.map(callLine)];
  const parts = [];
  if (message.text?.text) parts.push(textBlock(ctx, message.text, { tree: message.role === 'tool' }));
  parts.push(...calls.map(callLine));
  if (!parts.length) parts.push(h('p', { class: 'wb-none' }, message.images ? 'an image, no text' : 'no text'));
  return parts;
}

/** A call as it would be written in code. @param {SaidCall} call */
function callLine(call) {
  const raw = call.raw ?? inline(call.arguments ?? {});
  const tree = raw.length > 120 ? parsedTree(raw) : undefined;
  if (tree !== undefined) return h('div', { class: 'wb-call-line' }, h('code', null, call.name), tableOf(tree));
  return h('pre', { class: 'wb-pre' }, h('b', null, call.name), `(${argumentsLine(raw)})`);
}

/** @param {string} raw */
function argumentsLine(raw) {
  const tree = parsedTree(raw);
  if (!tree || Array.isArray(tree)) return raw;
  return Object.entries(tree).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(', ');
}

/** @param {Message['images']} images */
function imagesLine(images) {
  const n = Array.isArray(images) ? images.length : (images ?? 0);
  return n ? `${n} ${n === 1 ? 'image' : 'images'}` : '';
}

/** A heading with room for a note and buttons. @param {string} title @param {...import('./dom.js').Child} rest */
export function sectionHead(title, ...rest) {
  return h('div', { class: 'wb-sec-head' }, h('h2', null, title), ...rest);
}

/** What folds away behind one line. @param {string} line @param {() => (Node | string)[]} body
 * @param {{ class?: string, open?: boolean }} [how] */
export function fold(line, body, how = {}) {
  const inner = h('div', { class: 'wb-fold-body' });
  const el = h('details', { class: `wb-fold ${how.class ?? ''}` }, h('summary', null, line), inner);
  const open = () => { if (el.open && !inner.firstChild) inner.append(...body()); };
  el.addEventListener('toggle', open);
  if (how.open) {
    el.open = true;
    open();
  }
  return el;
}

/** JSON that stands for itself, with a copy button. @param {string} title @param {unknown} value */
export function jsonBox(title, value) {
  return h('article', { class: 'wb-msg' },
    h('header', null, h('b', null, title), h('span', { class: 'wb-grow' }),
      copyButton(() => JSON.stringify(value, null, 2), title)),
    tableOf(value));
}

/** What tells messages of one turn apart: a dropped one is counted as it was in the turn before.
 * @param {Message} message */
export function messageKey(message) {
  return `${message.change === 'dropped' ? 'old ' : ''}${message.n}`;
}
