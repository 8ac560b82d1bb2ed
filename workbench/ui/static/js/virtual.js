/** A list that holds elements only for what is in sight. */

import { h } from './dom.js';

/**
 * @typedef {{
 *   id: string, label: string, height: number,
 *   count: () => number,
 *   paint: (node: HTMLElement, index: number) => void,
 *   pick: (index: number) => void,
 *   onRange?: (first: number, last: number) => void,
 * }} ListOptions
 *   `paint` fills a row's element for an index (from 0); elements are reused.
 *
 * @typedef {{
 *   el: HTMLElement, refresh: () => void, activate: (index: number) => void, focus: () => void,
 * }} VirtualList
 */

/** Browsers can't lay out elements taller than about this many pixels. */
const TALLEST = 12_000_000;
const SPARE = 4;

/** @param {ListOptions} options @param {AbortSignal} signal @returns {VirtualList} */
export function makeVirtualList(options, signal) {
  const inner = h('div', { class: 'wb-rows', role: 'presentation' });
  const el = h('div', {
    id: options.id, class: 'wb-list-scroll', role: 'listbox', tabindex: '0', 'aria-label': options.label,
  }, inner);
  /** @type {Map<number, HTMLElement>} */
  let rows = new Map();
  let active = -1;
  let frame = 0;

  /** Where a row is, also when the list is taller than a browser allows. */
  const full = () => options.count() * options.height;
  const scale = () => Math.max(1, (full() - el.clientHeight) / (Math.min(full(), TALLEST) - el.clientHeight || 1));

  function visibleRange() {
    const height = el.clientHeight || 480;
    const top = el.scrollTop * (full() > TALLEST ? scale() : 1);
    const first = Math.max(0, Math.floor(top / options.height) - SPARE);
    const last = Math.min(options.count() - 1, Math.ceil((top + height) / options.height) + SPARE);
    return { first, last, shift: el.scrollTop - top };
  }

  function setHeight() {
    inner.style.height = `${Math.min(full(), TALLEST)}px`;
  }

  function refresh() {
    setHeight();
    const { first, last, shift } = visibleRange();
    const spare = [...rows].filter(([index]) => index < first || index > last).map(([, node]) => node);
    const next = new Map();
    for (let index = first; index <= last; index += 1) {
      const node = rows.get(index) ?? spare.pop() ?? h('div', { role: 'option' });
      place(node, index, index * options.height + shift);
      next.set(index, node);
      if (!node.parentNode) inner.append(node);
    }
    for (const node of spare) node.remove();
    rows = next;
    markActive();
    options.onRange?.(first, last);
  }

  /** @param {HTMLElement} node @param {number} index @param {number} top */
  function place(node, index, top) {
    node.id = `${options.id}-${index}`;
    node.dataset.index = String(index);
    node.style.transform = `translateY(${top}px)`;
    node.style.height = `${options.height}px`;
    node.setAttribute('aria-setsize', String(options.count()));
    node.setAttribute('aria-posinset', String(index + 1));
    node.setAttribute('aria-selected', String(index === active));
    options.paint(node, index);
  }

  function markActive() {
    if (rows.has(active)) el.setAttribute('aria-activedescendant', `${options.id}-${active}`);
    else el.removeAttribute('aria-activedescendant');
  }

  /** @param {number} index */
  function reveal(index) {
    const height = el.clientHeight || 480;
    const k = full() > TALLEST ? scale() : 1;
    const top = index * options.height;
    const now = el.scrollTop * k;
    const below = top + options.height - (now + height);
    // A step scrolls by a row; a jump puts the row into the middle, where its story is around it.
    if (now - top > options.height || below > options.height) el.scrollTop = Math.max(0, top - height / 2) / k;
    else if (top < now) el.scrollTop = top / k;
    else if (below > 0) el.scrollTop = (now + below) / k;
  }

  /** @param {number} index */
  function activate(index) {
    if (index === active && rows.has(index)) return;
    active = index;
    setHeight();
    if (index >= 0) reveal(index);
    refresh();
  }

  function soon() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(refresh);
  }

  el.addEventListener('scroll', soon, { passive: true });
  el.addEventListener('click', (event) => {
    const row = /** @type {HTMLElement} */ (event.target).closest?.('[role=option]');
    if (row instanceof HTMLElement) options.pick(Number(row.dataset.index));
  });
  const watcher = new ResizeObserver(soon);
  watcher.observe(el);
  signal.addEventListener('abort', () => { watcher.disconnect(); cancelAnimationFrame(frame); });
  return { el, refresh, activate, focus: () => el.focus({ preventScroll: true }) };
}
