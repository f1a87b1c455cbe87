import { writeSync } from 'node:fs';

const STDOUT = 1;

export const handler = () => {
  writeSync(STDOUT, `${process.pid}\n`);
  for (;;);
};
