import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Handler } from 'lazaret';
import { LazaretError, normalise } from 'lazaret/core';

/** The default export of the module at `path`, or its export `handler`. LZ1201 where it does not load, LZ1202 where that is no function. */
export async function loadHandler(path: string): Promise<Handler> {
  const file = resolve(path);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) {
    const what = found === undefined ? 'does not exist' : 'is no file';
    throw new LazaretError('LZ1201', `handler file '${path}' ${what}.`, {
      hint: 'Name a JavaScript module that exports a function.',
    });
  }
  const module = await load(path, file);
  const handler = [module.default, module.handler, (module.default as Exports | undefined)?.handler].find(
    (candidate) => typeof candidate === 'function',
  );
  if (handler !== undefined) return handler as Handler;
  const exported = Object.keys(module).sort();
  const what = exported.length === 0 ? 'nothing' : exported.slice(0, 5).join(', ');
  throw new LazaretError('LZ1202', `handler file '${path}' exports no function (it exports ${what}).`, {
    hint: 'Write: export default async (msg, ctx) => { … }',
  });
}

type Exports = Readonly<Record<string, unknown>>;

async function load(path: string, file: string): Promise<Exports> {
  try {
    return (await import(pathToFileURL(file).href)) as Exports;
  } catch (cause) {
    const { name, message, code } = normalise(cause);
    const hint = hintOn(path, code);
    throw new LazaretError('LZ1201', `handler file '${path}' does not load: ${name}: ${message}.`, { hint, cause });
  }
}

function hintOn(path: string, code: string | undefined): string {
  if (/\.[cm]?tsx?$/.test(path)) return `Node ${process.versions.node} may not run TypeScript: compile it first.`;
  if (code === 'ERR_MODULE_NOT_FOUND')
    return "Install what it imports where the file can find it, 'npm install lazaret' for one.";
  return 'It has to be a module that this Node can import.';
}
