// The frame around the pages: which one is shown, the token, messages, and what is live.
import { HISTORY } from './charts.js';
import { el, text } from './dom.js';
import { listen } from './live.js';
import { get, hasToken, Refused, setToken } from './server.js';

const PAGES = {
  node: ['overview', 'path', 'services', 'streams', 'qos', 'levels', 'routes', 'element', 'cluster', 'events'],
  director: ['director'],
};
const NAMES = { qos: 'QoS', director: 'Cluster', events: 'Events and drops' };

const server = document.documentElement.dataset.server;
const pages = PAGES[server] ?? PAGES.node;
const main = document.getElementById('main');
const message = document.getElementById('message');
const name = page => NAMES[page] ?? page[0].toUpperCase() + page.slice(1);

// ---- messages ---------------------------------------------------------------------------------------------------

let fading;

function say(line, problems, isBad) {
  clearTimeout(fading);
  message.className = isBad ? 'message bad' : 'message';
  message.replaceChildren(
    el('div', null, el('p', null, line), problems?.length ? el('ul', null, ...problems.map(each => el('li', null, each))) : null),
    el('button', { type: 'button', class: 'small secondary outline', onclick: () => { message.hidden = true; } }, 'Close'));
  message.hidden = false;
  if (!isBad) {
    fading = setTimeout(() => { message.hidden = true; }, 6000);
  }
}

// ---- the token --------------------------------------------------------------------------------------------------

const dialog = document.getElementById('token-dialog');
const input = document.getElementById('token-input');
const tokenButton = document.getElementById('token');
let mayChange = server === 'director';
let afterToken = null;

function showToken() {
  text(tokenButton, !mayChange ? 'Read-only' : hasToken() ? 'Token: in use' : 'Token');
  tokenButton.disabled = !mayChange;
  tokenButton.title = mayChange ? '' : 'The node has no token, or is read-only: start it with --admin-token-file';
}

function askToken(then) {
  afterToken = then ?? null;
  input.value = '';
  dialog.showModal();
  input.focus();
}

tokenButton.addEventListener('click', () => askToken());
document.getElementById('token-cancel').addEventListener('click', () => dialog.close());
document.getElementById('token-forget').addEventListener('click', () => {
  setToken(null);
  showToken();
  dialog.close();
});
document.getElementById('token-form').addEventListener('submit', () => {
  const then = afterToken;
  setToken(input.value.trim());
  input.value = '';
  showToken();
  if (then && hasToken()) {
    then();
  }
});
dialog.addEventListener('close', () => {
  input.value = '';
  afterToken = null;
});

/** Does a change, which needs the token; says how it went. */
async function act(done, work) {
  if (!mayChange) {
    say('This node takes no changes: it has no token, or is read-only. Start it with --admin-token-file FILE.', [], true);
    return;
  }
  if (!hasToken()) {
    askToken(() => act(done, work));
    return;
  }
  try {
    const answer = await work();
    say(typeof done === 'function' ? done(answer) : done);
  } catch (e) {
    if (!(e instanceof Refused)) {
      throw e;
    }
    if (e.status === 401) {
      setToken(null);
      showToken();
    }
    say(e.message, e.problems, true);
  }
  refresh();
}

// ---- pages ------------------------------------------------------------------------------------------------------

let shown = { id: null, page: null };
let timer;
let isAsking = false;
let isWanted = false;
let state = null;
let rates = null;
const history = [];

const context = {
  say, act, history, drops: wanted => live.drops(wanted),
  get state() { return state; },
  get rates() { return rates; },
};

const links = new Map(pages.map(id => [id, el('a', { href: `#${id}` }, name(id))]));
document.querySelector('#nav ul').append(...[...links.values()].map(link => el('li', null, link)));

