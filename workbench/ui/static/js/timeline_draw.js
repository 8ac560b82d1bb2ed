/** Drawing one trace's calls on a canvas, and finding which one a point hits. */

/** @import { Quads } from './types.js' */

/**
 * @typedef {{ [name: string]: string }} Colours
 * @typedef {{
 *   lane: number, tone: number, source: number, turn: number, start: number, end: number,
 * }} Block
 * @typedef {{ context: CanvasRenderingContext2D, width: number, height: number, span: number,
 *   colours: Colours, fork: boolean }} Paper
 *   `span` is the clock's whole length in seconds, the same for every trace.
 */

const MODEL = 0;
const BAD = 1;
const WARN = 2;
const SOURCES = ['recorded', 'live', 'edit', 'fault'];

/** @param {Quads} quads @param {number} index @returns {Block} */
export function blockAt(quads, index) {
  const [start = 0, length = 0, turn = 0, code = 0] = quads.subarray(index * 4, index * 4 + 4);
  return {
    start, end: start + length, turn, lane: code & 1, tone: (code >> 1) & 3, source: code >> 3,
  };
}

/** The same with the first call at zero: what an agent did before it is not what one looks for.
 * @param {Quads} quads */
export function fromFirstCall(quads) {
  let first = Infinity;
  for (let at = 0; at < quads.length; at += 4) first = Math.min(first, quads[at] ?? 0);
  return quads.map((value, at) => (at % 4 === 0 ? value - first : value));
}

/** The last moment of a trace, in seconds. @param {Quads} quads */
export function endOf(quads) {
  let end = 0;
  for (let at = 0; at < quads.length; at += 4) {
    end = Math.max(end, (quads[at] ?? 0) + (quads[at + 1] ?? 0));
  }
  return end;
}

/** @param {Paper} paper @param {Quads} quads */
export function drawTrace(paper, quads) {
  const { context, width, height } = paper;
  context.clearRect(0, 0, width, height);
  context.font = '10.5px ui-monospace, Menlo, Consolas, monospace';
  context.textBaseline = 'middle';
  if (isDense(paper, quads)) {
    drawDensity(paper, quads);
    return;
  }
  /** @type {Block[]} */
  const plain = [];
  /** @type {Block[]} */
  const marked = [];
  for (let index = 0; index < quads.length / 4; index += 1) {
    const block = blockAt(quads, index);
    (block.tone || block.source ? marked : plain).push(block);
  }
  // What needs looking at is drawn last, so that it shows also where calls share a pixel.
  for (const block of plain) drawBlock(paper, block);
  for (const block of marked) drawBlock(paper, block);
}

/** Whether most calls are too narrow to be told apart. @param {Paper} paper @param {Quads} quads */
function isDense({ width }, quads) {
  return quads.length / 4 > width / 2;
}

/**
 * Many calls in each pixel: the coloured part of a column is the share of its calls that are
 * marked, and at least three pixels, so that a single error among thousands is seen.
 * @param {Paper} paper @param {Quads} quads
 */
function drawDensity({ context, width, height, span, colours, fork }, quads) {
  const columns = Array.from({ length: Math.ceil(width) }, () => new Map([['all', 0]]));
  for (let index = 0; index < quads.length / 4; index += 1) {
    const block = blockAt(quads, index);
    const column = columns[Math.min(columns.length - 1, Math.floor(extent(block, width, span).left))];
    const name = colourName(block);
    column?.set('all', (column.get('all') ?? 0) + 1);
    column?.set(name, (column.get(name) ?? 0) + 1);
  }
  columns.forEach((column, x) => {
    const all = column.get('all') ?? 0;
    if (!all) return;
    let bottom = height - 2;
    context.globalAlpha = fork ? 0.5 : 1;
    context.fillStyle = colours['density-bg'] ?? '#ccc';
    context.fillRect(x, 2, 1, height - 4);
    context.globalAlpha = 1;
    for (const name of ['bad', 'fault', 'warn', 'edit', 'live']) {
      const n = column.get(name);
      if (!n) continue;
      const tall = Math.max(3, (n / all) * (height - 4));
      context.fillStyle = colours[name] ?? '#888';
      context.fillRect(x, Math.max(2, bottom - tall), 1, Math.min(tall, bottom - 2));
      bottom -= tall;
    }
  });
}

