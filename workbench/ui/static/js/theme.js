/** The colours of the theme in use, for what is drawn on a canvas, and when they change. */

const NAMES = ['blue', 'bad', 'warn', 'ok', 'edit', 'live', 'fg', 'fg2', 'line', 'edge', 'bg', 'bg2', 'bg3'];

/** @param {HTMLElement} root @returns {{ [name: string]: string }} */
export function coloursOf(root) {
  /** @type {{ [name: string]: string }} */
  const out = {};
  const probe = document.createElement('i');
  probe.hidden = true;
  root.append(probe);
  for (const name of NAMES) {
    probe.style.color = `var(--wb-${name})`;
    out[name] = getComputedStyle(probe).color;
    probe.style.color = `var(--wb-${name}-bg, var(--wb-${name}))`;
    out[`${name}-bg`] = getComputedStyle(probe).color;
    out[`${name}-text`] = out[name];
  }
  probe.remove();
  return {
    ...out,
    recorded: out.edge ?? '', 'recorded-bg': out.bg ?? '', 'recorded-text': out.fg2 ?? '',
    tool: out.edge ?? '', 'tool-bg': out.bg3 ?? '', 'tool-text': out.fg ?? '',
    'density-bg': out.line ?? '',
    fault: out.warn ?? '', 'fault-bg': out['warn-bg'] ?? '', 'fault-text': out.warn ?? '',
  };
}

/** @param {() => void} callback @param {AbortSignal} signal */
export function onThemeChange(callback, signal) {
  const watcher = new MutationObserver(callback);
  watcher.observe(document.body, {
    attributes: true, attributeFilter: ['data-jp-theme-light', 'data-jp-theme-name', 'class'],
  });
  signal.addEventListener('abort', () => watcher.disconnect());
  globalThis.matchMedia?.('(prefers-color-scheme: dark)').addEventListener('change', callback, { signal });
}
