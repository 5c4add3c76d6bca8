// Element: what the node knows as a unit of a distributed element.
import { el, facts, none } from './dom.js';
import { whole } from './format.js';
import { get } from './server.js';

const NONE = 'This node is no unit of a distributed element: the section element of its configuration makes it one.';

export function make(context) {
  const holder = el('div', { id: 'element' });
  return {
    node: holder,
    everyMs: 2000,
    async refresh() {
      if (!context.state) {
        return;
      }
      if (!context.state.unit) {
        holder.replaceChildren(none(NONE));
        return;
      }
      const unit = await get('/v1/element');
      holder.replaceChildren(facts([
        ['Unit', `${unit.unit} of ring ${unit.ring}`],
        ['Ring', unit.epoch < 0 ? 'there is none' : `epoch ${unit.epoch}, master ${unit.master}, units ${unit.members.join(' → ')}`],
        ['Packets leave', unit.alone ? 'as they come: there is no ring to wait for' : unit.holds ? 'by the token' : 'no link holds packets for the token'],
        ['Round', whole(unit.round)],
        ['Token', `serial ${unit.serial}, ${whole(unit.turns)} turns here, round trip ${unit.roundTripMicros ? `${unit.roundTripMicros.toFixed(0)} µs` : 'not known'}`],
        ['Tokens issued again', whole(unit.reissued)],
        ['Stale tokens', whole(unit.stale)],
        ['Control datagrams refused', whole(unit.refused)],
        ['Wait to be in order', whole(unit.waiting)],
        ['Have left in order', whole(unit.sent)],
        ['Came late', whole(unit.late)],
        ['Ended with the ring', whole(unit.finished)],
      ]));
    },
  };
}
