// Chart.js, loaded when a page first draws, in the colours of the page.
import { el } from './dom.js';

/** Points that charts show, one a second. */
export const HISTORY = 120;
const AGAIN_MS = 5000;

let library;

/** Chart.js; null when it cannot be loaded: then it is asked for again a moment later, and tables show the same meanwhile. */
function load() {
  library ??= new Promise(done => {
    const script = el('script', { src: new URL('chart.js', import.meta.url).href });
    script.onload = () => done(window.Chart);
    script.onerror = () => {
      script.remove();
      setTimeout(() => { library = undefined; }, AGAIN_MS);
      done(null);
    };
    document.head.append(script);
  });
  return library;
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const PALETTE = {
  light: ['#0969da', '#b3261e', '#8a5a00', '#18703a', '#6f42c1', '#0b7285', '#a61e69', '#5c6773'],
  dark: ['#5aa2f7', '#ff8d85', '#e3b45c', '#6fce8f', '#b392f0', '#5fd0e0', '#f295c8', '#a7b1bd'],
};
const dark = matchMedia('(prefers-color-scheme: dark)');
export const palette = () => dark.matches ? PALETTE.dark : PALETTE.light;

/**
 * Lines over the last two minutes. Lines are named as they come; show(history, point => ({name: value})).
 * What they say stands in the tables beside them, too: for screen readers this is a picture with a name.
 */
export class Lines {
  constructor(title, format, { stacked = false, most = 6 } = {}) {
    this.format = format;
    this.stacked = stacked;
    this.most = most;
    this.canvas = el('canvas', { role: 'img', 'aria-label': title });
    this.node = el('figure', null, el('figcaption', null, title), el('div', { class: 'chart' }, this.canvas));
  }

  async show(history, values) {
    const points = [...history];
    const sums = new Map();
    for (const point of points) {
      for (const [name, value] of Object.entries(values(point))) {
        sums.set(name, (sums.get(name) ?? 0) + value);
      }
    }
    const names = [...sums].filter(([, sum]) => sum > 0 || sums.size <= 2).sort((a, b) => b[1] - a[1]).slice(0, this.most).map(([name]) => name);
    const Chart = await load();
    if (!Chart || this.ended) {
      return;
    }
    this.chart ??= this.make(Chart);
    const colours = palette();
    const now = points.length ? points[points.length - 1].at : 0;
    this.keep ??= new Map();
    this.chart.data.datasets = names.sort().map(name => {
      if (!this.keep.has(name)) {
        this.keep.set(name, { label: name, borderWidth: 1.6, pointRadius: 0, tension: .25, fill: this.stacked ? 'stack' : false });
      }
      const set = this.keep.get(name);
      const index = [...this.keep.keys()].indexOf(name) % colours.length;
      set.borderColor = colours[index];
      set.backgroundColor = this.stacked ? `${colours[index]}66` : colours[index];
      set.data = points.map(point => ({ x: point.at - now, y: values(point)[name] ?? 0 }));
      return set;
    });
    if (this.keep.size > 64) {
      this.keep.clear();
    }
    this.chart.update('none');
  }

  make(Chart) {
    const ink = colour('--muted');
    const grid = colour('--soft');
    return new Chart(this.canvas, {
      type: 'line',
      data: { datasets: [] },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: { mode: 'nearest', axis: 'x', intersect: false },
        scales: {
          x: { type: 'linear', min: -HISTORY, max: 0, grid: { display: false }, ticks: { color: ink, stepSize: 30, callback: x => x === 0 ? 'now' : `${x} s` } },
          y: { stacked: this.stacked, beginAtZero: true, suggestedMax: 1e-3, grid: { color: grid }, afterFit: scale => { scale.width = 78; },
            ticks: { color: ink, maxTicksLimit: 5, callback: y => this.format(y) } },
        },
        plugins: {
          legend: { position: 'bottom', align: 'start', labels: { color: ink, boxWidth: 10, boxHeight: 10 } },
          tooltip: { callbacks: { title: () => '', label: item => `${item.dataset.label}: ${this.format(item.parsed.y)}` } },
        },
      },
    });
  }

  close() {
    this.ended = true;
    this.chart?.destroy();
  }
}

/** Pairs of bars: what is against what should be. show([{name, values: [a, b]}]). */
export class Bars {
  constructor(title, names, format) {
    this.names = names;
    this.format = format;
    this.canvas = el('canvas', { role: 'img', 'aria-label': title });
    this.node = el('figure', null, el('figcaption', null, title), el('div', { class: 'chart' }, this.canvas));
  }

  async show(rows) {
    const Chart = await load();
    if (!Chart || this.ended) {
      return;
    }
    const ink = colour('--muted');
    const colours = [palette()[0], colour('--muted')];
    this.chart ??= new Chart(this.canvas, {
      type: 'bar',
      data: { labels: [], datasets: this.names.map((label, i) => ({ label, backgroundColor: colours[i], data: [], borderRadius: 3 })) },
      options: {
        indexAxis: 'y', animation: false, responsive: true, maintainAspectRatio: false,
        scales: {
          x: { beginAtZero: true, max: 1, ticks: { color: ink, callback: x => `${Math.round(100 * x)} %` }, grid: { color: colour('--soft') } },
          y: { ticks: { color: ink }, grid: { display: false } },
        },
        plugins: { legend: { position: 'bottom', align: 'start', labels: { color: ink, boxWidth: 10, boxHeight: 10 } },
          tooltip: { callbacks: { label: item => `${item.dataset.label}: ${this.format(item.parsed.x)}` } } },
      },
    });
    this.chart.data.labels = rows.map(row => row.name);
    this.names.forEach((name, i) => { this.chart.data.datasets[i].data = rows.map(row => row.values[i]); });
    this.chart.update('none');
  }

  close() {
    this.ended = true;
    this.chart?.destroy();
  }
}
