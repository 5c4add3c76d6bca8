// Overview: what crosses the node now, whether it adds up, what the services use, and how it was started.
import { Lines } from './charts.js';
import { el, facts, svg, Table, text } from './dom.js';
import { bytes, bytesPerSecond, perSecond, short, span, time, whole } from './format.js';
import { get } from './server.js';

function card(label) {
  const value = el('span', { class: 'value' }, '–');
  const note = el('span', { class: 'note' });
  return { node: el('div', { class: 'card' }, el('span', { class: 'label' }, label), value, note), set(main, beside) {
    text(value, main);
    text(note, beside ?? '');
  } };
}

/** in + made = out + dropped + held, as one bar whose whole is in + made. */
function balance() {
  const parts = ['out', 'dropped', 'held'].map(name => svg('rect', { class: name, y: 0, height: 10 }));
  const bar = svg('svg', { class: 'bar', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', role: 'img' }, ...parts);
  const names = ['in', 'made', 'out', 'dropped', 'held', 'on the way'];
  const values = names.map(() => el('dd', null, '–'));
  const line = el('p', { class: 'lead' });
  return {
    node: el('div', { id: 'balance' }, line, bar, el('dl', { class: 'balance' },
      ...names.map((name, i) => el('div', { class: name.split(' ')[0] }, el('dt', null, name), values[i])))),
    show({ packetsIn, packetsMade, packetsOut, dropped, held }) {
      const all = packetsIn + packetsMade;
      const onTheWay = all - packetsOut - dropped - held;
      [packetsIn, packetsMade, packetsOut, dropped, held, onTheWay].forEach((value, i) => text(values[i], whole(value)));
      let x = 0;
      [packetsOut, dropped, held].forEach((value, i) => {
        const width = all > 0 ? Math.max(value > 0 ? 3 : 0, 1000 * value / all) : 0;
        parts[i].setAttribute('x', x);
        parts[i].setAttribute('width', width);
        x += width;
      });
      const sum = `${whole(packetsIn)} in + ${whole(packetsMade)} made = ${whole(packetsOut)} out + ${whole(dropped)} dropped + ${whole(held)} held`;
      bar.setAttribute('aria-label', sum);
      text(line, sum + (onTheWay === 0 ? '.' : `, and ${whole(onTheWay)} in the hands of threads while they are counted.`));
    },
  };
}

export function make({ history }) {
  const cards = Object.fromEntries([['in', 'Packets in'], ['out', 'Packets out'], ['dropped', 'Dropped'], ['held', 'Held now'],
    ['streams', 'TCP streams'], ['node', 'Processors, node'], ['services', 'Processors, services']].map(([id, label]) => [id, card(label)]));
  const sum = balance();
  const flow = new Lines('Packets a second', perSecond);
  const drops = new Lines('Drops a second, by reason', perSecond, { stacked: true });
  const processors = new Lines('Processors used by services', value => value.toFixed(2));
  const busiest = new Table('The busiest services', [
    { head: 'Service', text: ([label]) => label },
    { head: 'Packets/s', num: true, text: ([, , rate]) => perSecond(rate?.packets) },
    { head: 'Processors', num: true, text: ([, , rate]) => rate ? rate.processors.toFixed(3) : '–' },
    { head: 'Time a packet', num: true, text: ([, busy]) => busy.packetsIn ? time(busy.processorSeconds / busy.packetsIn) : '–' },
    { head: 'Packets in', num: true, text: ([, busy]) => whole(busy.packetsIn) },
    { head: 'Dropped', num: true, text: ([, busy]) => whole(busy.dropped) },
    { head: 'Held', num: true, text: ([, busy]) => whole(busy.held) },
  ], ([label]) => label, 'The node has no service: name one with --service, or let it fetch code with --repository and --trust.');
  const started = el('div', { id: 'facts' });
  return {
    node: el('div', null,
      el('div', { class: 'cards' }, ...Object.values(cards).map(each => each.node)),
      el('h2', null, 'Does it add up?'), sum.node,
      el('h2', null, 'The last two minutes'), el('div', { class: 'two three' }, flow.node, drops.node, processors.node),
      busiest.node,
      el('h2', null, 'How it was started'), started),
    everyMs: 30000,
    async refresh() {
      const [node, levels] = await Promise.all([get('/v1/node'), get('/v1/levels?limit=1')]);
      started.replaceChildren(facts([
        ['Version', `${node.version}, Java ${node.java}`],
        ['Up for', span(node.uptimeSeconds)],
        ['Listens on TCP', node.tcp.join(', ') || 'nothing'],
        ['Listens on UDP', node.udp.join(', ') || 'nothing'],
        ['Sockets', node.transport],
        ['Priorities', node.priorities],
        ['Groups', node.groups],
        ['Admin API', `${node.admin}, ${node.changes ? 'changes with the token' : 'read-only'}`],
        ['Ready', node.ready ? 'yes' : node.notReady],
        ...levels.levels.map(each => [`Level ${each.level}`, (each.there ? 'there: ' : 'not there: ') + each.detail]),
      ]));
    },
    update(state, rates) {
      const { traffic } = state;
      cards.in.set(perSecond(rates?.packetsIn), rates ? bytesPerSecond(rates.bytesIn) : `${bytes(traffic.bytesIn)} so far`);
      cards.out.set(perSecond(rates?.packetsOut), rates ? bytesPerSecond(rates.bytesOut) : `${bytes(traffic.bytesOut)} so far`);
      cards.dropped.set(perSecond(rates?.dropped), `${whole(traffic.dropped)} so far`);
      cards.held.set(whole(traffic.held), `${whole(state.waitingForCode)} wait for code`);
      cards.streams.set(whole(state.streams), `of ${whole(state.maxStreams)} places`);
      cards.node.set(rates ? rates.processors.toFixed(2) : '–', `of ${state.processors}`);
      cards.services.set(rates ? rates.serviceProcessors.toFixed(2) : '–', `${whole(state.services)} services${state.quarantined ? `, ${state.quarantined} in quarantine` : ''}`);
      sum.show(traffic);
      flow.show(history, each => ({ in: each.packetsIn, out: each.packetsOut }));
      drops.show(history, each => each.drops);
      processors.show(history, each => Object.fromEntries(Object.entries(each.services).map(([label, rate]) => [short(label), rate.processors])));
      busiest.update(Object.entries(state.busiest).map(([label, busy]) => [label, busy, rates?.services[label]])
        .sort((a, b) => (b[2]?.processors ?? 0) - (a[2]?.processors ?? 0) || b[1].processorSeconds - a[1].processorSeconds));
    },
    close() {
      [flow, drops, processors].forEach(each => each.close());
    },
  };
}
