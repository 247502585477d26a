import { monitorEventLoopDelay } from 'node:perf_hooks';

type Sample = readonly [value: number, labels?: Readonly<Record<string, string | number>>];

/** Metrics of this process in Prometheus format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export class Metrics {
  solvesStarted = 0;
  streamsOpen = 0;
  private readonly requests = new Map<string, { readonly labels: Record<string, string>; count: number }>();
  private readonly delay = monitorEventLoopDelay({ resolution: 20 });

  constructor() {
    this.delay.enable();
  }

  /** @param route as declared, such as `/api/solves/:id`: request paths would give unbounded label values */
  countRequest(method: string, route: string, status: number): void {
    const labels = { method, route, status: String(status) };
    const name = Object.values(labels).join(' ');
    const known = this.requests.get(name) ?? { labels, count: 0 };
    known.count += 1;
    this.requests.set(name, known);
  }

  render(): string {
    const requests = [...this.requests.values()].map(({ labels, count }): Sample => [count, labels]);
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const delay = [50, 99, 100].map((percent): Sample => {
      return [this.delay.percentile(percent) / 1e9, { quantile: percent / 100 }];
    });
    return [
      family('gateway_requests_total', 'counter', 'Requests that were answered.', requests),
      family('gateway_solves_started_total', 'counter', 'Solves that were started.', [[this.solvesStarted]]),
      family('gateway_streams_open', 'gauge', 'Event streams that clients read.', [[this.streamsOpen]]),
      family('gateway_event_loop_delay_seconds', 'gauge', 'Delay of the event loop since the start.', delay),
      family('process_cpu_seconds_total', 'counter', 'User and system time.', [[(user + system) / 1e6]]),
      family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [[rss]]),
      family('process_heap_used_bytes', 'gauge', 'Used part of the heap.', [[heapUsed]]),
      family('process_uptime_seconds', 'gauge', 'Time since the start of the process.', [[process.uptime()]]),
    ].join('');
  }
}

const PREFIX = 'temporal_conductor_';

function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const full = name.startsWith('process_') ? name : PREFIX + name;
  const lines = samples.map(([value, labels]) => `${full}${labels ? describeLabels(labels) : ''} ${value}`);
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...lines].map((line) => `${line}\n`).join('');
}

/** JSON escapes quotes and backslashes as the format requires. */
function describeLabels(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(String(value))}`);
  return `{${pairs.join(',')}}`;
}
