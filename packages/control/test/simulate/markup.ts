export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: (Element | string)[];
}

const VOID = new Set(['meta', 'br']);
const TOKEN = /<!doctype html>|<(\/?)([a-z0-9]+)((?:\s+[a-zA-Z0-9:-]+(?:="[^"<]*")?)*)\s*(\/?)>|([^<]+)/gy;

/** The tree of a page that is written with care; throws where it is not. What is in <style> is a text. */
export function parseMarkup(text: string): Element {
  const root: Element = { name: '', attributes: new Map(), children: [] };
  const open = [root];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(text);
    if (token === null) throw new Error(`no markup: ${text.slice(at, at + 60)}`);
    const [, closes, name, attributes = '', empty, words] = token;
    const parent = open.at(-1)!;
    if (words !== undefined) parent.children.push(words);
    if (name === undefined) continue;
    if (closes === '/') {
      if (open.pop()!.name !== name) throw new Error(`</${name}> closes <${parent.name}>`);
      continue;
    }
    const element: Element = { name, attributes: attributesOf(attributes), children: [] };
    parent.children.push(element);
    if (empty !== '/' && !VOID.has(name)) open.push(element);
  }
  if (open.length !== 1) throw new Error(`<${open.at(-1)!.name}> stays open`);
  return root;
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/([a-zA-Z0-9:-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name!, value ?? '']));
}

/** An element and all that is in it. */
export function within(element: Element): readonly Element[] {
  return [element, ...element.children.flatMap((child) => (typeof child === 'string' ? [] : within(child)))];
}

export function textOf(element: Element): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}
