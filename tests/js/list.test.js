import { afterEach, describe, expect, it } from 'vitest';
import { makeVirtualList } from '../../workbench/ui/static/js/virtual.js';
import { openPage, requestsOf, settled } from './support/page.js';
import { infoOf } from './support/sample.js';

afterEach(() => { document.body.replaceChildren(); });

/** @param {number} count @param {number} [height] */
function listOf(count, height = 40) {
  /** @type {number[]} */
  const picked = [];
  const ends = new AbortController();
  const list = makeVirtualList({
    id: 'l', label: 'things', height, count: () => count,
    paint: (node, index) => { node.textContent = `row ${index}`; }, pick: (index) => picked.push(index),
  }, ends.signal);
  Object.defineProperty(list.el, 'clientHeight', { value: 400 });
  document.body.append(list.el);
  list.refresh();
  return { list, picked, ends };
}

describe('the virtual list', () => {
  /** Only what is in sight is in the page, also of a hundred thousand rows. */
  it('holds a screenful of elements', () => {
    const { list } = listOf(100_000);
    expect(list.el.querySelectorAll('[role=option]').length).toBeLessThan(20);
    list.activate(99_999);
    expect(list.el.querySelectorAll('[role=option]').length).toBeLessThan(20);
    expect(list.el.textContent).toContain('row 99999');
  });

  /** A list that is taller than a browser can lay out still reaches its end. */
  it('reaches the last of a million rows', () => {
    const { list } = listOf(1_000_000);
    expect(Number.parseInt(/** @type {HTMLElement} */ (list.el.firstElementChild).style.height, 10)).toBe(12_000_000);
    list.activate(999_999);
    expect(list.el.scrollTop).toBeLessThan(12_000_000);
    expect(list.el.textContent).toContain('row 999999');
  });

  /** A screen reader is told which row is active, its number and how many there are. */
  it('is a listbox', () => {
    const { list } = listOf(500);
    list.activate(3);
    const row = document.getElementById(list.el.getAttribute('aria-activedescendant') ?? '');
    expect(row?.textContent).toBe('row 3');
    expect([row?.getAttribute('aria-posinset'), row?.getAttribute('aria-setsize'), row?.getAttribute('aria-selected')]).toEqual(['4', '500', 'true']);
    expect(list.el.querySelectorAll('[aria-selected=true]')).toHaveLength(1);
  });

  /** A click picks the row under it. */
  it('picks', () => {
    const { list, picked } = listOf(10);
    /** @type {HTMLElement} */ (list.el.querySelectorAll('[role=option]')[2]).click();
    expect(picked).toEqual([2]);
  });

  /** Rows come in pages of a hundred, each asked for once. */
  it('asks for pages', async () => {
    const { model, press } = await openPage({ selected: 1, traces: [infoOf({ n_turns: 10_000 })] });
    press('End');
    await settled(60);
    expect(requestsOf(model, 'rows').map((each) => [each.start, each.stop])).toEqual([[1, 101], [9901, 10_001]]);
  });
});
