/** The overlay with all keys, and what each colour means. */

import { h, button, chip } from './dom.js';
import { KEYS } from './keys.js';

/** @import { Ctx } from './context.js' */

const FACES = new Map([['ArrowDown', '↓'], ['ArrowUp', '↑'], ['Escape', 'Esc'], ['Ctrl+Enter', 'Ctrl / ⌘ + Enter']]);
const COLOURS = [
  ['where you are', 'blue'], ['went wrong', 'bad'], ['changed by you', 'edit'], ['ran live', 'live'],
  ['needs a decision', 'warn'], ['ended well', 'ok'],
];

/** @param {Ctx} ctx */
export function makeHelp(ctx) {
  const close = button('Close', () => hide(), { class: 'wb-btn' });
  const el = h('div', { class: 'wb-help', role: 'dialog', 'aria-modal': 'true', 'aria-label': 'keys and colours', hidden: true },
    h('div', { class: 'wb-help-card' }, h('div', { class: 'wb-inline' }, h('h2', null, 'Keys'), h('span', { class: 'wb-grow' }), close),
      h('dl', { class: 'wb-help-keys' }, KEYS.flatMap(({ keys, what }) => [
        h('dt', null, keys.map((key) => h('kbd', null, FACES.get(key) ?? key))), h('dd', null, what)])),
      h('h2', null, 'Colours'), h('p', { class: 'wb-help-colours' }, COLOURS.map(([text, tone]) => chip(text ?? '', tone ?? ''))),
      h('p', { class: 'wb-muted' }, 'Keys work while the focus is inside the workbench, and not while you type in a field.')));
  function hide() {
    ctx.change({ help: false });
    ctx.onKey.get('list')?.();
  }
  el.addEventListener('click', (event) => { if (event.target === el) hide(); });
  el.addEventListener('keydown', (event) => {
    if (event.key !== 'Tab') return;
    event.preventDefault();
    close.focus();
  });
  ctx.watch(['local.help'], () => {
    el.hidden = !ctx.local.help;
    if (ctx.local.help) close.focus();
  });
  return el;
}
