// One connection for all pages of this browser: a browser has six to a server, and ten pages would wait for each other.
import { Hub } from './stream.js';

const ports = new Map();
const hub = new Hub(message => ports.forEach((wants, port) => (wants.drops || !['drop', 'missed'].includes(message.kind)) && port.postMessage(message)));

self.onconnect = connected => {
  const port = connected.ports[0];
  port.onmessage = ({ data }) => {
    if (data.bye) {
      ports.delete(port);
    } else {
      ports.set(port, { drops: Boolean(data.drops) });
      if (data.hello) {
        port.postMessage({ kind: 'link', isOpen: hub.isOpen });
        if (hub.state) {
          port.postMessage({ kind: 'state', state: hub.state });
        }
      }
    }
    hub.wantDrops([...ports.values()].some(wants => wants.drops));
  };
};
