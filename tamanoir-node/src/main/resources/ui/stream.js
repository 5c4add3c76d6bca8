// Server-sent events of the API, kept up while the server is there.

const AGAIN_MS = 5000;

/** A JSON merge patch (RFC 7396), applied. */
export function merged(target, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) {
    return patch;
  }
  const into = target !== null && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      delete into[name];
    } else {
      Object.defineProperty(into, name, { value: merged(into[name], value), enumerable: true, configurable: true, writable: true });
    }
  }
  return into;
}

/** Follows a stream: listeners by kind of event; open(true | false) says how the connection does. Returns what ends it. */
export function follow(path, listeners, open) {
  let source;
  let timer;
  const begin = () => {
    source = new EventSource(path);
    source.onopen = () => open(true);
    source.onerror = () => {
      open(false);
      if (source.readyState === EventSource.CLOSED) { // Refused: the browser does not try again by itself.
        clearTimeout(timer);
        timer = setTimeout(begin, AGAIN_MS);
      }
    };
    for (const [kind, listener] of Object.entries(listeners)) {
      source.addEventListener(kind, event => listener(JSON.parse(event.data)));
    }
  };
  begin();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** What pages are told, by one connection each for the state and, while one wants them, for drops. */
export class Hub {
  constructor(tell) {
    this.tell = tell;
    this.state = null;
    this.isOpen = false;
    this.endDrops = null;
    follow('/v1/live', {
      state: state => this.now(state),
      delta: patch => this.state && this.now(merged(this.state, patch)),
    }, isOpen => {
      this.isOpen = isOpen;
      tell({ kind: 'link', isOpen });
    });
  }

  now(state) {
    this.state = state;
    this.tell({ kind: 'state', state });
  }

  /** Follows drops, at most 20 a second, or does not. */
  wantDrops(wanted) {
    if (wanted && !this.endDrops) {
      this.endDrops = follow('/v1/drops?perSecond=20', {
        drop: drop => this.tell({ kind: 'drop', drop }),
        missed: ({ missed }) => this.tell({ kind: 'missed', missed }),
      }, () => {});
    } else if (!wanted && this.endDrops) {
      this.endDrops();
      this.endDrops = null;
    }
  }
}
