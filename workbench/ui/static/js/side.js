/** The right column, in the order in which one thinks: change, plan, run. */

import { h, button, fill, say } from './dom.js';
import { isClosed } from './client.js';
import { makeReplyForm } from './replyform.js';
import { makeFaultForm, makeResultForm } from './otherforms.js';
import { makePending } from './pending.js';
import { makePlan } from './plan.js';
import { makeRunBox } from './runbox.js';

/** @import { Ctx } from './context.js' */
/** @import { Turn } from './types.js' */
/** @import { EditForm } from './replyform.js' */

const CHANGES = [['reply', 'reply'], ['tool_result', 'tool result'], ['fault', 'fault…']];
const BUSY = new Set(['running', 'asking', 'cancelling']);

/** @param {Ctx} ctx */
export function makeSide(ctx) {
  const run = makeRunBox(ctx);
  const change = makeChange(ctx);
  const el = h('aside', { class: 'wb-side', 'aria-label': 'change and run' },
    h('div', { class: 'wb-side-scroll' }, run, change, makePending(ctx)), makePlan(ctx));
  const paint = () => { el.classList.toggle('wb-busy', BUSY.has(ctx.model.get('run')?.state)); };
  ctx.watch(['run'], paint);
  paint();
  // Whoever comes here means the turn that is looked at, also right after a step.
  for (const type of ['pointerdown', 'focusin']) el.addEventListener(type, () => ctx.pace.settle(), { capture: true });
  return el;
}

/** @param {Ctx} ctx */
function makeChange(ctx) {
  const title = h('h2');
  const picks = CHANGES.map(([kind, text]) => button(text ?? '', () => ctx.change({ change: kind ?? 'reply' }), { class: 'wb-btn wb-pick' }));
  const place = h('div', { class: 'wb-change' });
  const notes = h('div', { class: 'wb-notes', 'aria-live': 'polite' });
  const apply = button('Apply the change', () => void send(), { class: 'wb-btn wb-apply' });
  /** @type {EditForm | null} */
  let form = null;
  let shown = '';
  let touched = false;

  function paint() {
    const n = ctx.selected();
    say(title, n ? `Change turn ${n}` : 'Change');
    CHANGES.forEach(([kind], index) => picks[index]?.setAttribute('aria-pressed', String(kind === ctx.local.change)));
    const key = `${ctx.shown()}/${n}/${ctx.local.change}/${ctx.local.versions}`;
    if (key === shown) return;
    shown = key;
    form = null;
    apply.hidden = true;
    fill(notes);
    if (n === 0) return fill(place, nothing());
    const trace = ctx.shown();
    const now = ctx.source.turnNow(trace, n);
    if (now) return build(now);
    ctx.source.turn(trace, n).then((turn) => { if (shown === key) build(turn); }, (error) => {
      if (shown === key && !isClosed(error)) fill(place, h('p', { class: 'wb-line wb-line-bad' }, String(error.message)));
    });
  }

  /** @param {Turn} turn */
  function build(turn) {
    // Whoever opens the form of a fault wants it: it is sent as it stands.
    touched = ctx.local.change === 'fault';
    form = makeEditForm(ctx, turn, () => { touched = true; check(); });
    fill(place, form.el);
    check();
  }

  function check() {
    if (!form) return;
    const { edit, problems } = form.read();
    apply.hidden = false;
    apply.disabled = !edit || problems.length > 0;
    apply.title = problems.join('\n') || (edit ? '' : 'nothing is changed yet');
    fill(notes, touched && !apply.disabled && h('p', { class: 'wb-hint' }, 'Not applied yet. “Run from here” applies it first.'));
  }

  /** Send what was typed before a run, if anything was. */
  const sendTouched = async () => !touched || send();

  /** Send the change, if there is one. @returns {Promise<boolean>} whether nothing is left to mend */
  async function send() {
    const reading = form?.read();
    if (reading?.problems.length) fill(notes, lines('bad', reading.problems));
    if (!reading?.edit || apply.disabled) return !reading?.problems.length;
    apply.disabled = true;
    try {
      const answer = await ctx.client.ask({ do: 'edit', edit: reading.edit });
      const fits = !answer?.problems?.length;
      if (fits && reading.edit.type === 'fault') ctx.change({ change: 'reply' });
      fill(notes, lines('bad', answer?.problems), lines('warn', answer?.warnings));
      return fits;
    } catch (error) {
      apply.disabled = false;
      if (isClosed(error)) return false;
      const { message } = /** @type {Error} */ (error);
      ctx.change({ inline: message });
      fill(notes, lines('bad', [message]));
      return false;
    }
  }
  ctx.apply = sendTouched;

  /** @param {string} kind */
  function open(kind) {
    ctx.change({ change: kind });
    setTimeout(() => {
      const field = place.querySelector('select, input, textarea');
      if (field instanceof HTMLElement) field.focus();
    }, 30);
  }
  ctx.onKey.set('reply', () => open('reply'));
  ctx.onKey.set('fault', () => open('fault'));
  ctx.watchCalmly(['selected', 'shown', 'local.change', 'local.versions', 'traces'], paint);
  queueMicrotask(paint);
  return h('section', { class: 'wb-change-box' }, title,
    h('div', { class: 'wb-picks', role: 'group', 'aria-label': 'what to change' }, picks), place, notes, h('div', { class: 'wb-inline' }, apply));
}

/** @param {Ctx} ctx @param {Turn} turn @param {() => void} changed */
function makeEditForm(ctx, turn, changed) {
  // A form calls back while it is made, before it can be read.
  let made = false;
  const how = { id: ctx.id(`edit-${turn.n}`), changed: () => { if (made) changed(); } };
  const kind = ctx.local.change;
  const form = kind === 'fault' ? makeFaultForm(turn, ctx.model.get('fault_forms') ?? {}, how)
    : kind === 'tool_result' ? makeResultForm(turn, how) : makeReplyForm(turn, how);
  made = true;
  return form;
}

/** @param {string} tone @param {string[] | undefined} texts */
export function lines(tone, texts) {
  return (texts ?? []).map((text) => h('p', { class: `wb-line wb-line-${tone}` }, text));
}

function nothing() {
  return h('p', { class: 'wb-none' }, 'There is no turn to change.');
}
