import { DecodeError } from 'lazaret/core';
import { jsonFault } from './json-fault.ts';
import { utf8Fault } from './utf8-fault.ts';

/** What a received message offers. */
export interface Readable {
  readonly body: Uint8Array | null;
  text(): string;
  json(): unknown;
}

/** Throws a DecodeError that says line and column where a line is no JSON. What it reads is kept by the message, so that it costs nothing twice. */
export function checkLine(message: Readable, line: number): void {
  try {
    message.json();
  } catch (cause) {
    throw new DecodeError(`line ${line}, ${faultOf(message, cause)}`, { cause });
  }
}

function faultOf(message: Readable, cause: unknown): string {
  const alien = utf8Fault(message.body ?? new Uint8Array());
  if (alien !== undefined) return `column ${alien.at + 1}: byte ${alien.byte + 1} is not UTF-8`;
  const text = message.text();
  const fault = jsonFault(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  return fault === undefined ? String(cause) : `column ${fault.at + 1}: ${fault.what}`;
}
