import { type ErrorCode, LazaretError } from './errors.ts';

const SHOWN_LENGTH = 60;

/** An error about the option `option`: what is wrong with it (with the value), then what to write instead. */
export function optionError(code: ErrorCode, option: string, what: string, todo: string): LazaretError {
  return new LazaretError(code, `${option}: ${what}`, { hint: todo });
}

/** A value as it may stand in a message: short, on one line, and without running any code of the value. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'bigint':
      return `${value}n`;
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

function quoted(text: string): string {
  const cut = text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
  return `'${cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')}'`;
}
