// Path: the way of a packet through the node, with where packets are, wait, and end.
import { el, svg, Table, text } from './dom.js';
import { perSecond, whole } from './format.js';

/** The places of the way, and the reasons for which packets end there; each reason stands at one place. */
export const STAGES = [
  { id: 'read', name: 'read, parse', reasons: ['SHORT', 'VERSION', 'HEADER_LENGTH', 'TRUNCATED', 'OPTION_LENGTH', 'CHECKSUM', 'OPTION', 'OPTION_FORMAT', 'AUTH_MISSING', 'AUTH_ALGORITHM', 'AUTH_KEY', 'AUTH_MAC', 'AUTH_SEQUENCE', 'AUTH_REPLAY', 'SELECTOR', 'MISS', 'EXPIRED', 'SOURCE', 'RAW_IP', 'RTP'] },
  { id: 'demultiplex', name: 'demultiplex', reasons: ['TYPE_ID', 'UNKNOWN_SERVICE', 'DEPLOYMENT_FAILED', 'DEPLOYMENT_HOLD_FULL', 'NO_INSTANCE', 'STREAM_LIMIT', 'INBOX_FULL'] },
  { id: 'turn', name: 'wait for a turn', reasons: ['TURN_QUEUE_FULL', 'STARVED', 'UNCLASSIFIED'] },
  { id: 'service', name: 'Service.process', reasons: ['SERVICE', 'CONSUMED', 'SERVICE_CLOSED', 'QUARANTINED', 'BUDGET', 'SERVICE_FAILURE', 'SERVICE_MALFORMED', 'AMPLIFICATION', 'HOLD_FULL', 'HOLD_EXPIRED'] },
  { id: 'route', name: 'route', reasons: ['NO_ROUTE', 'LOCAL', 'HOP_BUDGET', 'LOOP', 'PACKET_TOO_LONG'] },
  { id: 'link', name: 'wait for the link', reasons: ['QUEUE_FULL', 'QUEUE_DELAY', 'RATE_EXCEEDED', 'LATE', 'PATH_LOST', 'RING_FINISH'] },
  { id: 'write', name: 'write', reasons: ['NEXT_HOP_UNREACHABLE', 'NEXT_HOP_LOST', 'NEXT_HOP_STALLED', 'OUTPUT_FULL', 'SEND_ERROR', 'PEER_GONE'] },
  { id: 'end', name: 'end of a stream', reasons: ['NO_MEMORY', 'IDLE', 'SHUTDOWN'] },
];
const LINES = 4;

/** Text that becomes … where it has no room, given in characters. */
const cut = (line, most) => line.length <= most ? line : `${line.slice(0, most - 1)}…`;

/** Where things stand in the picture: across where there is room, else downward. */
const ACROSS = { width: 1300, height: 300, box: 134, x: i => 62 + i * 153 + (i === 7 ? 22 : 0), y: () => 78 };
const DOWN = { width: 380, height: 8 * 96 + 84, box: 136, x: () => 14, y: i => 64 + i * 96 + (i === 7 ? 16 : 0) };

function draw(isWide) {
  const at = isWide ? ACROSS : DOWN;
  const root = svg('svg', { class: 'path', viewBox: `0 0 ${at.width} ${at.height}`, role: 'img', 'aria-label': 'The way of a packet; the table below says the same' });
  const way = (x1, y1, x2, y2) => [svg('path', { class: 'way', d: `M${x1} ${y1}L${x2} ${y2}` }),
    svg('path', { class: 'tip', d: isWide ? `M${x2} ${y2 - 5}l8 5-8 5z` : `M${x2 - 5} ${y2}l5 8 5-8z` })];
  const lane = (first, last, name) => isWide
    ? [svg('rect', { class: 'thread', x: at.x(first) - 8, y: 32, width: at.x(last) - at.x(first) + at.box + 16, height: 116, rx: 8 }), svg('text', { class: 'lane', x: at.x(first), y: 24 }, name)]
    : [svg('rect', { class: 'thread', x: 6, y: at.y(first) - 22, width: at.box + 16, height: at.y(last) - at.y(first) + 76, rx: 8 })];
  root.append(...lane(0, 1, 'the reception, or the thread that reads'), ...lane(2, 6, 'the thread of the service'));
  root.append(svg('text', isWide ? { class: 'muted', x: 0, y: 105 } : { class: 'muted mid', x: 82, y: 16 }, 'senders'));
  const stages = STAGES.map((stage, i) => {
    const [x, y] = [at.x(i), at.y(i)];
    const middle = x + at.box / 2;
    const beside = x + at.box + 16;
    const group = svg('g', { class: stage.id });
    const place = (kind, across, down) => svg('text', isWide ? { class: `${kind} mid`, x: middle, y: across } : { class: kind, x: beside, y: y + down });
    const flow = place('flow', 52, -2);
    const waits = place('waits', 70, 14);
    const total = place('ends strong', 190, 30);
    const ends = Array.from({ length: LINES }, (_, line) => place('ends', 209 + line * 18, 45 + line * 14));
    if (stage.id !== 'end') {
      group.append(...isWide ? way(x - (i ? 19 : 10), 101, x - 8, 101) : way(middle, y - (i ? 50 : 44), middle, y - 9));
    }
    group.append(svg('rect', { class: 'box', x, y, width: at.box, height: 46, rx: 6 }),
      svg('text', { class: 'strong mid', x: middle, y: y + 28 }, stage.name),
      svg('path', { class: 'fall', d: isWide ? `M${middle} ${y + 46}V174` : `M${x + at.box} ${y + 23}h12` }),
      flow, waits, total, ...ends);
    root.append(group);
    return { group, waits, ends, total, flow };
  });
  if (isWide) {
    root.append(...way(at.x(6) + at.box, 101, at.x(6) + at.box + 14, 101), svg('text', { class: 'muted', x: at.x(6) + 86, y: 24 }, 'to next hops'));
  } else {
    root.append(...way(82, at.y(6) + 46, 82, at.y(6) + 62), svg('text', { class: 'muted', x: 96, y: at.y(6) + 72 }, 'to next hops'));
  }
  return { root, stages };
}

