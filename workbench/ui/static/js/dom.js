/** Building elements. Text goes in as text nodes; there is no way to pass markup. */

import { visible } from './text.js';

/**
 * @typedef {Node | string | number | null | undefined | false} One
 * @typedef {One | One[] | One[][]} Child
 * @typedef {Record<string, any>} Props
 */

const PROPERTIES = new Set(['value', 'checked', 'disabled', 'hidden', 'tabIndex', 'selected', 'open']);

/** What can take the keyboard: JupyterLab must not read its own shortcuts from these. */
const FOCUSABLE = new Set(['button', 'input', 'select', 'textarea', 'summary']);

/**
 * An element. `on…` props are listeners; `class`, `aria-…`, `data-…` and others are attributes,
 * left out when null or false.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Props | null} [props] @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) apply(node, name, value);
  if (FOCUSABLE.has(tag) || node.hasAttribute('tabindex')) suppress(node);
  if (tag === 'button' && !node.hasAttribute('type')) node.setAttribute('type', 'button');
  fill(node, ...children);
  return node;
}

/** @param {HTMLElement} node @param {string} name @param {any} value */
function apply(node, name, value) {
  if (name.startsWith('on') && typeof value === 'function') {
    node.addEventListener(name.slice(2), value);
  } else if (PROPERTIES.has(name)) {
    /** @type {any} */ (node)[name] = value;
  } else if (value !== null && value !== undefined && value !== false) {
    node.setAttribute(name, value === true ? '' : String(value));
  }
}

/** @param {HTMLElement} node */
function suppress(node) {
  node.setAttribute('data-lm-suppress-shortcuts', 'true');
}

/** Put these in place of what an element holds. @param {Node} node @param {...Child} children */
export function fill(node, ...children) {
  const nodes = /** @type {One[]} */ (children.flat(2)).filter(isShown).map(asNode);
  /** @type {ParentNode} */ (/** @type {unknown} */ (node)).replaceChildren(...nodes);
}

/** @param {One} child @returns {child is Node | string | number} */
function isShown(child) {
  return child !== null && child !== undefined && child !== false;
}

/** @param {Node | string | number} child */
function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(visible(String(child)));
}

/** Set a text only when it differs, so that nothing is painted or announced for nothing.
 * @param {Node} node @param {string} text */
export function say(node, text) {
  const shown = visible(text);
  if (node.textContent !== shown) node.textContent = shown;
}

/** A word in a coloured shape: the word carries the meaning, the colour helps.
 * @param {string} text @param {string} tone @param {Props} [props] */
export function chip(text, tone, props) {
  return h('span', { ...props, class: `wb-chip wb-${tone}` }, text);
}

/** @param {string} text @param {() => void} onclick @param {Props} [props] */
export function button(text, onclick, props) {
  return h('button', { class: 'wb-btn', ...props, onclick }, text);
}

/**
 * A button that copies a text to the clipboard and says that it did.
 * @param {() => string | Promise<string>} text @param {string} what for the label
 * @param {string} [face]
 */
export function copyButton(text, what, face = 'copy') {
  const node = button(face, () => void copy(), {
    class: 'wb-btn wb-quiet', 'aria-label': `copy ${what}`, title: `copy ${what}`,
  });
  async function copy() {
    const done = await toClipboard(await text()).then(() => 'copied', () => 'not allowed');
    node.textContent = done;
    setTimeout(() => { node.textContent = face; }, 1200);
  }
  return node;
}

/** @param {string} text */
async function toClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = h('textarea', { style: 'position:fixed;opacity:0', 'aria-hidden': 'true' });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('the browser does not let this page copy');
}

let views = 0;

/** A prefix for the ids of one view, so that two views on a page never share one. */
export function viewId() {
  views += 1;
  const random = globalThis.crypto?.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
  return `wb-${views}-${random.replace(/[^\w-]/g, '').slice(0, 13)}`;
}
