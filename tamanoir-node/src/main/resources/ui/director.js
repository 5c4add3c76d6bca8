// Cluster, of a director: back-ends with their weights, virtual services, and what is done about them.
import { el, field, none, Table, text } from './dom.js';
import { bytes, percent, whole } from './format.js';
import { change } from './server.js';

const path = name => `/v1/back-ends/${encodeURIComponent(name)}`;

export function make({ act }) {
  const line = el('p', { class: 'lead' });
  const deadline = field('Deadline of a drain in seconds', { type: 'number', min: 0, max: 86400, value: 60, class: 'short' });
  const button = (name, label, done, work) => el('button', { type: 'button', class: 'small secondary outline', 'aria-label': `${label} ${name}`, onclick: () => act(done, work) }, label);
  const backEnds = new Table('Back-ends', [
    { head: 'Back-end', text: each => each.name },
    { head: 'State', text: each => each.state },
    { head: 'Address', text: each => each.address },
    { head: 'Weight', num: true, text: each => each.weight == null ? 'not in the table' : whole(each.weight) },
    { head: 'Busy', num: true, text: each => percent(each.busy) },
    { head: 'Streams', num: true, text: each => whole(each.load?.streams) },
    { head: 'Packets in', num: true, text: each => whole(each.load?.traffic.packetsIn) },
    { head: 'Dropped', num: true, text: each => whole(each.load?.traffic.dropped) },
    { head: 'Drain ends', text: each => each.drainEnds ?? '–' },
    { head: 'Actions', node: ({ name }) => el('span', null,
      button(name, 'Drain', `${name} drains.`, () => change('POST', `${path(name)}/drain`, { deadlineSeconds: Number(deadline.input.value) })), ' ',
      button(name, 'Join', `${name} joins again.`, () => change('POST', `${path(name)}/join`, {}))) },
    { head: 'Services', wrap: true, text: each => each.services?.join(', ') || 'none' },
    { head: 'Why, and findings', wrap: true, text: each => [each.reason, ...(each.findings ?? [])].filter(Boolean).join('; ') || '–' },
  ], each => each.name, 'There are no back-ends: list them in the section back-ends, or let nodes register with --cluster URL.');
  const servers = new Table('Virtual services of the kernel’s table', [
    { head: 'Service', text: each => each.service },
    { head: 'Address', text: each => each.at },
    { head: 'Scheduler', text: each => each.scheduler },
    { head: 'Back-end', text: each => each.backEnd },
    { head: 'Endpoint', text: each => each.endpoint },
    { head: 'Weight', num: true, text: each => whole(each.weight) },
    { head: 'Connections', num: true, text: each => whole(each.counters?.connections) },
    { head: 'Packets in', num: true, text: each => whole(each.counters?.packetsIn) },
    { head: 'Bytes in', num: true, text: each => bytes(each.counters?.bytesIn) },
  ], each => `${each.at} ${each.service} ${each.endpoint}`, 'No back-end is in the kernel’s table.');

  const name = field('Service', { type: 'text', class: 'long', required: true, spellcheck: 'false', placeholder: 'org.example.Foo', maxlength: 255 });
  const version = field('Version', { type: 'text', class: 'short', placeholder: 'newest', maxlength: 64, spellcheck: 'false' });
  const order = what => act(`${name.input.value.trim()}: ${what} is ordered on all back-ends.`, () => change('POST', `/v1/services/${encodeURIComponent(name.input.value.trim())}/${what}`,
    version.input.value.trim() ? { version: version.input.value.trim() } : {}));
  const deploy = el('form', { class: 'bar-form', 'aria-label': 'Deploy a service on all back-ends', onsubmit: event => {
    event.preventDefault();
    order('deploy');
  } }, name.node, version.node, el('button', { type: 'submit' }, 'Deploy on all'),
  el('button', { type: 'button', class: 'secondary', onclick: () => name.input.reportValidity() && order('undeploy') }, 'Undeploy on all'));
  const problem = none('');
  return {
    node: el('div', null, line, problem, el('div', { class: 'bar-form' }, deadline.node), backEnds.node, servers.node, el('h2', null, 'Code'), deploy),
    update(state) {
      const { traffic } = state;
      text(line, `${state.name}, ${state.active ? 'active' : 'stand-by: the other director has the addresses'}. ${whole(state.nodes)} nodes, ${whole(state.streams)} streams; `
        + `${whole(traffic.packetsIn)} packets in + ${whole(traffic.packetsMade)} made = ${whole(traffic.packetsOut)} out + ${whole(traffic.dropped)} dropped + ${whole(traffic.held)} held.`);
      problem.hidden = !state.problem && !state.unreachable.length;
      text(problem, [state.problem, state.unreachable.length ? `Not reached now: ${state.unreachable.join(', ')}` : null].filter(Boolean).join('. '));
      backEnds.update(Object.values(state.backEnds));
      servers.update(Object.values(state.services).flatMap(service => service.servers.map(each => ({ ...each, service: service.name, at: service.at, scheduler: service.scheduler }))));
    },
  };
}
