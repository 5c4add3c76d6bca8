// Routes: which one decides about an address, and all of them.
import { el, facts, field, none, Pager, Table } from './dom.js';
import { whole } from './format.js';
import { get, Refused } from './server.js';

const PAGE = 50;
const hop = route => `${route.address ?? 'the packet’s own destination'}${route.port ? `, port ${route.port}` : ''}`;

export function make({ refresh }) {
  const pages = [null]; // The prefixes behind which the pages up to this one begin.
  let next = null;
  const address = field('Address', { type: 'text', required: true, spellcheck: 'false', placeholder: '192.0.2.7', maxlength: 64 });
  const decided = el('div', { id: 'decided', 'aria-live': 'polite' });
  const ask = el('form', { class: 'bar-form', 'aria-label': 'Look an address up', onsubmit: event => {
    event.preventDefault();
    lookUp(address.input.value.trim());
  } }, address.node, el('button', { type: 'submit' }, 'Look up'));

  async function lookUp(wanted) {
    try {
      const route = await get(`/v1/routes/${encodeURIComponent(wanted)}`);
      decided.replaceChildren(facts([
        ['Packets to', wanted], ['Route', route.prefix], ['Next hop', hop(route)],
        ['Transport', route.transport], ['Kind', route.kind], ['From', route.origin]]));
    } catch (e) {
      if (!(e instanceof Refused)) {
        throw e;
      }
      decided.replaceChildren(el('p', { class: 'bad' }, e.message));
    }
  }

  const table = new Table('Routes', [
    { head: 'Prefix', text: route => route.prefix },
    { head: 'Next hop', text: hop },
    { head: 'Transport', text: route => route.transport },
    { head: 'Kind', text: route => route.kind },
    { head: 'From', text: route => route.origin },
  ], route => route.prefix, 'The node has no routes, so nothing leaves: add one with --route, or ctl routes put PREFIX=ADDRESS:PORT.');
  const pager = new Pager(step => {
    if (step > 0) {
      pages.push(next);
    } else {
      pages.pop();
    }
    refresh();
  });
  const feed = el('div');
  return {
    node: el('div', null, ask, decided, table.node, pager.node, el('h2', null, 'Routes of a routing daemon'), feed),
    everyMs: 5000,
    async refresh() {
      const after = pages[pages.length - 1];
      const answer = await get(`/v1/routes?limit=${PAGE}${after ? `&after=${encodeURIComponent(after)}` : ''}`);
      next = answer.next;
      table.update(answer.routes);
      pager.show(`page ${whole(pages.length)}, ${whole(answer.total)} routes in all`, pages.length > 1, next != null);
      feed.replaceChildren(answer.feed
        ? facts([['Routes', whole(answer.feed.routes)], ['Without a next hop', whole(answer.feed.unmapped)], ['Changes', whole(answer.feed.changes)],
          ['Last change', answer.feed.lastChange ?? '–'], ['Read anew', whole(answer.feed.resyncs)], ['Fault', answer.feed.fault ?? 'none']])
        : none('The node follows no routing daemon: the setting routing.feed of the configuration says how.'));
    },
  };
}
