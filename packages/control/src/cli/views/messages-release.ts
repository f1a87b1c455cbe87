import type { ReleaseReport, ReleaseRow } from '../../operations/messages-release.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { View } from '../view.ts';

export const messagesReleaseView: View<ReleaseReport> = {
  document: 'releases@1',
  show: ({ messages, released, notFound, failed }) => ({
    parts: [
      {
        kind: 'table',
        columns: [
          { title: 'MESSAGE' },
          { title: 'LETTER', align: 'right' },
          { title: 'RESULT' },
          { title: 'NOTE', wide: true },
        ],
        rows: messages.map((row) => [row.named, row.id ?? '', row.result, noteOn(row)]),
      },
    ],
    notes: [`${released} released${count(notFound, 'not found')}${count(failed, 'failed')}.`],
    ...(released > 0 ? { next: ['lazaret', 'queues', 'ls'] } : {}),
  }),
  exitCode,
};

function noteOn({ behind, why = '' }: ReleaseRow): string {
  return behind === undefined
    ? why
    : `waits behind letter ${behind} of the same key, where the queue is consumed in order`;
}

function count(number: number, what: string): string {
  return number === 0 ? '' : `, ${number} ${what}`;
}

function exitCode({ released, notFound, failed }: ReleaseReport): ExitCode {
  if (notFound + failed === 0) return EXIT.ok;
  if (released > 0) return EXIT.partly;
  return failed > 0 ? EXIT.failed : EXIT.notFound;
}
