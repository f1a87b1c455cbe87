export type { SimulationRun, SimulationSeries, SimulationSetup, Trouble } from './contract.ts';
export { simulate } from './simulate.ts';
