import ts from 'typescript';
import { type Breach, lineOf, type Source } from './source.ts';

export const PURITY_RULES = {
  'time and chance':
    'time, chance and timers come from System: only its implementations and main.ts touch the real ones',
  environment: 'only main.ts reads the environment',
} as const;

export type PurityRule = keyof typeof PURITY_RULES;

const MAIN = 'packages/control/src/main.ts';
const MAY_TOUCH: Readonly<Record<PurityRule, readonly string[]>> = {
  'time and chance': ['packages/lazaret/src/system.ts', 'packages/lazaret/src/testing/manual-system.ts', MAIN],
  environment: [MAIN],
};

/** Members that reach the world outside. The name on the left is a global and, where there is one, the module of that name. */
const IMPURE: ReadonlyMap<string, ReadonlyMap<string, PurityRule>> = new Map([
  ['globalThis', members('time and chance', 'setTimeout', 'setInterval', 'setImmediate')],
  ['Date', members('time and chance', 'now')],
  ['Math', members('time and chance', 'random')],
  ['performance', members('time and chance', 'now', 'timeOrigin')],
  ['AbortSignal', members('time and chance', 'timeout')],
  ['process', new Map([...members('time and chance', 'hrtime', 'uptime'), ...members('environment', 'env')])],
  [
    'crypto',
    members(
      'time and chance',
      'randomUUID',
      'getRandomValues',
      'randomBytes',
      'randomInt',
      'randomFill',
      'randomFillSync',
    ),
  ],
]);

const TIMER_MODULE = /^(?:node:)?timers(?:\/|$)/;
const GLOBAL_OBJECTS = ['globalThis', 'global'];
/** Objects that modules hand out under the name of the global. */
const SAME_AS_GLOBAL: ReadonlyMap<string, string> = new Map([
  ['performance', 'performance'],
  ['webcrypto', 'crypto'],
]);

export function purityBreaches(source: Source): readonly Breach<PurityRule>[] {
  const aliases = new Map<string, string>();
  const breaches: Breach<PurityRule>[] = [];

  const report = (line: number, rule: PurityRule, what: string) => {
    if (!MAY_TOUCH[rule].includes(source.path)) breaches.push({ rule, path: source.path, line, what });
  };
  const reportMember = (node: ts.Node, object: string | undefined, member: string) => {
    const rule = object === undefined ? undefined : IMPURE.get(object)?.get(member);
    if (rule !== undefined) report(lineOf(node), rule, `uses ${object === 'globalThis' ? '' : `${object}.`}${member}`);
  };
  /** The global object that an expression names, whatever it is called here. */
  const objectOf = (expression: ts.Expression): string | undefined => {
    if (ts.isParenthesizedExpression(expression)) return objectOf(expression.expression);
    if (ts.isIdentifier(expression)) {
      if (GLOBAL_OBJECTS.includes(expression.text)) return 'globalThis';
      return aliases.get(expression.text) ?? (IMPURE.has(expression.text) ? expression.text : undefined);
    }
    const access = memberAccess(expression);
    return access !== undefined && objectOf(access.object) === 'globalThis' ? access.member : undefined;
  };

  const visitImport = (node: ts.ImportDeclaration) => {
    const clause = node.importClause;
    if (clause?.phaseModifier === ts.SyntaxKind.TypeKeyword || !ts.isStringLiteral(node.moduleSpecifier)) return;
    const module = node.moduleSpecifier.text.replace(/^node:/, '');
    if (clause?.name !== undefined) aliases.set(clause.name.text, module);
    const bindings = clause?.namedBindings;
    if (bindings === undefined) return;
    if (ts.isNamespaceImport(bindings)) aliases.set(bindings.name.text, module);
    else for (const element of bindings.elements) visitNamedImport(element, module);
  };
  const visitNamedImport = (element: ts.ImportSpecifier, module: string) => {
    const imported = (element.propertyName ?? element.name).text;
    const object = SAME_AS_GLOBAL.get(imported);
    if (object === undefined) reportMember(element, module, imported);
    else aliases.set(element.name.text, object);
  };

  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
    if (ts.isImportDeclaration(node)) {
      visitImport(node);
      return;
    }
    const access = memberAccess(node);
    if (access !== undefined) reportMember(node, objectOf(access.object), access.member);
    else if (ts.isIdentifier(node) && isUse(node)) reportMember(node, 'globalThis', node.text);
    else if (ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isObjectBindingPattern(node.name)) {
      for (const element of node.name.elements) {
        const name = element.propertyName ?? element.name;
        if (ts.isIdentifier(name)) reportMember(element, objectOf(node.initializer), name.text);
      }
    } else if (readsClock(node)) report(lineOf(node), 'time and chance', `reads the clock with ${node.getText()}`);
    ts.forEachChild(node, visit);
  };
  for (const { specifier, line, typeOnly } of source.imports) {
    if (!typeOnly && TIMER_MODULE.test(specifier)) report(line, 'time and chance', `imports '${specifier}'`);
  }
  visit(source.tree);
  return breaches;
}

function members(rule: PurityRule, ...names: readonly string[]): ReadonlyMap<string, PurityRule> {
  return new Map(names.map((name) => [name, rule]));
}

/** `object.member` and `object['member']`. */
function memberAccess(node: ts.Node): { readonly object: ts.Expression; readonly member: string } | undefined {
  if (ts.isPropertyAccessExpression(node)) return { object: node.expression, member: node.name.text };
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return { object: node.expression, member: node.argumentExpression.text };
  }
  return undefined;
}

/** `Date()`, whatever its arguments, and `new Date` without any. */
function readsClock(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  if (!ts.isIdentifier(node.expression) || node.expression.text !== 'Date') return false;
  return ts.isCallExpression(node) || (node.arguments ?? []).length === 0;
}

/** Whether an identifier stands for a value here, and is not the name of something that is declared or looked up. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isBindingElement(parent) && parent.propertyName === node) return false;
  return !('name' in parent && parent.name === node);
}
