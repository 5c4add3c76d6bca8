// Levels: where packets can be handled, and what was met and done there.
import { el, Table } from './dom.js';
import { bytes, whole } from './format.js';
import { get } from './server.js';

export function make() {
  const levels = new Table('Levels', [
    { head: 'Level', text: each => each.level },
    { head: 'There', text: each => each.there ? 'yes' : 'no' },
    { head: 'What it is, or why it is not there', wrap: true, text: each => each.detail },
    { head: 'Has met', wrap: true, text: each => Object.entries(each.met).map(([what, count]) => `${what} ${whole(count)}`).join(', ') || 'nothing' },
  ], each => each.level);
  const offloads = new Table('Policies at work below the JVM', [
    { head: 'Service key', text: each => each.serviceKey },
    { head: 'Level', text: each => each.level },
    { head: 'Flow', text: each => [each.protocol, each.source, '→', each.destination, each.stream == null ? null : `stream ${each.stream}`].filter(part => part != null).join(' ') },
    { head: 'Does', text: each => `${each.policy.share}; mark ${each.policy.mark}; ${each.policy.rules.join(', ') || 'no rules'}; ${each.policy.fate}` },
    { head: 'Packets', num: true, text: each => whole(each.counters.packets) },
    { head: 'Went up', num: true, text: each => whole(each.counters.up) },
    { head: 'Went on', num: true, text: each => whole(each.counters.on) },
    { head: 'Dropped', num: true, text: each => whole(each.counters.dropped) },
    { head: 'Bytes', num: true, text: each => bytes(each.counters.bytes) },
  ], each => [each.serviceKey, each.level, each.protocol, each.source, each.destination, each.stream].join(' '),
  'No policy is at work below the JVM: name an interface with --interface, and place a service there with --place, or on the page Services.');
  return {
    node: el('div', null, levels.node, offloads.node),
    everyMs: 3000,
    async refresh() {
      const answer = await get('/v1/levels?limit=200');
      levels.update(answer.levels);
      offloads.update(answer.offloads);
    },
  };
}
