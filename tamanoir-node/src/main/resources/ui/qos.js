// QoS: at each point where traffic is scheduled, what classes get against what their weights say, and how long they wait.
import { Bars } from './charts.js';
import { el, none, Table, text } from './dom.js';
import { bytes, percent, time, whole } from './format.js';
import { get } from './server.js';

/** What a class should have where all classes always have something to send. */
function wantedShares(config) {
  const weights = new Map((config.classes ?? []).map(each => [each.name, each.weight ?? 1]));
  const sum = [...weights.values()].reduce((all, weight) => all + weight, 0);
  return name => sum > 0 && weights.has(name) ? weights.get(name) / sum : null;
}

export function make() {
  const points = new Map();
  const holder = el('div');
  const empty = none('Traffic is not scheduled: packets are processed and leave as they come. Configure it with the section qos, or ctl qos set FILE.');

  function point(name) {
    const bars = new Bars(`Shares at ${name}, of those that it has and those that its weight says`, ['has', 'weight'], percent);
    const table = new Table(`Classes at ${name}`, [
      { head: 'Class', text: row => row.name },
      { head: 'Share', num: true, text: row => percent(row.share) },
      { head: 'Weight', num: true, text: row => percent(row.wanted) },
      { head: 'Waiting', num: true, text: row => whole(row.waitingPackets + row.waitingTurns) },
      { head: 'Served', num: true, text: row => whole(row.servedPackets) },
      { head: 'Bytes', num: true, text: row => bytes(row.servedBytes) },
      { head: 'Dropped', num: true, text: row => whole(row.droppedPackets) },
      { head: 'Mean wait', num: true, text: row => row.waiting.count ? time(row.waiting.meanSeconds) : '–' },
      { head: 'p50 ≤', num: true, text: row => time(row.waiting.p50Seconds) },
      { head: 'p95 ≤', num: true, text: row => time(row.waiting.p95Seconds) },
      { head: 'p99 ≤', num: true, text: row => time(row.waiting.p99Seconds) },
    ], row => row.name);
    const title = el('h2');
    return { bars, table, title, node: el('section', null, title, table.node, bars.node) };
  }

  return {
    node: el('div', null, empty, holder),
    everyMs: 2000,
    async refresh() {
      const [status, config] = await Promise.all([get('/v1/qos/status'), get('/v1/qos')]);
      const wanted = wantedShares(config);
      empty.hidden = status.points.length > 0;
      for (const [name, shown] of points) {
        if (!status.points.some(each => each.name === name)) {
          shown.bars.close();
          shown.node.remove();
          points.delete(name);
        }
      }
      for (const each of status.points) {
        if (!points.has(each.name)) {
          points.set(each.name, point(each.name));
          holder.append(points.get(each.name).node);
        }
        const shown = points.get(each.name);
        const rows = each.classes.map(one => ({ ...one, wanted: wanted(one.name) }));
        text(shown.title, `${each.name === 'pre' ? 'Before processing' : `Link ${each.name}`}, ${each.discipline}`);
        shown.table.update(rows);
        shown.bars.show(rows.map(row => ({ name: row.name, values: [row.share, row.wanted ?? 0] })));
      }
    },
    close: () => points.forEach(each => each.bars.close()),
  };
}
