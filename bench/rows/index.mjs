import { backlog } from './backlog.mjs';
import { addedCpu, hundred, one, ten } from './consume.mjs';
import { deadLetter, retry } from './failure.mjs';
import { latency } from './latency.mjs';
import { memory } from './memory.mjs';
import { publish } from './publish.mjs';

/**
 * A row is one question: who is asked (`contestants`), what lies in the file before (`prepare`), how it is answered (`measure`,
 * numbers by name), what is compared (`goals`), and how many rounds that takes at least.
 */
export const ROWS = [addedCpu, hundred, ten, one, latency, retry, deadLetter, memory, backlog, publish];
