// Events, and packets that end here, as they happen.
import { el, field, Table, text } from './dom.js';
import { clock, whole } from './format.js';
import { get } from './server.js';

const KEPT = 200;

export function make(context) {
  const filter = field('Show only what has', { type: 'text', class: 'long', spellcheck: 'false', placeholder: 'a reason, a service, an address, a word', oninput: () => draw() });
  const hold = el('input', { type: 'checkbox', id: 'hold' });
  const events = new Table('Events', [
    { head: 'At', text: each => clock(each.time) },
    { head: 'Kind', text: each => each.kind },
    { head: 'What', wrap: true, text: each => each.text },
    { head: 'Details', wrap: true, text: each => Object.entries(each.details).map(([name, value]) => `${name} ${value}`).join(', ') },
  ], each => each.id, 'No event fits.', { tall: true });
  const drops = new Table('Packets that ended here, at most 20 a second', [
    { head: 'At', text: each => clock(each.time) },
    { head: 'Reason', text: each => each.reason },
    { head: 'Service', text: each => each.service },
    { head: 'Peer', text: each => each.peer ?? '–' },
    { head: 'Asked for', text: each => each.serviceKey ?? 'no service' },
    { head: 'Bytes', num: true, text: each => each.bytes ? whole(each.bytes) : '–' },
    { head: 'Packets', num: true, text: each => whole(each.packets) },
  ], each => each.id, 'No packet has ended here since this page was opened, or none that fits.', { tall: true });
  const line = el('p', { class: 'lead', 'aria-live': 'polite' });
  const known = { events: [], drops: [] };
  let lastEvent = 0;
  let missed = 0;
  let number = 0;
  let isDrawn = true;

  const fits = each => {
    const wanted = filter.input.value.trim().toLowerCase();
    return !wanted || JSON.stringify(Object.values(each)).toLowerCase().includes(wanted);
  };

  function draw() {
    isDrawn = true;
    events.update(known.events.filter(fits));
    drops.update(known.drops.filter(fits));
    text(line, `${whole(known.events.length)} events and ${whole(known.drops.length)} drops are kept here, ${KEPT} of each at most; ${whole(missed)} drops came faster than they are shown.`);
  }

  /** Together, not one by one: 20 a second would be 20 drawings. */
  function drawSoon() {
    if (isDrawn) {
      isDrawn = false;
      setTimeout(() => isDrawn || draw(), 300);
    }
  }

  context.drops(true);
  draw();
  return {
    node: el('div', null,
      el('div', { class: 'bar-form', role: 'search' }, filter.node, el('label', { class: 'check', for: 'hold' }, hold, 'Hold')),
      line, drops.node, events.node),
    everyMs: 60000,
    async refresh() {
      if (hold.checked) {
        return;
      }
      const answer = await get(`/v1/events?after=${lastEvent}&limit=${10 * KEPT}`);
      lastEvent = answer.lastId;
      known.events = [...answer.events.reverse(), ...known.events].slice(0, KEPT);
      draw();
    },
    update(state) {
      if (state.lastEvent !== lastEvent && !hold.checked) {
        context.refresh();
      }
    },
    drop(told) {
      if (hold.checked) {
        return;
      }
      if (told.kind === 'missed') {
        missed += told.missed;
      } else {
        known.drops.unshift({ ...told.drop, id: number++ });
        known.drops.length = Math.min(known.drops.length, KEPT);
      }
      drawSoon();
    },
    close: () => context.drops(false),
  };
}
