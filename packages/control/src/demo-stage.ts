import { say } from './cli/present.ts';
import { painter } from './cli/render-people.ts';
import { cell, toAscii } from './cli/safe-text.ts';
import type { Sink } from './cli/sink.ts';
import type { Stage } from './demo/stage.ts';

const ERASE_LINE = '\r\x1b[2K';

/** The story as text. On a terminal the last line lives: it shows the numbers of the moment, and gives way to the next sentence. */
export function textStage(stdout: Sink): Stage {
  const { terminal } = stdout;
  const paint = painter(terminal);
  let scenes = 0;
  let living = false;

  const safe = (text: string) => (terminal.unicode ? cell(text) : toAscii(cell(text)));
  const write = (text: string) => {
    stdout.write(living ? `${ERASE_LINE}${text}` : text);
    living = false;
  };
  return {
    title: (text) => write(`${paint(safe(text), 'strong')}\n`),
    scene: (title) => write(`\n${paint(`${++scenes}. ${safe(title)}`, 'strong')}\n`),
    say: (sentence) => write(`   ${safe(sentence)}\n`),
    status(text) {
      if (!terminal.interactive) return;
      stdout.write(`${ERASE_LINE}${paint(`   ${safe(text).slice(0, terminal.columns - 4)}`, 'faint')}`);
      living = true;
    },
    check({ claim, holds, seen }) {
      const mark = holds ? paint(safe('✓'), 'good') : paint(safe('✗'), 'bad');
      write(`   ${mark} ${safe(claim)}: ${safe(seen)}\n`);
    },
  };
}

/** Tells nothing. */
export const SILENT_STAGE: Stage = { title() {}, scene() {}, say() {}, status() {}, check() {} };

/** Leaves a terminal as it was found, wherever the story broke off. */
export function endStage(stdout: Sink, sentence: string): void {
  if (stdout.terminal.interactive) stdout.write(ERASE_LINE);
  say(stdout, sentence);
}
