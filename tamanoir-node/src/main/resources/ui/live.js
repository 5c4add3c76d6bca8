// What the server tells by itself, through a worker that all pages of this browser share where there are such workers.
import { Hub } from './stream.js';

/** Calls tell with each message; returns {drops(wanted)}. */
export function listen(tell) {
  if (typeof SharedWorker === 'undefined') {
    const hub = new Hub(tell);
    return { drops: wanted => hub.wantDrops(wanted) };
  }
  const { port } = new SharedWorker(new URL('worker.js', import.meta.url), { type: 'module', name: 'tamanoir' });
  port.onmessage = ({ data }) => tell(data);
  let drops = false;
  const hello = () => port.postMessage({ hello: true, drops });
  hello();
  addEventListener('pagehide', () => port.postMessage({ bye: true }));
  addEventListener('pageshow', event => event.persisted && hello());
  return {
    drops: wanted => {
      drops = wanted;
      port.postMessage({ drops });
    },
  };
}
