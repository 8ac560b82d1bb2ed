/** What crossed the wire, as JSON text. */

import { h } from './dom.js';
import { count, plural } from './text.js';
import { copyText, textBlock } from './values.js';
import { sectionHead } from './message.js';

/** @import { Ctx } from './context.js' */
/** @import { Clip } from './types.js' */

/** @param {Ctx} ctx @param {{ request: Clip | null, reply: Clip | null, chunks: number }} raw @returns {Node[]} */
export function rawView(ctx, raw) {
  const streamed = raw.chunks ? `streamed in ${plural(raw.chunks, 'chunk')}` : '';
  return [part(ctx, 'Request', raw.request, ''), part(ctx, 'Reply', raw.reply, streamed)];
}

/** @param {Ctx} ctx @param {string} title @param {Clip | null} text @param {string} note */
function part(ctx, title, text, note) {
  const size = text ? `${count(text.total)} characters` : '';
  return h('section', { class: 'wb-sec' },
    sectionHead(title, h('span', { class: 'wb-muted' }, [size, note].filter(Boolean).join(' · ')),
      h('span', { class: 'wb-grow' }), text && copyText(ctx, text, title.toLowerCase())),
    text ? h('article', { class: 'wb-msg' }, textBlock(ctx, text)) : h('p', { class: 'wb-none' }, 'not in the trace'));
}