export function make() {
  const wide = matchMedia('(min-width: 900px)');
  const holder = el('div', { id: 'path' });
  const table = new Table('The same, place by place', [
    { head: 'Place', text: row => row.name },
    { head: 'Come here/s', num: true, text: row => row.flow },
    { head: 'Wait now', num: true, text: row => row.waits },
    { head: 'End here/s', num: true, text: row => row.rate },
    { head: 'Ended so far', num: true, text: row => row.total },
    { head: 'For these reasons', wrap: true, text: row => row.why || '–' },
  ], row => row.name);
  const line = el('p', { class: 'lead' });
  let picture;
  let last = null;

  function redraw() {
    picture = draw(wide.matches);
    holder.replaceChildren(picture.root);
    if (last) {
      update(...last);
    }
  }

  function update(state, rates) {
    last = [state, rates];
    const { traffic } = state;
    const waiting = {
      demultiplex: state.waitingForCode,
      turn: state.waiting.pre ?? 0,
      link: Object.entries(state.waiting).reduce((sum, [point, packets]) => point === 'pre' ? sum : sum + packets, 0),
    };
    let flow = rates?.packetsIn ?? 0;
    const rows = STAGES.map((stage, i) => {
      const ended = stage.reasons.map(reason => ({ reason, total: traffic.drops[reason] ?? 0, rate: rates?.drops[reason] ?? 0 }))
        .filter(each => each.total > 0).sort((a, b) => b.rate - a.rate || b.total - a.total);
      const rate = ended.reduce((sum, each) => sum + each.rate, 0);
      const total = ended.reduce((sum, each) => sum + each.total, 0);
      const isEnd = stage.id === 'end';
      if (stage.id === 'route') {
        flow += rates?.packetsMade ?? 0;
      }
      if (stage.id === 'write' && rates) {
        flow = Math.max(flow, rates.packetsOut);
      }
      const here = isEnd ? '' : perSecond(rates ? flow : null);
      flow = Math.max(0, flow - rate);
      const waits = waiting[stage.id] ?? 0;
      const parts = picture.stages[i];
      text(parts.flow, here);
      text(parts.waits, waits > 0 ? `${whole(waits)} wait` : '');
      text(parts.total, rate > 0 ? `${perSecond(rate)} end` : total > 0 ? `${whole(total)} ended` : '');
      parts.ends.forEach((node, n) => {
        const each = ended[n];
        const isLast = n === LINES - 1 && ended.length > LINES;
        text(node, !each ? '' : isLast ? `and ${ended.length - n} more` : `${cut(each.reason, 20)} ${whole(each.total)}`);
      });
      parts.group.setAttribute('class', `${stage.id}${rate > 0 ? ' trouble' : waits > 0 ? ' busy' : ''}`);
      return { name: stage.name, flow: here || '–', waits: whole(waits), rate: perSecond(rate), total: whole(total),
        why: ended.map(each => `${each.reason} ${whole(each.total)}`).join(', ') };
    });
    table.update(rows);
    text(line, `${perSecond(rates?.packetsIn)} in, ${perSecond(rates?.packetsMade)} made, ${perSecond(rates?.packetsOut)} out, ${perSecond(rates?.dropped)} end here; `
      + `${whole(traffic.held)} are held, ${whole(state.streams)} TCP streams are open.`);
  }

  redraw();
  wide.addEventListener('change', redraw);
  return {
    node: el('div', null, line, holder, table.node),
    update,
    close: () => wide.removeEventListener('change', redraw),
  };
}
