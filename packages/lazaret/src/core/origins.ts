import { givenOptions } from './option-values.ts';
import { CONSUME_OPTIONS, type ConsumeOptions, presetOf } from './options.ts';

/** Where the value of an option comes from: 'default', 'option', 'preset ladder', or a place that a caller names. */
export interface Origin {
  readonly option: string;
  readonly from: string;
}

const TIMETABLE_OPTIONS = ['maxAttempts', 'backoff', 'jitter', 'visibilityTimeout', 'heartbeat', 'timeout'] as const;

/** For those options that shape the timetable. */
export function consumerOrigins(options: ConsumeOptions = {}): readonly Origin[] {
  const given = givenOptions(options, CONSUME_OPTIONS, 'consume');
  const preset = presetOf(given);
  return TIMETABLE_OPTIONS.map((option) => {
    const fromPreset = preset !== undefined && option in preset && (option === 'backoff' || !given.has(option));
    if (fromPreset) return { option, from: `preset ${given.get('backoff')}` };
    return { option, from: given.has(option) ? 'option' : 'default' };
  });
}
