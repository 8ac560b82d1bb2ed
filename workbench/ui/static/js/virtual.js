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
const USUAL = 480;

/** @param {ListOptions} options @param {AbortSignal} signal @returns {VirtualList} */
export function makeVirtualList(options, signal) {
  const inner = h('div', { class: 'wb-rows', role: 'presentation' });
  const el = h('div', {
    id: options.id, class: 'wb-list-scroll', role: 'listbox', tabindex: '0', 'aria-label': options.label,
  }, inner);
  const set = makeSetter();
  const view = makeViewport(el);
  /** @type {Map<number, HTMLElement>} */
  let rows = new Map();
  let active = -1;
  let frame = 0;

  /** Where a row is, also when the list is taller than a browser allows. */
  const full = () => options.count() * options.height;
  const shownHeight = () => Math.min(full(), TALLEST);
  const scale = () => (full() <= TALLEST ? 1
    : Math.max(1, (full() - view.height()) / (TALLEST - view.height() || 1)));

  function visibleRange() {
    const height = view.height() || USUAL;
    const top = view.top() * scale();
    const first = Math.max(0, Math.floor(top / options.height) - SPARE);
    const last = Math.min(options.count() - 1, Math.ceil((top + height) / options.height) + SPARE);
    return { first, last, shift: view.top() - top };
  }

  function setHeight() {
    set(inner, 'height', `${shownHeight()}px`, (text) => { inner.style.height = text; });
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
    set(node, 'index', String(index), (text) => {
      node.id = `${options.id}-${text}`;
      node.dataset.index = text;
      node.setAttribute('aria-posinset', String(index + 1));
    });
    set(node, 'top', `translateY(${top}px)`, (text) => { node.style.transform = text; });
    set(node, 'height', `${options.height}px`, (text) => { node.style.height = text; });
    set(node, 'count', String(options.count()), (text) => node.setAttribute('aria-setsize', text));
    select(node, index === active);
    options.paint(node, index);
  }

  /** @param {HTMLElement} node @param {boolean} on */
  function select(node, on) {
    set(node, 'selected', String(on), (text) => node.setAttribute('aria-selected', text));
  }

  function markActive() {
    const id = rows.has(active) ? `${options.id}-${active}` : '';
    set(el, 'active', id, (text) => {
      if (text) el.setAttribute('aria-activedescendant', text);
      else el.removeAttribute('aria-activedescendant');
    });
  }

  /** Where to scroll to, so that a row is in sight. @param {number} index @returns {number} */
  function reveal(index) {
    const height = view.height() || USUAL;
    const k = scale();
    const top = index * options.height;
    const now = view.top() * k;
    const below = top + options.height - (now + height);
    // A step scrolls by a row; a jump puts the row into the middle, where its story is around it.
    if (now - top > options.height || below > options.height) return Math.max(0, top - height / 2) / k;
    if (top < now) return top / k;
    return below > 0 ? (now + below) / k : view.top();
  }

  /** @param {number} index */
  function activate(index) {
    if (index === active && rows.has(index)) return;
    active = index;
    setHeight();
    if (index >= 0) view.scroll(reveal(index));
    refresh();
  }

  function soon() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(refresh);
  }

  el.addEventListener('scroll', () => { if (view.moved()) soon(); }, { passive: true });
  el.addEventListener('click', (event) => {
    const row = /** @type {HTMLElement} */ (event.target).closest?.('[role=option]');
    if (row instanceof HTMLElement) options.pick(Number(row.dataset.index));
  });
  const watcher = new ResizeObserver(() => { if (view.resized()) soon(); });
  watcher.observe(el);
  signal.addEventListener('abort', () => { watcher.disconnect(); cancelAnimationFrame(frame); });
  return { el, refresh, activate, focus: () => el.focus({ preventScroll: true }) };
}

/**
 * Where an element is scrolled to and how tall it is, without asking it: the question makes a
 * browser lay everything out at once. It is asked when it says that something moved.
 * @param {HTMLElement} el
 */
function makeViewport(el) {
  let top = 0;
  let height = 0;
  return {
    top: () => top,
    /** Zero until it was laid out. */
    height: () => (height ||= el.clientHeight),
    /** @param {number} to */
    scroll(to) {
      if (to === top) return;
      el.scrollTop = to;
      // It stops at its end; only a jump can reach beyond.
      top = el.scrollTop;
    },
    moved() {
      const before = top;
      top = el.scrollTop;
      return top !== before;
    },
    /** Taken out of the page and put back, it may also have lost where it was scrolled to. */
    resized() {
      const before = [top, height];
      top = el.scrollTop;
      height = el.clientHeight;
      return top !== before[0] || height !== before[1];
    },
  };
}

/** Sets what differs from what was set last. */
function makeSetter() {
  /** @type {WeakMap<HTMLElement, { [what: string]: string }>} */
  const known = new WeakMap();
  /** @param {HTMLElement} node @param {string} what @param {string} text @param {(text: string) => void} put */
  return (node, what, text, put) => {
    let now = known.get(node);
    if (!now) known.set(node, now = {});
    if (now[what] === text) return;
    now[what] = text;
    put(text);
  };
}
