/** A run as it happens: progress, the calls made last, a question, how it ended. */

import { h, button, chip, fill } from './dom.js';
import { inline } from './text.js';
import { tableOf } from './values.js';

/** @import { Ctx } from './context.js' */
/** @import { Question, RunState, TailCall } from './types.js' */

const TONES = new Map([['live', 'live'], ['edited', 'edit'], ['fault', 'warn'], ['replayed', 'plain']]);
/** @type {Map<string, [string, string]>} */
const ENDS = new Map([
  ['done', ['finished', 'ok']], ['failed', ['failed', 'bad']], ['blocked', ['blocked', 'warn']],
  ['cancelled', ['cancelled', 'warn']], ['drifted', ['drifted', 'bad']],
]);

/** @param {Ctx} ctx */
export function makeRunBox(ctx) {
  const el = h('section', { class: 'wb-run', 'aria-label': 'run' });
  const head = h('div', { role: 'status' });
  const body = h('div');
  const ask = h('div');
  fill(el, head, ask, body);
  let asking = '';
  let put = '';

  function paint() {
    /** @type {RunState} */
    const run = ctx.model.get('run') ?? { state: 'idle', tail: [], done: 0, expected: null, message: '', question: null };
    el.hidden = run.state === 'idle' || put === JSON.stringify([run.state, run.message, run.done]);
    if (el.hidden) return;
    put = '';
    const busy = ['running', 'asking', 'cancelling'].includes(run.state);
    fill(head, busy ? progress(ctx, run) : ended(ctx, run, () => { put = JSON.stringify([run.state, run.message, run.done]); paint(); }));
    fill(body, run.tail?.length ? tailList(run.tail) : null);
    const question = run.state === 'asking' ? run.question : null;
    if ((question?.id ?? '') === asking) return;
    asking = question?.id ?? '';
    fill(ask, question && questionCard(ctx, question));
    // Once the card is in the page, also when the page opens with a question.
    if (question) queueMicrotask(() => focusCard(ctx, ask));
  }
  ctx.watch(['run'], paint);
  paint();
  return el;
}

/** @param {Ctx} ctx @param {RunState} run */
function progress(ctx, run) {
  const expected = run.expected && run.expected >= run.done ? run.expected : null;
  const bar = h('progress', { max: expected ?? 1, 'aria-label': 'calls made' });
  if (expected) bar.value = run.done;
  const text = run.state === 'asking' ? 'waiting for your answer' : run.state === 'cancelling' ? 'cancelling…' : `running · ${run.done}${expected ? ` of about ${expected}` : ''} calls`;
  const cancel = button('Cancel', () => { cancel.disabled = true; ctx.client.ask({ do: 'cancel' }).catch(ctx.fail); }, { class: 'wb-btn wb-small', disabled: run.state === 'cancelling' });
  return h('div', null, h('div', { class: 'wb-inline' }, h('b', null, text), h('span', { class: 'wb-grow' }), cancel), bar,
    run.message && h('p', { class: 'wb-muted' }, run.message));
}

/** @param {Ctx} ctx @param {RunState} run @param {() => void} dismiss */
function ended(ctx, run, dismiss) {
  const [word, tone] = ENDS.get(run.state) ?? [run.state, 'plain'];
  const last = ctx.infos().length - 1;
  const look = last > 0 && ctx.shown() !== last && run.state !== 'idle';
  return h('div', null,
    h('div', { class: 'wb-inline' }, chip(word, tone), h('span', { class: 'wb-grow' }),
      look && button('Look at the fork', () => ctx.show(last), { class: 'wb-btn wb-small' }),
      button('✕', dismiss, { class: 'wb-btn wb-quiet', 'aria-label': 'hide how the run ended' })),
    run.message && h('p', { class: `wb-run-message${tone === 'bad' ? ' wb-bad-text' : ''}` }, run.message));
}

/** @param {TailCall[]} tail */
function tailList(tail) {
  return h('ol', { class: 'wb-tail', 'aria-label': 'calls made last' }, tail.map((call) => h('li', { title: call.reason },
    h('span', { class: 'wb-n' }, call.turn ?? ''), h('span', { class: 'wb-mono wb-tail-name' }, call.name),
    chip(call.how, TONES.get(call.how) ?? 'plain'), h('small', null, call.summary))));
}

/** @param {Ctx} ctx @param {Question} question */
function questionCard(ctx, question) {
  const title = ctx.id('question');
  /** @param {string} verdict */
  const answer = (verdict) => () => {
    for (const node of [allow, deny]) node.disabled = true;
    ctx.client.ask({ do: 'answer', question: question.id, verdict }).catch((error) => {
      for (const node of [allow, deny]) node.disabled = false;
      ctx.fail(error);
    });
  };
  const deny = button('Deny', answer('deny'));
  const allow = button('Allow once', answer('allow'), { class: 'wb-btn wb-allow' });
  const isObject = question.arguments !== null && typeof question.arguments === 'object';
  return h('div', { class: 'wb-question', role: 'alertdialog', 'aria-labelledby': title, 'aria-describedby': `${title}-what`, tabindex: '-1' },
    h('p', { id: title }, chip('write', 'warn'), h('b', null, ` ${question.tool}`), ' wants to run live',
      question.turn ? h('span', { class: 'wb-muted' }, ` · turn ${question.turn}`) : null),
    h('div', { id: `${title}-what`, class: 'wb-question-what' }, isObject ? tableOf(question.arguments) : h('pre', { class: 'wb-pre' }, inline(question.arguments))),
    question.text && h('p', { class: 'wb-muted' }, question.text),
    question.key && h('p', { class: 'wb-foot' }, 'key ', h('code', null, question.key)),
    h('div', { class: 'wb-inline' }, deny, allow));
}

/** Focus moves only when the keyboard is here or nowhere: nobody is torn out of another cell.
 * @param {Ctx} ctx @param {HTMLElement} place */
function focusCard(ctx, place) {
  const card = /** @type {HTMLElement | null} */ (place.firstElementChild);
  card?.scrollIntoView?.({ block: 'nearest' });
  const active = document.activeElement;
  if (!active || active === document.body || ctx.root.contains(active)) card?.focus({ preventScroll: true });
}
