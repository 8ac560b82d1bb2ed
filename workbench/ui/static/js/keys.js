/** Keys of the page. None of them reaches JupyterLab, and none is taken from a field. */

/** @import { Ctx } from './context.js' */

/** Every key with what it does: the help overlay shows this list.
 * @type {{ keys: string[], what: string, does: string, key?: string }[]} */
export const KEYS = [
  { keys: ['j', 'ArrowDown'], what: 'next turn', does: 'down' },
  { keys: ['k', 'ArrowUp'], what: 'previous turn', does: 'up' },
  { keys: ['Home'], what: 'first turn', does: 'first' },
  { keys: ['End'], what: 'last turn', does: 'last' },
  { keys: ['n'], what: 'next turn with an error', does: 'next-error' },
  { keys: ['N'], what: 'previous turn with an error', does: 'last-error' },
  { keys: ['/'], what: 'search', does: 'search' },
  { keys: ['1'], what: 'what the model saw and said', does: 'tab-1' },
  { keys: ['2'], what: 'its whole context', does: 'tab-2' },
  { keys: ['3'], what: 'raw request and reply', does: 'tab-3' },
  { keys: ['4'], what: 'two runs side by side', does: 'tab-4' },
  { keys: ['['], what: 'the run before: parent or fork', does: 'run-before' },
  { keys: [']'], what: 'the run after', does: 'run-after' },
  { keys: ['e'], what: 'change the reply', does: 'reply' },
  { keys: ['f'], what: 'inject a fault', does: 'fault' },
  { keys: ['Ctrl+Enter'], what: 'run from here', does: 'run' },
  { keys: ['?'], what: 'this help', does: 'help' },
  { keys: ['Escape'], what: 'close, or back to the list', does: 'escape' },
];

/** What the cursor does inside these is theirs. */
const TYPING = 'input, select, textarea, [contenteditable]';
/** Keys that scroll or move inside the element that has the focus. */
const OWN = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End']);
/** Where they do. The notebook around the page is in a tab panel too, which is not meant. */
const MOVING = '.wb [role=tabpanel], .wb [role=tab]';

/** @param {Ctx} ctx */
export function listenToKeys(ctx) {
  const { root, signal } = ctx;
  const actions = actionsOf(ctx);
  root.addEventListener('keydown', (event) => {
    event.stopPropagation();
    const does = actionFor(event);
    const action = does && (actions.get(does) ?? ctx.onKey.get(does));
    if (!action) return;
    event.preventDefault();
    action();
  }, { signal });
  // JupyterLab also listens to these on the way up.
  for (const type of ['keypress', 'keyup']) root.addEventListener(type, (event) => event.stopPropagation(), { signal });
}

/** What a key means where it was pressed, or ''. @param {KeyboardEvent} event */
export function actionFor(event) {
  if (event.isComposing) return '';
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.altKey) return 'run';
  if (event.ctrlKey || event.metaKey || event.altKey) return '';
  const target = /** @type {Element} */ (event.target);
  const typing = target.closest?.(TYPING) !== null && target.closest?.(TYPING) !== undefined;
  if (event.key === 'Escape') return target.closest?.('[type=search]') ? '' : 'escape';
  if (typing) return '';
  if (OWN.has(event.key) && target.closest?.(MOVING)) return '';
  return KEYS.find((each) => each.keys.includes(event.key))?.does ?? '';
}

/** @param {Ctx} ctx @returns {Map<string, () => void>} */
function actionsOf(ctx) {
  return new Map(Object.entries({
    down: () => ctx.step(1),
    up: () => ctx.step(-1),
    first: () => ctx.go(ctx.local.hits?.[0] ?? 1),
    last: () => ctx.go(ctx.local.hits?.at(-1) ?? ctx.info()?.n_turns ?? 0),
    'next-error': () => void ctx.next('error', 1),
    'last-error': () => void ctx.next('error', -1),
    'run-before': () => ctx.show(ctx.shown() - 1),
    'run-after': () => ctx.show(ctx.shown() + 1),
    escape: () => {
      if (ctx.local.help) ctx.change({ help: false });
      ctx.onKey.get('list')?.();
    },
  }));
}
