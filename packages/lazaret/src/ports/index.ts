export type * from './broker.ts';
export type * from './capabilities.ts';
export type * from './journal.ts';
export type * from './letter-box.ts';
export type * from './logger.ts';
export type * from './shared-state.ts';
export type * from './store.ts';
export type * from './system.ts';
