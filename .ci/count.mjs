// Prints `<passed> <failed>` of a vitest report. A file that did not load counts as one failure, and so does a run that
// ended badly without a failed test: an unhandled error, a time limit, no report at all.
import { readFileSync } from 'node:fs';

const [, , path, status] = process.argv;
const report = read(path);
const unloaded = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
const failed = report.numFailedTests + unloaded.length;
console.log(`${report.numPassedTests} ${failed === 0 && status !== '0' ? 1 : failed}`);

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  }
}
