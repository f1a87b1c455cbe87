import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prettyJson } from '../../src/cli/pretty-json.ts';

describe('prettyJson', () => {
  it.each([
    ['a number alone', ' 12345678901234567890.10 ', '12345678901234567890.10'],
    ['an object', '{"a":1,"b":[true,null]}', '{\n  "a": 1,\n  "b": [\n    true,\n    null\n  ]\n}'],
    ['empty ones', '{"a":{ },"b":[\n]}', '{\n  "a": {},\n  "b": []\n}'],
    ['digits that no double holds', '[1.0,1e400,0.1000]', '[\n  1.0,\n  1e400,\n  0.1000\n]'],
    ['names that occur twice', '{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'],
    ['strings that look like structure', '{"a":"{,:[\\"]}"}', '{\n  "a": "{,:[\\"]}"\n}'],
    ['escapes', '["\\u00e9\\/"]', '[\n  "\\u00e9\\/"\n]'],
  ])('lays out %s and touches nothing in it', (_, json, pretty) => {
    expect(prettyJson(json)).toBe(pretty);
  });

  it('is the layout of JSON.stringify for whatever that writes', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const value: unknown = JSON.parse(json);
        expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
      }),
    );
  });

  it('does not indent without end', () => {
    const deep = `${'['.repeat(5_000)}1${']'.repeat(5_000)}`;
    expect(prettyJson(deep).length).toBeLessThan(1_000_000);
  });
});
