import type { Driver } from '../../ports/broker.ts';
import type { MemoryOptions } from './options.ts';
import { type MemoryServer, memoryServer } from './server.ts';

export type { Letter } from '../../core/letter.ts';
export type { Fault, Verb } from './faults.ts';
export type { ChannelOptions, LogOptions, MemoryOptions, MemoryServerOptions, TableOptions } from './options.ts';
export type { MemoryServer } from './server.ts';
export { memoryServer } from './server.ts';
export type { Count, Stats } from './stats.ts';

/** A broker inside the process, for an app's own tests and for trying things out. What it holds lives as long as the driver does. */
export function memory(options: MemoryOptions = {}): Driver {
  let server: MemoryServer | undefined;
  return {
    name: 'memory',
    connect: async (system) => {
      server ??= memoryServer({ ...options, system });
      return server.connect();
    },
  };
}
