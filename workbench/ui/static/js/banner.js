/** What the page itself has to say: an error, or that the kernel is silent. */

import { h, button, say } from './dom.js';

/** @import { Ctx } from './context.js' */

/** @param {Ctx} ctx */
export function makeBanners(ctx) {
  const text = h('span');
  const alert = h('div', { class: 'wb-banner wb-banner-bad', role: 'alert', hidden: true }, h('b', null, 'error'), text,
    h('span', { class: 'wb-grow' }), button('Dismiss', dismiss, { class: 'wb-btn wb-small' }));
  const silent = h('div', { class: 'wb-banner wb-banner-warn', role: 'alert', hidden: true },
    h('b', null, 'The kernel is not responding.'),
    h('span', null, 'It may be busy with a cell, or gone. What was loaded stays readable; run the cell again after a restart.'),
    h('span', { class: 'wb-grow' }), button('Ask again', () => ctx.client.retry(), { class: 'wb-btn wb-small' }));

  function dismiss() {
    if (ctx.model.get('error')) {
      ctx.model.set('error', '');
      ctx.model.save_changes();
    }
    ctx.change({ alert: '' });
  }

  function paint() {
    const message = ctx.local.alert || String(ctx.model.get('error') ?? '');
    say(text, message);
    alert.hidden = !message || message === ctx.local.inline;
    silent.hidden = !ctx.local.silent;
  }
  ctx.watch(['error', 'local.alert', 'local.silent', 'local.inline'], paint);
  paint();
  return h('div', { class: 'wb-banners' }, silent, alert);
}
