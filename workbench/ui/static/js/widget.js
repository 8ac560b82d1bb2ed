/** The workbench page: puts its parts together, and ends with its view. */

import { h } from './dom.js';
import { makeContext } from './context.js';
import { makeBanners } from './banner.js';
import { makeHeader } from './header.js';
import { makeTimeline } from './timeline.js';
import { makeTurnList } from './turnlist.js';
import { makeMiddle } from './middle.js';
import { makeSide } from './side.js';
import { makeFoot } from './foot.js';
import { makeHelp } from './help.js';
import { listenToKeys } from './keys.js';

/** @import { Model } from './types.js' */

/** @param {{ model: Model, el: HTMLElement }} view */
function render({ model, el }) {
  const ends = new AbortController();
  const root = h('div', { class: 'wb', role: 'region', 'aria-label': 'trace workbench', tabindex: '-1' });
  // In the page before its parts are made: they read sizes and colours from it.
  el.append(root);
  const ctx = makeContext(model, root, ends.signal);
  // The list first: where it scrolls to is set while nothing else has changed, when that is cheap.
  const list = makeTurnList(ctx);
  root.append(
    makeBanners(ctx), makeHeader(ctx), makeTimeline(ctx),
    h('div', { class: 'wb-scroll' },
      h('div', { class: 'wb-main' }, list, makeMiddle(ctx)), makeSide(ctx), makeFoot(ctx)),
    makeHelp(ctx));
  listenToKeys(ctx);
  // A click on plain ground gives the keys to the page, not to the notebook.
  root.addEventListener('mousedown', (event) => event.stopPropagation(), { signal: ends.signal });
  // Whoever leaves the page may go to a cell that asks where one is.
  root.addEventListener('focusout', () => ctx.pace.tell(), { signal: ends.signal });
  return () => {
    ends.abort();
    root.remove();
  };
}

export default { render };
