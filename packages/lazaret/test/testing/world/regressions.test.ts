import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { happen, type Scenario } from '../../../src/testing/world/index.ts';
import { isOpen } from './open.ts';

const FOLDER = new URL('./regressions/', import.meta.url);

/** Small worlds that once broke the rule that each names. */
interface Regression {
  readonly broke: string;
  readonly scenario: Scenario;
}

describe('a world that once broke a rule', () => {
  it.each(readdirSync(FOLDER))('keeps it now: %s', async (name) => {
    const { scenario } = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Regression;
    const { violations } = await happen(scenario);
    expect(violations.filter((violation) => !isOpen(violation, scenario))).toEqual([]);
  });
});
