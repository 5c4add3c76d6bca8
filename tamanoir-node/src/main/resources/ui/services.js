// Services: versions, what they do and cost, and what can be done about them.
import { el, facts, field, Pager, paused, Table } from './dom.js';
import { bytes, since, span, time, whole } from './format.js';
import { change, get } from './server.js';

const PAGE = 50;
const label = service => service.version ? `${service.name}:${service.version}` : service.name;
const path = service => `/v1/services/${encodeURIComponent(service.name)}`;
const body = service => service.version ? { version: service.version } : {};

export function make({ act, refresh }) {
  let offset = 0;
  let chosen = null;
  const match = field('Find', { type: 'text', spellcheck: 'false', placeholder: 'part of a name', oninput: paused(() => { offset = 0; refresh(); }) });
  const table = new Table('Versions of services', [
    { head: 'Service', node: service => el('button', { type: 'button', class: 'name', onclick: () => choose(label(service)) }, label(service)) },
    { head: 'State', text: service => service.state },
    { head: 'Current', text: service => service.current ? 'yes' : 'no' },
    { head: 'Source', text: service => service.source },
    { head: 'Signer', text: service => service.publisher ?? '–' },
    { head: 'Streams', num: true, text: service => whole(service.tcpStreams) + (service.udp ? ' + UDP' : '') },
    { head: 'Packets in', num: true, text: service => whole(service.traffic?.packetsIn) },
    { head: 'Dropped', num: true, text: service => whole(service.traffic?.dropped) },
    { head: 'Failures', num: true, text: service => whole(service.failures) },
    { head: 'Time a packet', num: true, text: service => service.traffic?.packetsIn ? time(service.processorSeconds / service.traffic.packetsIn) : '–' },
    { head: 'Heap a packet', num: true, text: service => service.traffic?.packetsIn ? bytes(service.allocatedBytes / service.traffic.packetsIn) : '–' },
    { head: 'Level', text: service => service.placement.level },
  ], label, 'No service fits; a node gets services by --service, or fetches them with --repository and --trust.');
  const pager = new Pager(step => { offset = Math.max(0, offset + step * PAGE); refresh(); });
  const detail = el('div', { id: 'service' });
  let shown = [];
  let lift = null;

  const name = field('Service', { type: 'text', class: 'long', required: true, spellcheck: 'false', placeholder: 'org.example.Foo', maxlength: 255 });
  const version = field('Version', { type: 'text', class: 'short', placeholder: 'newest', maxlength: 64, spellcheck: 'false' });
  const deploy = el('form', { class: 'bar-form', 'aria-label': 'Deploy a service', onsubmit: event => {
    event.preventDefault();
    const wanted = { name: name.input.value.trim(), version: version.input.value.trim() };
    act(deployed => `${label(deployed)} is deployed, from ${deployed.source}.`, () => change('POST', `${path(wanted)}/deploy`, body(wanted)));
  } }, name.node, version.node, el('button', { type: 'submit' }, 'Deploy'));

  function choose(key) {
    chosen = chosen === key ? null : key;
    table.choose(chosen);
    inspect(true);
  }

  function inspect(isNew) {
    const service = shown.find(each => label(each) === chosen);
    if (!service) {
      detail.replaceChildren();
      return;
    }
    if (!isNew && detail.contains(document.activeElement)) { // Somebody is about to press or to type something there.
      detail.querySelector('dl').replaceWith(about(service));
      lift.disabled = service.state !== 'quarantined';
      return;
    }
    detail.replaceChildren(el('article', { class: 'detail' }, el('h2', null, label(service)), actions(service), about(service)));
    if (isNew) {
      detail.querySelector('button').focus();
      detail.scrollIntoView({ block: 'nearest' });
    }
  }

  function actions(service) {
    const called = label(service);
    const deadline = field('Deadline in seconds', { type: 'number', min: 0, max: 86400, value: 10, class: 'short' });
    const level = field('Level', { }, ['jvm', 'jvm'], ['auto', 'auto'], ['module', 'module'], ['tc', 'tc'], ['xdp', 'xdp']);
    level.input.value = service.placement.wanted;
    const button = (text, done, work, disabled) => el('button', { type: 'button', class: 'secondary', disabled, onclick: () => act(done, work) }, text);
    lift = button('Lift quarantine', `The quarantine of ${called} is lifted.`, () => change('POST', `${path(service)}/release`, body(service)), service.state !== 'quarantined');
    return el('div', null,
      el('div', { class: 'bar-form' },
        deadline.node,
        button('Undeploy', `${called} is undeployed.`, () => change('POST', `${path(service)}/undeploy`, { ...body(service), deadlineSeconds: Number(deadline.input.value) })),
        button('Drain', `${called} gets no new streams.`, () => change('POST', `${path(service)}/drain`, body(service))),
        lift),
      el('div', { class: 'bar-form' }, level.node,
        button('Place', placed => {
          const at = placed.services[0]?.placement;
          return `${called} is handled at ${at?.level}${at?.reason ? `: ${at.reason}` : ''}${at?.refusal ? `: ${at.refusal}` : ''}.`;
        }, () => change('PUT', `${path(service)}/level`, { ...body(service), level: level.input.value }))));
  }

  function about(service) {
    const list = map => Object.entries(map).map(([each, count]) => `${each} ${whole(count)}`).join(', ') || 'none';
    return facts([
      ['State', service.state + (service.quarantinedUntil ? ` until ${service.quarantinedUntil}` : '')],
      ['Key', service.key],
      ['Source', service.source],
      ['Signer', service.publisher ?? 'none: it is of the class path, or unsigned'],
      ['Jar, SHA-256', service.jarSha256 ?? '–'],
      ['Deployed', service.since ? `${service.since}, ${since(service.since)} ago` : '–'],
      ['Packets', service.traffic ? `${whole(service.traffic.packetsIn)} in + ${whole(service.traffic.packetsMade)} made, ${whole(service.traffic.packetsOut)} out, ${whole(service.traffic.dropped)} dropped, ${whole(service.traffic.held)} held` : '–'],
      ['Drops by reason', service.traffic ? list(service.traffic.drops) : '–'],
      ['Its own reasons', list(service.dropReasons)],
      ['Its own counters', list(service.counters)],
      ['Processor time', span(service.processorSeconds)],
      ['Failures', `${whole(service.failures)}; ${whole(service.quarantines)} quarantines, ${whole(service.throttles)} throttles, ${whole(service.stuck)} stuck`],
      ['Level', `${service.placement.level}, wanted ${service.placement.wanted}${service.placement.reason ? `: ${service.placement.reason}` : ''}${service.placement.refusal ? `: ${service.placement.refusal}` : ''}`],
      ['Below the JVM', `${whole(service.placement.counters.packets)} packets, ${whole(service.placement.counters.up)} went up, ${whole(service.placement.counters.on)} went on, ${whole(service.placement.counters.dropped)} dropped`],
      ...(service.holders.length ? [['Kept in memory by', service.holders.join(', ')]] : []),
    ]);
  }

  return {
    node: el('div', null, deploy, el('div', { class: 'bar-form', role: 'search' }, match.node), table.node, pager.node, detail),
    everyMs: 2000,
    async refresh() {
      const { services, total } = await get(`/v1/services?limit=${PAGE}&offset=${offset}&match=${encodeURIComponent(match.input.value.trim())}`);
      shown = services;
      table.update(services);
      table.choose(chosen);
      pager.show(total ? `${whole(offset + 1)} to ${whole(offset + services.length)} of ${whole(total)}` : 'none', offset > 0, offset + services.length < total);
      inspect(false);
    },
  };
}
