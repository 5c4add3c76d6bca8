// Numbers as people read them: thousands apart, SI prefixes, units.

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const THREE = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const ALWAYS_THREE = new Intl.NumberFormat('en', { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });

export const whole = number => number == null ? '–' : WHOLE.format(number);

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'];

function prefixed(number, unit) {
  let value = Math.abs(number);
  let step = 0;
  while (value >= 999.5 && step < PREFIXES.length - 1) {
    value /= 1000;
    step++;
  }
  const text = value === 0 ? '0' : value < 0.05 ? '0' : step > 0 ? ALWAYS_THREE.format(value) : value >= 100 ? WHOLE.format(value) : THREE.format(value);
  return `${number < 0 ? '−' : ''}${text} ${PREFIXES[step]}${unit}`.trimEnd();
}

export const bytes = number => number == null ? '–' : prefixed(number, 'B');
export const perSecond = number => number == null ? '–' : `${prefixed(number, '')}/s`;
export const bytesPerSecond = number => number == null ? '–' : prefixed(number, 'B/s');
export const percent = part => part == null || !Number.isFinite(part) ? '–' : `${(100 * part).toFixed(1)} %`;

/** A short time: 1.2 ms. */
export function time(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) {
    return '–';
  }
  if (seconds === 0) {
    return '0';
  }
  const [factor, unit] = seconds < 1e-6 ? [1e9, 'ns'] : seconds < 1e-3 ? [1e6, 'µs'] : seconds < 1 ? [1e3, 'ms'] : [1, 's'];
  return `${THREE.format(seconds * factor)} ${unit}`;
}

/** A long time: 2 d 3 h. */
export function span(seconds) {
  if (seconds == null) {
    return '–';
  }
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const first = parts.findIndex(([size]) => seconds >= size);
  if (first < 0) {
    return '0 s';
  }
  const [size, unit] = parts[first];
  const rest = parts[first + 1];
  const head = `${Math.floor(seconds / size)} ${unit}`;
  return rest ? `${head} ${Math.floor(seconds % size / rest[0])} ${rest[1]}` : head;
}

/** A moment of today, in the reader's time zone. */
export function clock(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? String(iso) : date.toLocaleTimeString('en-GB');
}

export function since(iso) {
  const date = new Date(iso);
  return iso == null || Number.isNaN(date.getTime()) ? '–' : span(Math.max(0, (Date.now() - date.getTime()) / 1000));
}

/** The last part of a class name, for narrow places. */
export const short = name => String(name).replace(/^[\w.]*\.(?=[A-Z]\w*)/, '');
