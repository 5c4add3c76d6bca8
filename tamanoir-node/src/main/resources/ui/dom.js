// Elements from data. All text goes in as text nodes: nothing that comes from outside is ever read as HTML.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith('on')) {
      node.addEventListener(name.slice(2), value);
    } else if (value === true) {
      node.setAttribute(name, '');
    } else if (value !== false && value != null) {
      node.setAttribute(name, String(value));
    }
  }
  node.append(...children.filter(child => child != null));
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Sets a text, if it is another one: what does not change is not drawn again. */
export function text(node, value) {
  const wanted = String(value);
  if (node.textContent !== wanted) {
    node.textContent = wanted;
  }
}

export const none = line => el('p', { class: 'none' }, line);

/** A list of terms: facts([['Version', '1.0'], …]). */
export const facts = pairs => el('dl', { class: 'facts' },
  ...pairs.flatMap(([term, value]) => [el('dt', null, term), el('dd', null, value ?? '–')]));

/**
 * A table whose rows are told apart by a key, and changed in place: focus and selection stay where they are.
 * Columns: {head, text: row => string, num, wrap, node: row => element, made once for a key}.
 */
export class Table {
  constructor(caption, columns, key, empty, { tall = false } = {}) {
    this.columns = columns;
    this.key = key;
    this.rows = new Map();
    this.body = el('tbody');
    this.empty = none(empty ?? 'There are none.');
    this.table = el('table', null,
      el('caption', null, caption),
      el('thead', null, el('tr', null, ...columns.map(column => el('th', { scope: 'col', class: column.num ? 'num' : null }, column.head)))),
      this.body);
    this.scroll = el('div', { class: tall ? 'scroll tall' : 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, this.table);
    this.node = el('div', null, this.scroll, this.empty);
  }

  update(items) {
    this.empty.hidden = items.length > 0;
    const left = new Set(this.rows.keys());
    const seen = new Set();
    let before = this.body.firstChild;
    for (const item of items) {
      let key = String(this.key(item));
      while (seen.has(key)) {
        key += ' again';
      }
      seen.add(key);
      left.delete(key);
      let row = this.rows.get(key);
      if (!row) {
        row = { tr: el('tr'), cells: this.columns.map(column => el('td', { class: column.num ? 'num' : column.wrap ? 'wrap' : null })), made: false };
        row.tr.append(...row.cells);
        this.rows.set(key, row);
      }
      this.columns.forEach((column, i) => {
        if (column.node) {
          if (!row.made) {
            row.cells[i].append(column.node(item));
          }
        } else {
          text(row.cells[i], column.text(item) ?? '–');
        }
      });
      row.made = true;
      if (row.tr !== before) {
        this.body.insertBefore(row.tr, before);
      } else {
        before = before.nextSibling;
      }
    }
    for (const key of left) {
      this.rows.get(key).tr.remove();
      this.rows.delete(key);
    }
  }

  choose(key) {
    this.rows.forEach((row, each) => row.tr.classList.toggle('chosen', each === key));
  }
}

/** Back and forth through pages of a list: onMove(-1 | 1); show(line, hasBack, hasNext). */
export class Pager {
  constructor(onMove) {
    this.back = el('button', { type: 'button', class: 'small secondary outline', onclick: () => onMove(-1) }, 'Back');
    this.next = el('button', { type: 'button', class: 'small secondary outline', onclick: () => onMove(1) }, 'Next');
    this.where = el('span', { 'aria-live': 'polite' });
    this.node = el('div', { class: 'pager' }, this.back, this.where, this.next);
  }

  show(line, hasBack, hasNext) {
    text(this.where, line);
    this.back.disabled = !hasBack;
    this.next.disabled = !hasNext;
  }
}

/** A labelled field. */
export function field(label, attributes, ...options) {
  const tag = options.length ? 'select' : 'input';
  const input = el(tag, attributes, ...options.map(([value, name]) => el('option', { value }, name)));
  return { input, node: el('label', null, label, input) };
}

/** Calls when typing has paused. */
export function paused(call) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, 250);
  };
}
