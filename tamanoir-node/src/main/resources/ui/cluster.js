// Cluster, of a node: what it knows as a back-end.
import { el, facts, none, Table } from './dom.js';
import { since, whole } from './format.js';
import { get } from './server.js';

export function make(context) {
  const empty = none('This node is no back-end of a cluster: --cluster URL registers it with a director, whose own page shows all back-ends.');
  const directors = new Table('Directors', [
    { head: 'Director', text: each => each.name ?? '–' },
    { head: 'URL', text: each => each.url },
    { head: 'State there', text: each => each.state },
    { head: 'For', num: true, text: each => since(each.since) },
    { head: 'Connections', num: true, text: each => whole(each.connections) },
    { head: 'Problem', wrap: true, text: each => each.problem ?? 'none' },
  ], each => each.url);
  const wanted = new Table('Services that directors want', [
    { head: 'Service', text: each => each.service },
    { head: 'Deployed', text: each => each.deployed ?? 'no' },
    { head: 'Problem', wrap: true, text: each => each.problem ?? 'none' },
  ], each => each.service);
  const about = el('div');
  empty.hidden = true;
  const shown = el('div', { hidden: true }, about, directors.node, wanted.node);
  return {
    node: el('div', null, empty, shown),
    everyMs: 3000,
    async refresh() {
      if (!context.state) {
        return;
      }
      empty.hidden = context.state.backEnd;
      shown.hidden = !context.state.backEnd;
      if (context.state.backEnd) {
        const status = await get('/v1/cluster');
        directors.update(status.directors);
        wanted.update(status.wanted);
        about.replaceChildren(facts([
          ['Back-end', status.name + (status.leaving ? ', which leaves' : '')],
          ['Host', status.setUp.applied ? `set up, ${status.setUp.mode}` : status.setUp.commands.length ? `to be set up, as root: ${status.setUp.commands.join('; ')}` : status.setUp.mode],
          ['Findings', status.setUp.findings.join('; ') || 'none'],
          ['Problems', status.problems.join('; ') || 'none'],
        ]));
      }
    },
  };
}
