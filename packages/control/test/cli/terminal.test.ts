import { describe, expect, it } from 'vitest';
import { terminalOf } from '../../src/cli/terminal.ts';

const TTY = { isTTY: true, columns: 100 };
const PIPE = {};

describe('terminalOf', () => {
  it.each([
    ['a terminal', TTY, {}, undefined, true],
    ['a pipe', PIPE, {}, undefined, false],
    ['NO_COLOR', TTY, { NO_COLOR: '1' }, undefined, false],
    ['an empty NO_COLOR', TTY, { NO_COLOR: '' }, undefined, true],
    ['LAZARET_NO_COLOR', TTY, { LAZARET_NO_COLOR: '1' }, undefined, false],
    ['TERM=dumb', TTY, { TERM: 'dumb' }, undefined, false],
    ['FORCE_COLOR in a pipe', PIPE, { FORCE_COLOR: '1' }, undefined, true],
    ['FORCE_COLOR=0', TTY, { FORCE_COLOR: '0' }, undefined, false],
    ['CLICOLOR_FORCE in a pipe', PIPE, { CLICOLOR_FORCE: '1' }, undefined, true],
    ['--no-color over FORCE_COLOR', TTY, { FORCE_COLOR: '1' }, false, false],
    ['--color over NO_COLOR', PIPE, { NO_COLOR: '1' }, true, true],
  ])('decides on colours: %s', (_, stream, env, flag, colours) => {
    expect(terminalOf(stream, env, flag).colours).toBe(colours);
  });

  it.each([
    ['UTF-8', TTY, { LANG: 'de_CH.UTF-8' }, true],
    ['utf8', TTY, { LC_CTYPE: 'C.utf8' }, true],
    ['the C locale', TTY, { LANG: 'C' }, false],
    ['LC_ALL over LANG', TTY, { LC_ALL: 'C', LANG: 'en_US.UTF-8' }, false],
    ['no locale at all', TTY, {}, false],
    ['Windows', TTY, { OS: 'Windows_NT' }, true],
    ['a pipe, which somebody else reads', PIPE, { LANG: 'C' }, true],
  ])('decides on symbols: %s', (_, stream, env, unicode) => {
    expect(terminalOf(stream, env, undefined).unicode).toBe(unicode);
  });

  it.each([
    [TTY, {}, { interactive: true, columns: 100 }],
    [PIPE, {}, { interactive: false, columns: 80 }],
    [PIPE, { LAZARET_FORCE_TTY: '120' }, { interactive: true, columns: 120, colours: false }],
    [{ isTTY: true, columns: 3 }, {}, { columns: 40 }],
  ])('asks the stream, or what is forced: %o %o', (stream, env, expected) => {
    expect(terminalOf(stream, env, undefined)).toMatchObject(expected);
  });
});
