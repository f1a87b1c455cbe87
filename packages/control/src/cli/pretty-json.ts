/**
 * JSON text with line breaks and two spaces of indentation. Only the space between tokens changes: numbers keep their digits,
 * strings their escapes, and names that occur twice stay twice. `json` has to be valid JSON.
 */
export function prettyJson(json: string): string {
  let pretty = '';
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, DEEPEST))}`;
  for (const [token] of json.matchAll(TOKEN)) {
    switch (token[0]) {
      case '{':
      case '[':
        if (token.length > 1) pretty += `${token[0]}${token.at(-1)}`;
        else {
          depth++;
          pretty += token + line();
        }
        break;
      case '}':
      case ']':
        depth--;
        pretty += line() + token;
        break;
      case ',':
        pretty += `,${line()}`;
        break;
      case ':':
        pretty += ': ';
        break;
      default:
        pretty += token;
    }
  }
  return pretty;
}

/** Beyond it lines are not indented further: a thousand brackets are not worth a million spaces. */
const DEEPEST = 40;

/** A string, an empty object or array, a bracket or comma or colon, or a number or word. Spaces between them match nothing. */
const TOKEN = /"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/g;
