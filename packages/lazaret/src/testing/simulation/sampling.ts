import type { BreakerState } from '../../core/storm/breaker.ts';
import type { SimulationRun, SimulationSeries, SimulationSetup } from './contract.ts';

/** How things stand at the end of a second; what is counted is counted since the beginning. */
export interface Sample {
  readonly done: number;
  /** Of those that need the dependency that is in trouble. */
  readonly mainDone: number;
  readonly calls: number;
  readonly mainCalls: number;
  readonly limit: number;
  readonly inFlight: number;
  readonly open: number;
  readonly state: BreakerState;
  readonly backlog: number;
  readonly ageMs: number;
  readonly quarantined: number;
  readonly poisonQuarantined: number;
}

export const SAMPLE_MS = 1_000;
/** Of what is said to have come back, or to be too much. */
const WINDOW = 5;
const LONGEST_FINE_MS = 600_000;
const FINE_STEP = 1;
const COARSE_STEP = 5;
const AFTERWARDS = 300;
const RECOVERED = 0.9;

type Facts = Pick<
  SimulationRun,
  'callsInTrouble' | 'goodputInTrouble' | 'goodputAfter' | 'recoveredAfterMs' | 'drainedAfterMs' | 'peakLoadAfter'
>;

/** What a run is, told from its samples: one at the beginning, then one for each second. */
export function seriesOf(samples: readonly Sample[]): SimulationSeries {
  const step = (samples.length - 1) * SAMPLE_MS <= LONGEST_FINE_MS ? FINE_STEP : COARSE_STEP;
  const ends = Array.from({ length: Math.floor((samples.length - 1) / step) }, (_, row) => (row + 1) * step);
  const each = <T>(of: (sample: Sample) => T): readonly T[] => ends.map((at) => of(samples[at]!));
  const rate = (of: (sample: Sample) => number) =>
    ends.map((at) => (of(samples[at]!) - of(samples[at - step]!)) / step);
  return {
    stepMs: step * SAMPLE_MS,
    goodput: rate(({ done }) => done),
    calls: rate(({ calls }) => calls),
    limit: each(({ limit }) => limit),
    inFlight: each(({ inFlight }) => inFlight),
    open: each(({ open }) => open),
    states: each(({ state }) => state),
    backlog: each(({ backlog }) => backlog),
    ageMs: each(({ ageMs }) => ageMs),
    quarantined: each(({ quarantined }) => quarantined),
    poisonQuarantined: each(({ poisonQuarantined }) => poisonQuarantined),
  };
}

export function factsOf(samples: readonly Sample[], setup: SimulationSetup): Facts {
  const beginsAt = Math.round(setup.calmMs / SAMPLE_MS);
  const endsAt = Math.round((setup.calmMs + setup.troubleMs) / SAMPLE_MS);
  const last = samples.length - 1;
  const perSecond = (of: (sample: Sample) => number, from: number, to: number) =>
    to > from ? (of(samples[to]!) - of(samples[from]!)) / (to - from) : 0;
  const capacity = (setup.servers * 1_000) / setup.serviceMs;
  const load = setup.perSecond * (1 - setup.poisonShare) * (1 - setup.otherShare);
  const windows = Array.from({ length: Math.max(0, last - WINDOW - endsAt + 1) }, (_, at) => endsAt + at);

  const isRecovered = (from: number): boolean => {
    const to = from + WINDOW;
    const goodput = perSecond(({ mainDone }) => mainDone, from, to);
    const waits = Math.min(samples[from]!.backlog, samples[to]!.backlog) > capacity * WINDOW;
    return goodput >= RECOVERED * (waits ? capacity : Math.min(capacity, load));
  };
  const recoveredAt = windows.find(isRecovered);
  const drainedAt = samples.findIndex(({ backlog, inFlight }, at) => at >= endsAt && backlog <= inFlight);
  return {
    callsInTrouble: samples[endsAt]!.calls - samples[beginsAt]!.calls,
    goodputInTrouble: perSecond(({ done }) => done, beginsAt, endsAt),
    goodputAfter: perSecond(({ done }) => done, endsAt, Math.min(last, endsAt + AFTERWARDS)),
    recoveredAfterMs: recoveredAt === undefined ? undefined : (recoveredAt + WINDOW - endsAt) * SAMPLE_MS,
    drainedAfterMs: drainedAt === -1 ? undefined : (drainedAt - endsAt) * SAMPLE_MS,
    peakLoadAfter: windows.reduce(
      (peak, from) => Math.max(peak, perSecond(({ mainCalls }) => mainCalls, from, from + WINDOW) / capacity),
      0,
    ),
  };
}