/** The part of the width that a block takes, at least a pixel. @param {Block} block @param {number} width @param {number} span */
export function extent(block, width, span) {
  const scale = (width - 4) / (span || 1);
  const left = 2 + block.start * scale;
  return { left, width: Math.max(1, (block.end - block.start) * scale) };
}

/** @param {Block} block */
function colourName(block) {
  if (block.source >= 1) return SOURCES[block.source] ?? 'recorded';
  if (block.tone === BAD) return 'bad';
  if (block.tone === WARN) return 'warn';
  return block.lane === MODEL ? 'recorded' : 'tool';
}

/** @param {Paper} paper @param {Block} block */
function drawBlock(paper, block) {
  const { context, width, height, span, colours, fork } = paper;
  const place = extent(block, width, span);
  const model = block.lane === MODEL;
  const tall = model ? height - 4 : height - 12;
  const top = (height - tall) / 2;
  const name = colourName(block);
  context.globalAlpha = fork && block.source === 0 ? 0.5 : 1;
  if (place.width < 3) {
    context.fillStyle = colours[name] ?? '#888';
    context.fillRect(Math.floor(place.left), top, Math.max(1, Math.floor(place.width)), tall);
  } else {
    box(context, place.left + 0.5, top + 0.5, place.width - 1, tall - 1);
    context.fillStyle = colours[`${name}-bg`] ?? '#ddd';
    context.fill();
    context.strokeStyle = colours[name] ?? '#888';
    context.stroke();
    if (block.tone === BAD && block.source >= 1) strike(context, place, top, tall, colours);
    if (model) label(context, block, place, height, colours[`${name}-text`] ?? '#333');
  }
  context.globalAlpha = 1;
}

/** A red foot under a call that ran live or was changed, and went wrong.
 * @param {CanvasRenderingContext2D} context @param {{ left: number, width: number }} place
 * @param {number} top @param {number} tall @param {Colours} colours */
function strike(context, place, top, tall, colours) {
  context.fillStyle = colours.bad ?? 'red';
  context.fillRect(place.left + 1, top + tall - 3, place.width - 2, 2);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} w @param {number} h */
function box(context, x, y, w, h) {
  context.beginPath();
  if (w > 6) context.roundRect(x, y, w, h, 3);
  else context.rect(x, y, w, h);
}

/** @param {CanvasRenderingContext2D} context @param {Block} block
 * @param {{ left: number, width: number }} place @param {number} height @param {string} colour */
function label(context, block, place, height, colour) {
  const number = String(block.turn);
  const word = [block.tone === BAD ? '!' : '', ' live', ' ✎', ' fault'][block.source] ?? '';
  context.fillStyle = colour;
  for (const text of [`${number}${word}`, number]) {
    if (context.measureText(text).width + 7 <= place.width) {
      context.fillText(text, place.left + 4, height / 2 + 0.5);
      return;
    }
  }
}

/**
 * The turn at a point of the width: the call there, else the nearest one.
 * @param {Quads} quads @param {number} x @param {number} width @param {number} span
 */
export function turnAt(quads, x, width, span) {
  let best = 0;
  let nearest = Infinity;
  for (let index = 0; index < quads.length / 4; index += 1) {
    const block = blockAt(quads, index);
    const place = extent(block, width, span);
    const far = Math.max(place.left - x, x - place.left - place.width, 0);
    if (far < nearest && block.turn > 0) {
      nearest = far;
      best = block.turn;
    }
  }
  return best;
}

/** From where to where a turn's model call goes. @param {Quads} quads @param {number} turn */
export function turnExtent(quads, turn) {
  /** @type {Block | null} */
  let found = null;
  for (let index = 0; index < quads.length / 4; index += 1) {
    if (quads[index * 4 + 2] !== turn) continue;
    const block = blockAt(quads, index);
    if (block.lane === MODEL) return block;
    found ??= block;
  }
  return found;
}
