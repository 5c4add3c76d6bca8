// Streams: TCP streams that are open, with their services.
import { el, field, Pager, paused, Table, text } from './dom.js';
import { bytes, since, whole } from './format.js';
import { get } from './server.js';

const PAGE = 50;

export function make({ refresh }) {
  let offset = 0;
  const match = field('Find', { type: 'text', spellcheck: 'false', placeholder: 'an address or a service', oninput: paused(() => { offset = 0; refresh(); }) });
  const table = new Table('TCP streams that are open', [
    { head: 'Peer', text: stream => stream.peer },
    { head: 'Local', text: stream => stream.local },
    { head: 'Services', text: stream => stream.services.join(', ') },
    { head: 'For', num: true, text: stream => since(stream.startedAt) },
    { head: 'Packets in', num: true, text: stream => whole(stream.packetsIn) },
    { head: 'Packets out', num: true, text: stream => whole(stream.packetsOut) },
    { head: 'In', num: true, text: stream => bytes(stream.bytesIn) },
    { head: 'Out', num: true, text: stream => bytes(stream.bytesOut) },
    { head: 'Dropped', num: true, text: stream => whole(stream.dropped) },
  ], stream => `${stream.peer} ${stream.local}`, 'No TCP stream is open that fits.');
  const gateways = new Table('Gateways', [
    { head: 'Listens', text: each => `${each.transport} ${each.listen}` },
    { head: 'Leads to', text: each => each.to },
    { head: 'Format', text: each => each.format },
    { head: 'Service', text: each => each.service ?? (each.serviceKey == null ? 'none' : `not here: key ${each.serviceKey}`) },
    { head: 'Open', num: true, text: each => whole(each.open) },
    { head: 'Begun', num: true, text: each => whole(each.begun) },
    { head: 'In', num: true, text: each => bytes(each.traffic.bytesIn) },
    { head: 'Out', num: true, text: each => bytes(each.traffic.bytesOut) },
    { head: 'Dropped', num: true, text: each => whole(each.traffic.dropped) },
  ], each => `${each.transport} ${each.listen}`, 'No gateway: listen.gateways, or --gateway, makes one.');
  const pager = new Pager(step => { offset = Math.max(0, offset + step * PAGE); refresh(); });
  const line = el('p', { class: 'lead' });
  return {
    node: el('div', null, line, el('div', { class: 'bar-form', role: 'search' }, match.node), table.node, pager.node, gateways.node),
    everyMs: 2000,
    async refresh() {
      const answer = await get(`/v1/streams?limit=${PAGE}&offset=${offset}&match=${encodeURIComponent(match.input.value.trim())}`);
      table.update(answer.streams);
      gateways.update((await get('/v1/gateways')).gateways);
      pager.show(answer.total ? `${whole(offset + 1)} to ${whole(offset + answer.streams.length)} of ${whole(answer.total)}` : 'none', offset > 0, offset + answer.streams.length < answer.total);
      text(line, `${whole(answer.open)} open, ${whole(answer.accepted)} accepted since the start, ${whole(answer.refused)} refused for want of room; ${whole(answer.waitingForCode)} wait for a service's code.`);
    },
  };
}