async function show() {
  const wanted = location.hash.slice(1).split('/')[0];
  const id = pages.includes(wanted) ? wanted : pages[0];
  if (id === shown.id) {
    return;
  }
  const isFirst = shown.id === null;
  shown.page?.close?.();
  shown = { id, page: null };
  links.forEach((link, each) => each === id ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current'));
  links.get(id).scrollIntoView({ block: 'nearest', inline: 'nearest' });
  document.title = `${name(id)} · Tamanoir`;
  const module = await import(`./${id}.js`);
  if (shown.id !== id) {
    return;
  }
  const page = module.make(context);
  shown.page = page;
  main.replaceChildren(el('h1', null, name(id)), page.node);
  if (!isFirst) {
    main.focus();
  }
  if (state) {
    page.update?.(state, rates);
  }
  refresh();
}

/** Asks again for what the page shows, one question after the other; nothing while nobody sees it. */
async function refresh() {
  clearTimeout(timer);
  if (isAsking) {
    isWanted = true;
    return;
  }
  isAsking = true;
  isWanted = false;
  const { page } = shown;
  if (page?.refresh && !document.hidden) {
    try {
      await page.refresh();
    } catch (e) {
      if (!(e instanceof Refused)) {
        console.error(e);
      } else if (e.status !== 0) {
        say(e.message, e.problems, true);
      }
    }
  }
  isAsking = false;
  clearTimeout(timer);
  timer = setTimeout(refresh, isWanted || page !== shown.page ? 0 : page?.everyMs ?? 3000);
}

context.refresh = refresh;
addEventListener('hashchange', show);
document.addEventListener('visibilitychange', () => document.hidden || refresh());

// ---- what is live -----------------------------------------------------------------------------------------------

/** What happened a second, between two states of a node. */
function between(before, now) {
  const seconds = now.uptimeSeconds - before.uptimeSeconds;
  if (!(seconds > 0)) {
    return null;
  }
  const rate = of => Math.max(0, (of(now) ?? 0) - (of(before) ?? 0)) / seconds;
  const drops = {};
  for (const reason of Object.keys(now.traffic.drops)) {
    drops[reason] = rate(each => each.traffic.drops[reason]);
  }
  const services = {};
  for (const [label, busy] of Object.entries(now.busiest)) {
    const was = before.busiest[label] ?? busy;
    services[label] = {
      packets: Math.max(0, busy.packetsIn - was.packetsIn) / seconds,
      processors: Math.max(0, busy.processorSeconds - was.processorSeconds) / seconds,
    };
  }
  return {
    at: now.uptimeSeconds,
    packetsIn: rate(each => each.traffic.packetsIn),
    packetsMade: rate(each => each.traffic.packetsMade),
    packetsOut: rate(each => each.traffic.packetsOut),
    bytesIn: rate(each => each.traffic.bytesIn),
    bytesOut: rate(each => each.traffic.bytesOut),
    dropped: rate(each => each.traffic.dropped),
    processors: rate(each => each.processorSeconds),
    serviceProcessors: rate(each => each.serviceSeconds),
    drops, services,
  };
}

const ready = document.getElementById('ready');
const link = document.getElementById('link');

function told(data) {
  if (data.kind === 'link') {
    text(link, data.isOpen ? 'live' : 'no connection');
    link.className = data.isOpen ? 'pill good' : 'pill bad';
  } else if (data.kind === 'state') {
    const before = state;
    state = data.state;
    text(ready, state.ready ? 'ready' : 'not ready');
    ready.className = state.ready ? 'pill good' : 'pill bad';
    ready.title = state.notReady ?? state.problem ?? '';
    if (server === 'node') {
      if (before && state.uptimeSeconds < before.uptimeSeconds) {
        history.length = 0; // It was started anew.
      } else if (before) {
        rates = between(before, state) ?? rates;
        if (rates) {
          history.push(rates);
          history.splice(0, Math.max(0, history.length - HISTORY));
        }
      }
    }
    shown.page?.update?.(state, rates);
    if (!before) {
      refresh(); // What depends on the state can be asked for now.
    }
  } else {
    shown.page?.drop?.(data);
  }
}

const live = listen(told);
show();

async function introduce() {
  const who = document.getElementById('who');
  if (server === 'node') {
    const node = await get('/v1/node');
    mayChange = node.changes;
    text(who, `node at ${node.admin} · ${node.version}`);
  } else {
    const status = await get('/v1/status');
    text(who, `director ${status.name}`);
  }
  showToken();
}

introduce().catch(e => say(e.message, [], true));
