import { describe, expect, it } from 'vitest';
import { armsOf } from '../../src/simulate/arms.ts';
import { type Report, reportPage } from '../../src/simulate/report-page.ts';
import { STYLE } from '../../src/simulate/report-style.ts';
import { summaryOf } from '../../src/simulate/summary.ts';
import { fakeRun, PLAN } from './fake-run.ts';
import { parseMarkup, textOf, within } from './markup.ts';

const HOSTILE = `"><script>alert('x')</script><img src=x onerror=y>&amp;`;

function report(change: Partial<Report> = {}): Report {
  const states = ['closed', 'open', 'half-open', 'ramping', 'closed'] as const;
  const arms = armsOf(25, {}).map((arm) => {
    const ups = (peak: number) => Array.from({ length: 5 }, (_, at) => (at === 2 ? peak : 0));
    const runs = [20, 30].map((peak) =>
      fakeRun(
        { quarantined: peak },
        { goodput: ups(peak), calls: ups(12_345), ageMs: ups(90_000), ...(arm.name === 'lazaret' ? { states } : {}) },
        5,
      ),
    );
    return { summary: summaryOf(arm, runs), runs };
  });
  return {
    plan: PLAN,
    premise: 'What it was.',
    headline: 'What it is.',
    command: 'lazaret simulate',
    arms,
    findings: [],
    ...change,
  };
}

describe('the report', () => {
  const page = reportPage(report());
  const elements = within(parseMarkup(page));
  const named = (name: string) => elements.filter((element) => element.name === name);
  const images = named('svg').filter(({ attributes }) => attributes.get('role') === 'img');

  it('is one page that fetches nothing and runs nothing', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).not.toMatch(/https?:|\/\/[a-z]|url\(|@import|javascript:/i);
    for (const name of ['script', 'link', 'img', 'iframe', 'object', 'use', 'image', 'foreignObject', 'a']) {
      expect(named(name), name).toEqual([]);
    }
    for (const { attributes } of elements) {
      for (const attribute of attributes.keys()) expect(attribute).not.toMatch(/^on|^src|href$|^style$/);
    }
  });

  it('draws five plots and the breaker of whoever has one', () => {
    expect(images).toHaveLength(6);
    expect(textOf(images.at(-1)!)).toContain('Breaker of lazaret');
  });

  it('says in each drawing what it shows, before it shows it', () => {
    for (const { children } of images) {
      const [title, described] = children as { name: string; children: string[] }[];
      expect([title!.name, described!.name]).toEqual(['title', 'desc']);
      expect(described!.children.join('').length).toBeGreaterThan(20);
    }
  });

  it('says a time only where there is room for it', () => {
    const times = images.flatMap(within).filter(({ attributes }) => attributes.get('text-anchor') === 'middle');
    for (const { attributes } of times) expect(Number.parseFloat(attributes.get('x')!)).toBeLessThanOrEqual(96);
    const long = fakeRun({}, {}, 2_430);
    const drawn = reportPage(report({ arms: report().arms.map(({ summary }) => ({ summary, runs: [long] })) }));
    expect(drawn).toContain('>30 min<');
    expect(drawn).not.toContain('>40 min<');
  });

  it('draws finite places only', () => {
    expect(page).not.toMatch(/NaN|Infinity|undefined|null/);
  });

  it('draws a line and a band for each policy, and tells them apart by their dashes too', () => {
    expect(within(images[0]!).filter(({ attributes }) => attributes.get('class') === 'line')).toHaveLength(6);
    expect(within(images[0]!).filter(({ attributes }) => attributes.get('class') === 'band')).toHaveLength(6);
    const dashes = [...STYLE.matchAll(/stroke-dasharray:([^}]*)}/g)].map(([, dash]) => dash);
    expect(new Set(dashes).size).toBe(6);
  });

  it('names each policy beside its line below each plot', () => {
    const legends = named('ul').filter(({ attributes }) => attributes.get('class') === 'legend');
    expect(textOf(legends[0]!)).toBe('fixedexponentialfull jitterboundedlazaretyours');
    expect(legends).toHaveLength(6);
  });

  it('has the figures of all plots as tables, with heads', () => {
    const tables = named('table');
    expect(tables).toHaveLength(6);
    expect(textOf(tables[0]!)).toContain('2521 – 30');
    for (const table of tables) {
      expect(within(table).filter(({ attributes }) => attributes.get('scope') === 'col').length).toBeGreaterThan(5);
      expect(within(table).some(({ name }) => name === 'caption')).toBe(true);
    }
  });

  it('follows the colours that its reader prefers', () => {
    expect(STYLE).toContain('@media (prefers-color-scheme:dark)');
    const used = [...STYLE.matchAll(/var\((--[a-z0-9]+)\)/g)].map(([, name]) => name!);
    for (const name of used) expect(STYLE.split(`${name}:`).length, name).toBe(3);
  });

  it('keeps whatever it is told a text', () => {
    const told = reportPage(
      report({
        premise: HOSTILE,
        headline: HOSTILE,
        command: HOSTILE,
        findings: [{ finding: HOSTILE, why: HOSTILE, todo: HOSTILE }],
        arms: report().arms.map(({ summary, runs }) => ({
          summary: { ...summary, arm: HOSTILE, says: HOSTILE },
          runs,
        })),
      }),
    );
    const all = within(parseMarkup(told));
    expect(all.filter(({ name }) => name === 'script' || name === 'img')).toEqual([]);
    expect(told).not.toContain(HOSTILE);
  });

  it('leaves the doctor out where it found nothing', () => {
    const found = { finding: 'Too many.', why: 'They collapse.', todo: 'Take fewer.' };
    expect(page).not.toContain('doctor');
    expect(reportPage(report({ findings: [found] }))).toContain('<b>Too many.</b> They collapse. Take fewer.');
  });
});
