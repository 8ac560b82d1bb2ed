/** The changes made so far, with undo, redo and their difference to the recording. */

import { h, button, chip, fill } from './dom.js';
import { isClosed } from './client.js';

/** @import { Ctx } from './context.js' */
/** @import { Can, EditInfo } from './types.js' */

/** @param {Ctx} ctx */
export function makePending(ctx) {
  const list = h('ul', { class: 'wb-pending' });
  const diff = h('div', { class: 'wb-diff', hidden: true });
  /** @param {string} what */
  const act = (what) => () => void ctx.client.ask({ do: what }).catch(ctx.fail);
  const undo = button('Undo', act('undo'), { class: 'wb-btn wb-small' });
  const redo = button('Redo', act('redo'), { class: 'wb-btn wb-small' });
  const clear = button('Clear', act('clear'), { class: 'wb-btn wb-small' });
  const show = button('Show diff', () => void preview(), { class: 'wb-btn wb-small', 'aria-expanded': 'false' });
  const el = h('section', { class: 'wb-pending-box', 'aria-label': 'changes so far' }, list,
    h('div', { class: 'wb-inline' }, show, h('span', { class: 'wb-grow' }), undo, redo, clear), diff);

  async function preview() {
    if (!diff.hidden) return hide();
    try {
      const { text } = await ctx.client.ask({ do: 'preview' });
      fill(diff, diffText(String(text ?? '')));
      diff.hidden = false;
      diff.scrollIntoView?.({ block: 'nearest' });
      show.setAttribute('aria-expanded', 'true');
    } catch (error) {
      if (!isClosed(error)) ctx.fail(error);
    }
  }

  function hide() {
    diff.hidden = true;
    show.setAttribute('aria-expanded', 'false');
  }

  function paint() {
    /** @type {EditInfo[]} */
    const edits = ctx.model.get('edits') ?? [];
    /** @type {Partial<Can>} */
    const can = ctx.model.get('can') ?? {};
    fill(list, edits.map((edit) => editLine(ctx, edit)));
    undo.disabled = !can.undo;
    redo.disabled = !can.redo;
    clear.hidden = show.hidden = edits.length === 0;
    el.hidden = edits.length === 0 && !can.undo && !can.redo;
    hide();
  }
  ctx.watch(['edits', 'can'], paint);
  paint();
  return el;
}

/** @param {Ctx} ctx @param {EditInfo} edit */
function editLine(ctx, edit) {
  const turn = edit.turn;
  const tone = edit.kind === 'fault' ? 'warn' : 'edit';
  return h('li', null, chip(edit.kind.replaceAll('_', ' '), tone),
    turn ? button(`turn ${turn}`, () => ctx.go(turn), { class: 'wb-btn wb-quiet' }) : null,
    h('span', { class: 'wb-edit-line', title: edit.text }, edit.text.replace(/^turn \d+ · ([\w ]+→ )?/, '')));
}

/** A difference in lines; the sign at a line's start says which side it is of. @param {string} text */
export function diffText(text) {
  return h('pre', { class: 'wb-pre' }, text.split('\n').map((line) => {
    const tag = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span';
    return h(tag, { class: 'wb-diff-line' }, `${line}\n`);
  }));
}
